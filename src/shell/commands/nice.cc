#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/program_start.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::nice_program {

// There are no priorities here: the command runs as it would without.
int run_nice(Invocation& call) {
  static constexpr Option kOptions[] = {{'n', 'n', "adjustment", Arg::required},
                                        {'0', '0', "", Arg::required}};
  CommandLine options(call, kOptions, {.permute = false, .status = 125, .digits = true});
  if (options.stopped()) return options.status();
  for (auto& [id, value] : options.found()) {
    std::int64_t ignored = 0;
    if (!parse_integer(value, ignored))
      return call.fail(fmt::format("invalid adjustment {}", quote_operand(value)), 125);
  }
  if (!options.operands().empty()) {
    int status = refuse_start(call, options.operands()[0], "'{}'");
    return status != 0 ? status : call.run(options.operands(), {});
  }
  if (!options.found().empty()) return usage_error(call, "a command must be given with an adjustment", 125);
  call.out().write("0\n");
  return 0;
}

// There is no terminal to hang up: standard output is never one, so nothing is redirected.
int run_nohup(Invocation& call) {
  CommandLine options(call, {}, {.permute = false, .status = 125});
  if (options.stopped()) return options.status();
  if (options.operands().empty()) return usage_error(call, "missing operand", 125);
  int status = refuse_start(call, options.operands()[0], "failed to run command '{}'");
  return status != 0 ? status : call.run(options.operands(), {});
}

}  // namespace atl::shell::nice_program
