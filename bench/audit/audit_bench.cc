// What an entry of the audit log costs the thread that writes it, and how fast a log is verified.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "audit/log.h"
#include "audit/verify.h"

namespace {

using Steady = std::chrono::steady_clock;

double microseconds(Steady::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

atl::audit::Entry entry() {
  atl::audit::Entry entry;
  entry.actor = {"key_0123456789abcdef", "developer", "default", "127.0.0.1",
                 "0123456789abcdef0123456789abcdef"};
  entry.action = "session.execute";
  entry.object = "ses_0123456789abcdef";
  entry.details = R"({"record_id":"rec_0123456789abcdef"})";
  return entry;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string data = argc > 1 ? argv[1] : "/tmp/atoll-audit-bench";
  std::filesystem::remove_all(data);
  std::filesystem::create_directories(data);
  auto log = atl::audit::Log::open({.data = data});
  if (!log) {
    fmt::print(stderr, "{}\n", log.error().message());
    return 1;
  }
  constexpr int kEntries = 100'000;
  std::vector<double> costs;
  costs.reserve(kEntries);
  for (int i = 0; i < kEntries; ++i) {
    const auto begin = Steady::now();
    auto ticket = (*log)->begin(atl::audit::Kind::change, entry());
    if (!ticket || !ticket->finish(atl::audit::Outcome::ok)) return 1;
    costs.push_back(microseconds(Steady::now() - begin));
  }
  (*log)->close();
  std::ranges::sort(costs);
  const auto begin = Steady::now();
  const auto verdict = atl::audit::verify({.data = data});
  const double seconds = microseconds(Steady::now() - begin) / 1e6;
  if (!verdict || !verdict->good) return 1;
  fmt::print("{:.2f} {:.2f} {:.0f}\n", costs[kEntries / 2], costs[kEntries * 99 / 100], kEntries / seconds);
  std::filesystem::remove_all(data);
  return 0;
}
