#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/copying.h"

namespace atl::shell::mv_program {

namespace {

enum Long { kBackup = 256, kStripSlashes };

constexpr Option kOptions[] = {
    {'b', 'b', ""},
    {kBackup, 0, "backup", Arg::optional},
    {'f', 'f', "force"},
    {'i', 'i', "interactive"},
    {'n', 'n', "no-clobber"},
    {kStripSlashes, 0, "strip-trailing-slashes"},
    {'S', 'S', "suffix", Arg::required},
    {'t', 't', "target-directory", Arg::required},
    {'T', 'T', "no-target-directory"},
    {'u', 'u', "update"},
    {'v', 'v', "verbose"},
    {'Z', 'Z', "context"},
};

}  // namespace

int run_mv(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  CopySettings s;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'b': s.backup.want(); break;
      case kBackup: value.empty() ? s.backup.want() : s.backup.want(value); break;
      case 'f':
        s.clobber = true;
        s.ask = false;
        break;
      case 'i':
        s.ask = true;
        s.clobber = true;
        break;
      case 'n':
        s.clobber = false;
        s.ask = false;
        break;
      case kStripSlashes: s.strip_slashes = true; break;
      case 'S': s.backup.suffix(value); break;
      case 't': s.target_directory = value; break;
      case 'T': s.no_target_directory = true; break;
      case 'u': s.update = true; break;
      case 'v': s.verbose = true; break;
      default: break;  // -Z: there are no labels here
    }
  }
  if (!s.backup.settle(call)) return 1;
  return copy_operands(call, options.operands(), s, true);
}

}  // namespace atl::shell::mv_program
