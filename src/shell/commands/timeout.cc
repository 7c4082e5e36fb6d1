#include <fmt/format.h>

#include <cmath>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

// "1.5", "2m": seconds; false if malformed.
bool parse_duration(std::string_view text, double& seconds) {
  if (text.empty()) return false;
  double scale = 1;
  std::string digits(text);
  switch (text.back()) {
    case 's': digits.pop_back(); break;
    case 'm': scale = 60; digits.pop_back(); break;
    case 'h': scale = 3600; digits.pop_back(); break;
    case 'd': scale = 86400; digits.pop_back(); break;
    default: break;
  }
  if (digits == "infinity" || digits == "inf") {
    seconds = 1e9;
    return true;
  }
  char* end = nullptr;
  seconds = strtod(digits.c_str(), &end) * scale;
  return end != digits.c_str() && *end == '\0' && seconds >= 0 && !std::isnan(seconds);
}

Duration to_duration(double seconds) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, 9e9) * 1e9));
}

}  // namespace

int run_timeout(Invocation& call) {
  enum { kForeground = 256, kPreserve };
  static constexpr Option kOptions[] = {{kForeground, 0, "foreground"}, {'k', 'k', "kill-after", Arg::required}, {'s', 's', "signal", Arg::required},
                                        {'v', 'v', "verbose"}, {kPreserve, 0, "preserve-status"}};
  CommandLine options(call, kOptions, {.permute = false, .status = 125});
  if (options.stopped()) return options.status();
  bool preserve = false;
  int signal = 15;
  for (auto& [id, value] : options.found()) {
    double ignored = 0;
    if (id == kPreserve) preserve = true;
    if (id == 'k' && !parse_duration(value, ignored)) return usage_error(call, fmt::format("invalid time interval {}", quoted(value)), 125);
    if (id == 's') {
      std::string name = value.starts_with("SIG") ? value.substr(3) : value;
      static constexpr std::pair<std::string_view, int> kSignals[] = {{"HUP", 1}, {"INT", 2}, {"QUIT", 3}, {"KILL", 9}, {"USR1", 10}, {"USR2", 12}, {"ALRM", 14}, {"TERM", 15}};
      std::int64_t number = 0;
      bool known = parse_integer(name, number) && number >= 0 && number < 65;
      if (known) signal = static_cast<int>(number);
      for (auto& [n, v] : kSignals)
        if (n == name) signal = v, known = true;
      if (!known) return usage_error(call, fmt::format("{}: invalid signal", quoted(value)), 125);
    }
  }
  auto& operands = options.operands();
  if (operands.size() < 2) return usage_error(call, operands.empty() ? "missing operand" : fmt::format("missing operand after {}", quoted(operands[0])), 125);
  double seconds = 0;
  if (!parse_duration(operands[0], seconds)) return usage_error(call, fmt::format("invalid time interval {}", quoted(operands[0])), 125);
  Invocation::Redirects redirects;
  if (seconds > 0) redirects.timeout = to_duration(seconds);
  int status = call.run(std::vector<std::string>(operands.begin() + 1, operands.end()), redirects);
  if (status == 124 && preserve) return 128 + signal;
  if (status == 124 && signal == 9) return 137;
  return status;
}

int run_sleep(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  if (options.operands().empty()) return usage_error(call, "missing operand");
  double total = 0;
  bool good = true;
  for (const std::string& operand : options.operands()) {
    double seconds = 0;
    if (!parse_duration(operand, seconds)) {
      call.complain(fmt::format("invalid time interval {}", quoted(operand)));
      good = false;
    }
    total += seconds;
  }
  if (!good) {
    call.err().write("Try 'sleep --help' for more information.\n");
    return 1;
  }
  call.sleep(to_duration(total));
  return 0;
}

}  // namespace atl::shell
