#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/text/quotes.h"

namespace atl::shell::mkdir_program {

namespace {

enum Long { kContext = 256 };

constexpr Option kOptions[] = {
    {'p', 'p', "parents"}, {'m', 'm', "mode", Arg::required},       {'v', 'v', "verbose"},
    {'Z', 'Z', ""},        {kContext, 0, "context", Arg::optional},
};

}  // namespace

int run_mkdir(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool parents = false, verbose = false;
  std::uint32_t mode = 0777 & ~call.umask();
  for (auto& [id, value] : options.found()) {
    if (id == 'p') parents = true;
    if (id == 'v') verbose = true;
    if (id == kContext && !value.empty())
      call.complain("warning: ignoring --context; it requires an SELinux/SMACK-enabled kernel");
    if (id == 'm') {
      mode = 0777;
      if (!apply_mode(value, mode, true, call.umask()))
        return call.fail(fmt::format("invalid mode {}", quote_operand(value)));
    }
  }
  if (options.operands().empty()) return usage_error(call, "missing operand");
  int status = 0;
  for (const std::string& operand : options.operands()) {
    auto make = [&](const std::string& shown, bool may_exist, std::uint32_t bits) {
      auto path = call.resolve(shown);
      if (!path) {
        call.complain(
            fmt::format("cannot create directory {}: {}", quote_operand(shown), reason(path.error())));
        return false;
      }
      if (may_exist) {
        auto stat = call.fs().find(*path);
        if (stat && stat->is_directory()) return true;
      }
      auto made = call.fs().make_directory(*path, bits);
      if (!made) {
        call.complain(
            fmt::format("cannot create directory {}: {}", quote_operand(shown), reason(made.error())));
        return false;
      }
      if (verbose) call.out().write(fmt::format("mkdir: created directory {}\n", quote_operand(shown)));
      return true;
    };
    bool good = true;
    if (parents) {
      for (std::size_t at = operand.find_first_not_of('/'); good && at != std::string::npos;) {
        std::size_t slash = operand.find('/', at);
        if (slash == std::string::npos || operand.find_first_not_of('/', slash) == std::string::npos) break;
        good = make(operand.substr(0, slash), true, (0777 & ~call.umask()) | 0300);
        at = operand.find_first_not_of('/', slash);
      }
    }
    if (good) good = make(operand, parents, mode);
    if (!good) status = 1;
  }
  return status;
}

}  // namespace atl::shell::mkdir_program
