#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "cli/answer.h"
#include "cli/commands/session.h"
#include "cli/table.h"
#include "config/checked.h"

// A live table of what sessions consume.
namespace atl::cli {
namespace {

namespace bj = boost::json;

enum class SortBy : std::uint8_t { cpu, memory, processes, age };

struct SortKey {
  char key;
  std::string_view word;
  SortBy by;
};
constexpr std::array<SortKey, 4> kSortKeys = {{{'c', "cpu", SortBy::cpu},
                                               {'m', "memory", SortBy::memory},
                                               {'p', "processes", SortBy::processes},
                                               {'a', "age", SortBy::age}}};
constexpr std::size_t kHistory = 12;

struct TopFlags {
  ConnectionFlags connection;
  bool json = false, once = false;
  std::string interval = "2", sort = "cpu";
};

struct Row {
  bj::value session;
  std::vector<double> cpu;  // percent of one core, oldest first
  bj::value usage;
  double now() const { return cpu.empty() ? 0 : cpu.back(); }
};

Result<std::vector<Row>> look(const Remote& remote) {
  const bj::value page = TRY(
      all_pages(remote, "/api/sessions?limit=1000&state=creating&state=running&state=paused&state=stopping",
                "sessions"));
  std::vector<Row> rows;
  for (const bj::value& session : list_at(page, "sessions")) {
    Row row{.session = session, .cpu = {}, .usage = {}};
    // It may have ended since, or its provider counts nothing: then the row stays without figures.
    const std::string id = text_at(session, "session_id");
    if (auto samples = remote.json("GET", session_target(id, "/metrics"))) {
      for (const bj::value& sample : list_at(*samples, "samples")) {
        row.cpu.push_back(number_at(sample, "cpu_percent"));
        row.usage = member(sample, "usage");
      }
    }
    if (auto usage = remote.json("GET", session_target(id, "/usage"))) row.usage = std::move(*usage);
    rows.push_back(std::move(row));
  }
  return rows;
}

void sort(std::vector<Row>& rows, SortBy by) {
  const auto value = [by](const Row& row) {
    switch (by) {
      case SortBy::cpu: return row.now();
      case SortBy::memory: return number_at(row.usage, "memory_bytes");
      case SortBy::processes: return number_at(row.usage, "processes");
      case SortBy::age: return seconds_since(text_at(row.session, "created_at"));
    }
    return 0.0;
  };
  std::ranges::stable_sort(rows, std::greater<>(), value);
}

std::string table_of(const std::vector<Row>& rows, std::size_t columns) {
  Table table({{"ID"},
               {"STATE"},
               {"PROVIDER"},
               {"CPU%", Table::Align::right},
               {"HISTORY"},
               {"MEMORY", Table::Align::right},
               {"PEAK", Table::Align::right},
               {"PROCS", Table::Align::right},
               {"DISK", Table::Align::right},
               {"AGE", Table::Align::right}});
  const auto bytes = [](const bj::value& usage, std::string_view name) {
    return short_bytes(static_cast<std::uint64_t>(std::max(0.0, number_at(usage, name))));
  };
  for (const Row& row : rows) {
    const std::string state = text_at(row.session, "state");
    table.add({{text_at(row.session, "session_id")},
               {state, tone_of(state)},
               {text_at(row.session, "provider")},
               {fmt::format("{:.1f}", row.now())},
               {spark_line(row.cpu, 100, kHistory), Tone::good},
               {bytes(row.usage, "memory_bytes")},
               {bytes(row.usage, "memory_peak_bytes")},
               {fmt::format("{:.0f}", number_at(row.usage, "processes"))},
               {bytes(row.usage, "disk_bytes")},
               {short_time(seconds_since(text_at(row.session, "created_at")))}});
  }
  return table.text(paint_of_output(), columns);
}

std::string json_of(const std::vector<Row>& rows) {
  bj::array list;
  for (const Row& row : rows) {
    bj::array cpu(row.cpu.begin(), row.cpu.end());
    list.push_back(bj::object{{"session", row.session},
                              {"cpu_percent", row.now()},
                              {"cpu_history", std::move(cpu)},
                              {"usage", row.usage}});
  }
  return bj::serialize(bj::object{{"sessions", std::move(list)}}) + "\n";
}

volatile std::sig_atomic_t g_interrupted = 0;

// The whole screen, keys one by one, the cursor away; everything put back however this ends.
class Screen {
 public:
  Screen() {
    struct sigaction action {};
    action.sa_handler = [](int) { g_interrupted = 1; };
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
    ::tcgetattr(STDIN_FILENO, &before_);
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    fmt::print("\033[?1049h\033[?25l");
  }
  ~Screen() {
    fmt::print("\033[?25h\033[?1049l");
    (void)std::fflush(stdout);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static winsize size() {
    winsize found{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) < 0 || found.ws_col == 0) return {24, 80, 0, 0};
    return found;
  }
  // A key, or '\0' when the time is over or a signal came.
  static char key(std::chrono::milliseconds time) {
    pollfd wait{STDIN_FILENO, POLLIN, 0};
    char typed = '\0';
    if (::poll(&wait, 1, static_cast<int>(time.count())) <= 0) return '\0';
    return ::read(STDIN_FILENO, &typed, 1) == 1 ? typed : 'q';
  }

 private:
  termios before_{};
};

void draw(const Remote& remote, const std::vector<Row>& rows, std::string_view sorted_by) {
  const winsize size = Screen::size();
  std::string text =
      fmt::format("atoll top  {}  {} session{}, by {}   (c cpu, m memory, p processes, a age, q quits)",
                  config::shown(remote.endpoint().url), rows.size(), rows.size() == 1 ? "" : "s", sorted_by);
  // A line that the terminal would break would push the last row out.
  text.resize(std::min<std::size_t>(text.size(), size.ws_col));
  text += "\n\n" + table_of(rows, size.ws_col);
  // Only as many lines as there is room for.
  std::size_t at = 0;
  for (int line = 1; line < size.ws_row && at != std::string::npos; ++line) at = text.find('\n', at + 1);
  if (at != std::string::npos) text.resize(at);
  std::string screen = "\033[H";
  for (const char c : text) screen += c == '\n' ? std::string("\033[K\r\n") : std::string(1, c);
  fmt::print("{}\033[J", screen);
  (void)std::fflush(stdout);
}

Result<int> live(const Remote& remote, SortKey sorted, std::chrono::milliseconds interval) {
  std::vector<Row> rows = TRY(look(remote));
  const Screen screen;
  auto next = std::chrono::steady_clock::now() + interval;
  while (true) {
    sort(rows, sorted.by);
    draw(remote, rows, sorted.word);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
    const char key = Screen::key(std::max(left, std::chrono::milliseconds(0)));
    if (key == 'q' || g_interrupted != 0) return 0;
    if (const auto* chosen = std::ranges::find(kSortKeys, key, &SortKey::key); chosen != kSortKeys.end())
      sorted = *chosen;
    if (std::chrono::steady_clock::now() < next) continue;
    rows = TRY(look(remote));
    next = std::chrono::steady_clock::now() + interval;
  }
}

Result<int> run_top(const TopFlags& flags) {
  const auto interval = TRY(config::Checked("--interval", flags.interval).seconds(0.1, 3600));
  const auto* sorted = std::ranges::find(kSortKeys, flags.sort, &SortKey::word);
  if (sorted == kSortKeys.end())
    return fail(config::Checked("--sort", flags.sort)
                    .wrong("is no column to sort by", "cpu, memory, processes or age"));
  const Remote remote = TRY(Remote::open(flags.connection));
  const bool terminal = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
  if (terminal && !flags.once && !flags.json) return live(remote, *sorted, interval);
  std::vector<Row> rows = TRY(look(remote));
  sort(rows, sorted->by);
  return print(flags.json ? json_of(rows) : table_of(rows, 0));
}

}  // namespace

Action define_top(Command& top) {
  Command command = top.add_command("top", "Show live what sessions consume; q quits");
  auto flags = std::make_unique<TopFlags>();
  flags->connection.add_to(command);
  command.add_flag("--json", flags->json, "Once, as JSON");
  command.add_flag("--once", flags->once, "Once, as is done in a pipe");
  command.add_option("--interval", flags->interval, "Seconds between two looks")
      .with_default_shown()
      .value("SECONDS");
  command.add_option("--sort", flags->sort, "By what").with_default_shown().value("cpu|memory|processes|age");
  return [flags = std::move(flags)] {
    auto status = run_top(*flags);
    return status ? *status : report(status.error());
  };
}

}  // namespace atl::cli
