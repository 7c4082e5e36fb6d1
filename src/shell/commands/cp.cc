#include <fmt/format.h>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/copying.h"

namespace atl::shell::cp_program {

namespace {

enum Long {
  kPreserve = 256,
  kNoPreserve,
  kBackup,
  kSparse,
  kReflink,
  kParents,
  kStripSlashes,
  kRemoveDestination,
  kAttributesOnly,
  kContext
};

constexpr Option kOptions[] = {
    {'a', 'a', "archive"},
    {kAttributesOnly, 0, "attributes-only"},
    {'b', 'b', ""},
    {kBackup, 0, "backup", Arg::optional},
    {'d', 'd', ""},
    {'f', 'f', "force"},
    {'i', 'i', "interactive"},
    {'H', 'H', ""},
    {'l', 'l', "link"},
    {'L', 'L', "dereference"},
    {'n', 'n', "no-clobber"},
    {'P', 'P', "no-dereference"},
    {'p', 'p', ""},
    {kPreserve, 0, "preserve", Arg::optional},
    {kNoPreserve, 0, "no-preserve", Arg::required},
    {kParents, 0, "parents"},
    {'R', 'R', "recursive"},
    {'R', 'r', ""},
    {kReflink, 0, "reflink", Arg::optional},
    {kRemoveDestination, 0, "remove-destination"},
    {kSparse, 0, "sparse", Arg::required},
    {kStripSlashes, 0, "strip-trailing-slashes"},
    {'s', 's', "symbolic-link"},
    {'S', 'S', "suffix", Arg::required},
    {'t', 't', "target-directory", Arg::required},
    {'T', 'T', "no-target-directory"},
    {'u', 'u', "update"},
    {'v', 'v', "verbose"},
    {'x', 'x', "one-file-system"},
    {'Z', 'Z', ""},
    {kContext, 0, "context", Arg::optional},
};

// --preserve and --no-preserve: a list of words. False after a complaint.
bool preserve(Invocation& call, std::string_view option, std::string_view list, bool on, CopySettings& s) {
  enum { kMode, kTimes, kOwner, kLinks, kLabel, kExtended, kAll };
  static constexpr Choice kWords[] = {{"mode", kMode},   {"timestamps", kTimes}, {"ownership", kOwner},
                                      {"links", kLinks}, {"context", kLabel},    {"xattr", kExtended},
                                      {"all", kAll}};
  while (true) {
    std::size_t comma = list.find(',');
    auto word = choose(call, option, list.substr(0, comma), kWords);
    if (!word) return false;
    if (*word == kMode || *word == kAll) s.keep_mode = on, s.plain_mode = !on;
    if (*word == kTimes || *word == kAll) s.keep_times = on;
    if (*word == kOwner || *word == kAll) s.keep_owner = on;
    if (*word == kLinks || *word == kAll) s.keep_links = on;
    if (*word == kLabel && on)
      return call.complain("cannot preserve security context without an SELinux-enabled kernel"), false;
    if (comma == std::string_view::npos) return true;
    list.remove_prefix(comma + 1);
  }
}

// -1: go on.
int read_options(Invocation& call, const CommandLine& options, CopySettings& s) {
  static constexpr Choice kReflinks[] = {{"auto", 0}, {"always", 1}, {"never", 2}},
                          kSparseness[] = {{"never", 0}, {"auto", 1}, {"always", 2}};
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a':
        s.recursive = s.keep_mode = s.keep_times = s.keep_owner = s.keep_links = true;
        s.links = CopySettings::Links::keep;
        break;
      case kAttributesOnly: s.attributes_only = true; break;
      case 'b': s.backup.want(); break;
      case kBackup: value.empty() ? s.backup.want() : s.backup.want(value); break;
      case 'd':
        s.keep_links = true;
        s.links = CopySettings::Links::keep;
        break;
      case 'P': s.links = CopySettings::Links::keep; break;
      case 'f': s.force = true; break;
      case 'i':
        s.ask = true;
        s.clobber = true;
        break;
      case 'l': s.hard_links = true; break;
      case 'L': s.links = CopySettings::Links::follow; break;
      case 'H': s.links = CopySettings::Links::follow_arguments; break;
      case 'n':
        s.clobber = false;
        s.ask = false;
        break;
      case kPreserve:
        if (!value.empty()) {
          if (!preserve(call, "--preserve", value, true, s)) return 1;
          break;
        }
        [[fallthrough]];
      case 'p': s.keep_mode = s.keep_times = s.keep_owner = true; break;
      case kNoPreserve:
        if (!preserve(call, "--no-preserve", value, false, s)) return 1;
        break;
      case kParents: s.parents = true; break;
      case 'R': s.recursive = true; break;
      // Contents are shared and holes take no space here whatever is asked for.
      case kReflink:
        if (!value.empty() && !choose(call, "--reflink", value, kReflinks)) return 1;
        break;
      case kSparse:
        if (!choose(call, "--sparse", value, kSparseness)) return 1;
        break;
      case kStripSlashes: s.strip_slashes = true; break;
      case 's': s.symbolic_links = true; break;
      case 'S': s.backup.suffix(value); break;
      case 't': s.target_directory = value; break;
      case 'T': s.no_target_directory = true; break;
      case 'u': s.update = true; break;
      case 'v': s.verbose = true; break;
      case kRemoveDestination: s.remove_destination = true; break;
      case kContext:
        if (!value.empty())
          call.complain("warning: ignoring --context; it requires an SELinux/SMACK-enabled kernel");
        break;
      default: break;  // -x, -Z: there is one filesystem, and no labels
    }
  }
  if (!s.backup.settle(call)) return 1;
  if (s.links == CopySettings::Links::unset)
    s.links = s.recursive && !s.hard_links ? CopySettings::Links::keep : CopySettings::Links::follow;
  return -1;
}

}  // namespace

int run_cp(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  CopySettings settings;
  if (int status = read_options(call, options, settings); status >= 0) return status;
  return copy_operands(call, options.operands(), settings, false);
}

}  // namespace atl::shell::cp_program
