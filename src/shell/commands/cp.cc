#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/copying.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

enum Long { kPreserve = 256, kNoPreserve, kBackup, kSparse, kReflink, kParents, kStripSlashes, kRemoveDestination, kAttributesOnly };

constexpr Option kOptions[] = {
    {'a', 'a', "archive"}, {'b', 'b', ""}, {kBackup, 0, "backup", Arg::optional}, {'d', 'd', ""},
    {'f', 'f', "force"}, {'i', 'i', "interactive"}, {'H', 'H', ""}, {'l', 'l', "link"}, {'L', 'L', "dereference"},
    {'n', 'n', "no-clobber"}, {'P', 'P', "no-dereference"}, {'p', 'p', ""}, {kPreserve, 0, "preserve", Arg::optional},
    {kNoPreserve, 0, "no-preserve", Arg::required}, {kParents, 0, "parents"}, {'R', 'R', "recursive"}, {'R', 'r', ""},
    {kReflink, 0, "reflink", Arg::optional}, {kRemoveDestination, 0, "remove-destination"}, {kSparse, 0, "sparse", Arg::required},
    {kStripSlashes, 0, "strip-trailing-slashes"}, {'s', 's', "symbolic-link"}, {'S', 'S', "suffix", Arg::required},
    {'t', 't', "target-directory", Arg::required}, {'T', 'T', "no-target-directory"}, {'u', 'u', "update"},
    {'v', 'v', "verbose"}, {'x', 'x', "one-file-system"}, {kAttributesOnly, 0, "attributes-only"},
};

}  // namespace

int run_cp(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  CopySettings s;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a': s.recursive = s.preserve = true; s.follow = false; break;
      case 'b':
      case kBackup: s.backup = true; break;
      case 'd':
      case 'P': s.follow = false; break;
      case 'f': s.force = true; break;
      case 'i': s.ask = true; s.clobber = true; break;
      case 'l': s.hard_links = true; break;
      case 'L':
      case 'H': s.follow = true; s.follow_inside = id == 'L'; break;
      case 'n': s.clobber = false; s.ask = false; break;
      case 'p':
      case kPreserve: s.preserve = true; break;
      case kNoPreserve: s.preserve = false; break;
      case kParents: s.parents = true; break;
      case 'R':
        s.recursive = true;
        break;
      case 's': s.symbolic_links = true; break;
      case 'S': s.suffix = value; break;
      case 't': s.target_directory = value; break;
      case 'T': s.no_target_directory = true; break;
      case 'u': s.update = true; break;
      case 'v': s.verbose = true; break;
      case kRemoveDestination: s.force = true; break;
      default: break;
    }
  }
  for (auto& [id, value] : options.found())
    if (id == 'R' && !s.follow_set) s.links_inside = true;
  return copy_operands(call, options.operands(), s, false);
}

}  // namespace atl::shell
