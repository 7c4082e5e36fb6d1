#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/text/quotes.h"

namespace atl::shell::rmdir_program {

namespace {

enum Long { kIgnore = 256 };

constexpr Option kOptions[] = {
    {'p', 'p', "parents"},
    {'v', 'v', "verbose"},
    {kIgnore, 0, "ignore-fail-on-non-empty"},
};

}  // namespace

int run_rmdir(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool parents = false, verbose = false, ignore = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'p') parents = true;
    if (id == 'v') verbose = true;
    if (id == kIgnore) ignore = true;
  }
  if (options.operands().empty()) return usage_error(call, "missing operand");
  int status = 0;
  for (const std::string& operand : options.operands()) {
    std::string shown = operand;
    for (bool first = true;; first = false) {
      if (verbose) call.out().write(fmt::format("rmdir: removing directory, {}\n", quote_operand(shown)));
      auto path = call.resolve(shown);
      Result<void> removed = path ? call.fs().remove_directory(*path) : Result<void>(fail(path.error()));
      if (!removed) {
        if (ignore && removed.error().code() == Code::not_empty) break;
        call.complain(fmt::format("failed to remove {}{}: {}", first ? "" : "directory ",
                                  quote_operand(shown), reason(removed.error())));
        status = 1;
        break;
      }
      if (!parents) break;
      std::string up(dir_name(shown));
      if (up == "." || up == "/" || up == shown) break;
      shown = up;
    }
  }
  return status;
}

}  // namespace atl::shell::rmdir_program
