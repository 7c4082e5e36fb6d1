#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>

#include "cli/table.h"
#include "config/checked.h"
#include "os/file.h"

namespace atl::cli {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::milliseconds kBetween{100};
constexpr std::size_t kBar = 24;
constexpr std::size_t kNameMax = 40;
constexpr std::size_t kColumns = 80;  // of a terminal that does not say

double seconds_since(Steady::time_point then) {
  return std::chrono::duration<double>(Steady::now() - then).count();
}

std::string bar_of(double share) {
  const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kBar);
  return fmt::format("[{}{}]", std::string(filled, '='), std::string(kBar - filled, ' '));
}

std::string left_of(double share, double seconds) {
  return share > 0 ? short_time(seconds * (1 - share) / share + 0.5) : "?";
}

// A line that the terminal would break could not be wiped.
void write_over(const std::string& line) {
  winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  std::size_t end = std::min(line.size(), (known ? size.ws_col : kColumns) - 1);
  while (end > 0 && end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80U) --end;
  fmt::print(stderr, "\r\033[K{}", line.substr(0, end));
}

void wipe_line() {
  fmt::print(stderr, "\r\033[K");
}

}  // namespace

std::string progress_line(const std::string& what, std::uint64_t so_far, std::uint64_t all, double seconds,
                          Counting counting) {
  const auto shown = [&](std::uint64_t amount) {
    return counting == Counting::bytes ? short_bytes(amount) : std::to_string(amount);
  };
  const double rate = seconds > 0 ? static_cast<double>(so_far) / seconds : 0;
  const std::string speed = counting == Counting::bytes ? short_bytes(static_cast<std::uint64_t>(rate)) + "/s"
                                                        : fmt::format("{:.3g}/s", rate);
  if (all == 0) return fmt::format("{}  {}  {}", config::shown(what, kNameMax), shown(so_far), speed);
  const double share = std::min(1.0, static_cast<double>(so_far) / static_cast<double>(all));
  return fmt::format("{}  {}  {:.0f} %  {} of {}  {}  {} left", config::shown(what, kNameMax), bar_of(share),
                     share * 100, shown(so_far), shown(all), speed, left_of(share, seconds));
}

double share_of(const layer::BuildPosition& at) {
  if (at.layers == 0) return 0;
  return std::min(1.0, (static_cast<double>(at.layer) + at.share) / static_cast<double>(at.layers));
}

std::string build_line(const std::string& what, const layer::BuildPosition& at, double begun, double seconds,
                       double part_seconds) {
  const double share = share_of(at);
  std::string line = fmt::format("{}  {}  {:.0f} %  layer {} of {}", config::shown(what, kNameMax),
                                 bar_of(share), share * 100, std::min(at.layer + 1, at.layers), at.layers);
  if (at.all > 0)
    line += fmt::format("  {} of {} packages  {:.2g}/s", at.done, at.all,
                        part_seconds > 0 ? static_cast<double>(at.done) / part_seconds : 0.0);
  else
    line += "  for " + short_time(part_seconds);
  // What was there before this build says nothing about how fast it is.
  const double own = begun < 1 ? (share - begun) / (1 - begun) : 1;
  return line + fmt::format("  {} left", left_of(own, seconds));
}

Progress::Progress(std::string what, Counting counting)
    : what_(std::move(what)),
      counting_(counting),
      terminal_(::isatty(STDERR_FILENO) == 1),
      began_(Steady::now()),
      last_(began_) {}

Progress::~Progress() {
  if (drawn_) wipe_line();
}

void Progress::moved(std::uint64_t so_far, std::uint64_t all) {
  const auto now = Steady::now();
  if (!terminal_ || now - began_ < kPatience || now - last_ < kBetween) return;
  last_ = now;
  drawn_ = true;
  write_over(progress_line(what_, so_far, all, seconds_since(began_), counting_));
}

BuildProgress::BuildProgress(std::string what)
    : what_(std::move(what)),
      terminal_(::isatty(STDERR_FILENO) == 1),
      began_(Steady::now()),
      part_began_(began_) {
  if (!terminal_) return;
  clock_ = std::jthread([this](const std::stop_token& stop) {
    std::condition_variable_any end;
    std::unique_lock lock(mutex_);
    while (!end.wait_for(lock, stop, 2 * kBetween, [] { return false; }) && !stop.stop_requested()) draw();
  });
}

BuildProgress::~BuildProgress() {
  clock_ = {};
  wipe();
}

void BuildProgress::say(const std::string& line) {
  pass(line + "\n");
}

void BuildProgress::pass(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::scoped_lock lock(mutex_);
  wipe();
  (void)os::write_all(STDERR_FILENO, bytes);
  at_line_start_ = bytes.ends_with('\n');
}

void BuildProgress::moved(const layer::BuildPosition& at) {
  const std::scoped_lock lock(mutex_);
  if (at.layer != at_.layer || (at.all != at_.all)) part_began_ = Steady::now();
  at_ = at;
}

// Not behind half a line of somebody else's.
void BuildProgress::draw() {
  if (!at_line_start_ || at_.layers == 0 || at_.layer >= at_.layers || Steady::now() - began_ < kPatience)
    return;
  if (begun_ < 0) begun_ = static_cast<double>(at_.layer) / static_cast<double>(at_.layers);
  write_over(build_line(what_, at_, begun_, seconds_since(began_), seconds_since(part_began_)));
  drawn_ = true;
}

void BuildProgress::wipe() {
  if (drawn_) wipe_line();
  drawn_ = false;
}

}  // namespace atl::cli
