#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/invocation.h"
#include "shell/program_start.h"
#include "shell/runner.h"
#include "shell/scoped.h"
#include "shell/text/quotes.h"

namespace atl::shell::timeout_program {

namespace {

enum Long { kForeground = 256, kPreserve };

// "1.5", "2m": seconds; false if malformed.
bool parse_duration(std::string_view text, double& seconds) {
  if (text.empty()) return false;
  double scale = 1;
  std::string digits(text);
  switch (text.back()) {
    case 's': digits.pop_back(); break;
    case 'm':
      scale = 60;
      digits.pop_back();
      break;
    case 'h':
      scale = 3600;
      digits.pop_back();
      break;
    case 'd':
      scale = 86400;
      digits.pop_back();
      break;
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

namespace {

struct Request {
  bool preserve = false, verbose = false;
  int signal = SIGTERM;
  double seconds = 0, kill_after = 0;
};

// -1: go on.
int read_options(Invocation& call, CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    if (id == kPreserve) r.preserve = true;
    if (id == 'v') r.verbose = true;
    if (id == 'k' && !parse_duration(value, r.kill_after))
      return usage_error(call, fmt::format("invalid time interval {}", quote_operand(value)), 125);
    if (id == 's') {
      r.signal = signal_number(value);
      if (r.signal <= 0)
        return usage_error(call, fmt::format("{}: invalid signal", quote_operand(value)), 125);
    }
  }
  auto& operands = options.operands();
  if (operands.size() < 2) {
    call.err().write("Try 'timeout --help' for more information.\n");
    return 125;
  }
  if (!parse_duration(operands[0], r.seconds))
    return usage_error(call, fmt::format("invalid time interval {}", quote_operand(operands[0])), 125);
  return -1;
}

// The command and all it started get the signal when the time comes, whatever they do then.
int run_until(Invocation& call, const Request& r, const std::vector<std::string>& argv) {
  bool late = false;
  Invocation::Redirects redirects;
  redirects.timeout = to_duration(r.seconds);
  redirects.timeout_signal = r.signal;
  if (r.kill_after > 0) redirects.kill_after = to_duration(r.kill_after);
  redirects.timed_out = &late;
  int status = call.run(argv, redirects);
  if (late && r.verbose)
    call.complain(
        fmt::format("sending signal {} to command {}", signal_name(r.signal), quote_operand(argv[0])));
  return late && !r.preserve && status != 128 + SIGKILL ? 124 : status;
}

}  // namespace

int run_timeout(Invocation& call) {
  static constexpr Option kOptions[] = {{kForeground, 0, "foreground"},
                                        {'k', 'k', "kill-after", Arg::required},
                                        {'s', 's', "signal", Arg::required},
                                        {'v', 'v', "verbose"},
                                        {kPreserve, 0, "preserve-status"}};
  CommandLine options(call, kOptions, {.permute = false, .status = 125});
  if (options.stopped()) return options.status();
  Request r;
  if (int status = read_options(call, options, r); status >= 0) return status;
  std::vector<std::string> argv(options.operands().begin() + 1, options.operands().end());
  if (int status = refuse_start(call, argv[0], "failed to run command '{}'"); status != 0) return status;
  if (r.seconds <= 0) return call.run(argv, {});
  return run_until(call, r, argv);
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
      call.complain(fmt::format("invalid time interval {}", quote_operand(operand)));
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

}  // namespace atl::shell::timeout_program
