#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/table.h"
#include "config/checked.h"

namespace atl::cli {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{1};
constexpr std::chrono::milliseconds kBetween{100};
constexpr std::size_t kBar = 24;

}  // namespace

std::string progress_line(const std::string& what, std::uint64_t so_far, std::uint64_t all, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(so_far) / seconds : 0;
  const std::string speed = short_bytes(static_cast<std::uint64_t>(rate)) + "/s";
  if (all == 0) return fmt::format("{}  {}  {}", config::shown(what, 40), short_bytes(so_far), speed);
  const double share = std::min(1.0, static_cast<double>(so_far) / static_cast<double>(all));
  const auto filled = static_cast<std::size_t>(share * kBar);
  const std::string left =
      rate > 0 ? short_time(static_cast<double>(all - std::min(all, so_far)) / rate + 0.5) : "?";
  return fmt::format("{}  [{}{}]  {:.0f} %  {} of {}  {}  {} left", config::shown(what, 40),
                     std::string(filled, '='), std::string(kBar - filled, ' '), share * 100,
                     short_bytes(so_far), short_bytes(all), speed, left);
}

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) == 1), began_(Steady::now()), last_(began_) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void Progress::moved(std::uint64_t so_far, std::uint64_t all) {
  const auto now = Steady::now();
  if (!terminal_ || now - began_ < kPatience || now - last_ < kBetween) return;
  last_ = now;
  drawn_ = true;
  fmt::print(stderr, "\r\033[K{}",
             progress_line(what_, so_far, all, std::chrono::duration<double>(now - began_).count()));
}

}  // namespace atl::cli
