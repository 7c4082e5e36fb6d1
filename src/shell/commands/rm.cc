#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"
#include "shell/commands/walk.h"

namespace atl::shell {

namespace {

enum Long { kNoPreserveRoot = 256, kPreserveRoot, kOneFileSystem, kInteractive };

constexpr Option kOptions[] = {
    {'f', 'f', "force"}, {'i', 'i', ""}, {'I', 'I', ""}, {kInteractive, 0, "interactive", Arg::optional},
    {'r', 'r', "recursive"}, {'r', 'R', ""}, {'d', 'd', "dir"}, {'v', 'v', "verbose"},
    {kNoPreserveRoot, 0, "no-preserve-root"}, {kPreserveRoot, 0, "preserve-root", Arg::optional},
    {kOneFileSystem, 0, "one-file-system"},
};

struct Request {
  bool force = false, ask = false, recursive = false, directories = false, verbose = false, root = false;
};

bool confirm(Invocation& call, std::string_view question) {
  call.err().write(fmt::format("rm: {} ", question));
  std::string answer;
  return call.in().read_line(answer) && !answer.empty() && (answer[0] == 'y' || answer[0] == 'Y');
}

std::string_view kind_of(const vfs::Stat& stat) {
  switch (stat.type) {
    case vfs::Type::directory: return "directory";
    case vfs::Type::symlink: return "symbolic link";
    case vfs::Type::fifo: return "fifo";
    default: return stat.size == 0 ? "regular empty file" : "regular file";
  }
}

// One by one, deepest first, where each is to be asked about or named.
bool remove_tree_aloud(Invocation& call, const std::string& operand, const Request& r) {
  std::vector<Visit> found;
  bool good = true;
  walk(call, operand, false,
       [&](const Visit& visit) {
         found.push_back(visit);
         return Step::into;
       },
       [&](const std::string& shown, const Error& why) {
         call.complain(fmt::format("cannot remove {}: {}", quoted(shown), reason(why)));
         good = false;
       });
  for (std::size_t i = found.size(); i-- > 0;) {
    const Visit& visit = found[i];
    auto stat = call.fs().find(visit.path, vfs::Follow::no);
    if (!stat) continue;
    if (r.ask && !confirm(call, fmt::format("remove {} {}?", kind_of(*stat), quoted(visit.shown)))) continue;
    auto removed = call.fs().remove(visit.path);
    if (!removed) {
      call.complain(fmt::format("cannot remove {}: {}", quoted(visit.shown), reason(removed.error())));
      good = false;
    } else if (r.verbose) {
      call.out().write(fmt::format("removed {}{}\n", stat->is_directory() ? "directory " : "", quoted(visit.shown)));
    }
  }
  return good;
}

bool remove_one(Invocation& call, const std::string& operand, const Request& r) {
  std::string_view last = base_name(operand);
  if (last == "." || last == "..") {
    call.complain(fmt::format("refusing to remove '.' or '..' directory: skipping {}", quoted(operand)));
    return false;
  }
  auto path = call.resolve(operand);
  auto stat = path ? call.fs().stat(*path, vfs::Follow::no) : Result<vfs::Stat>(fail(path.error()));
  if (!stat) {
    if (r.force && (stat.error().code() == Code::not_found || stat.error().code() == Code::not_a_directory)) return true;
    call.complain(fmt::format("cannot remove {}: {}", quoted(operand), reason(stat.error())));
    return false;
  }
  if (path->is_root() && r.recursive && !r.root) {
    call.complain("it is dangerous to operate recursively on '/'");
    call.complain("use --no-preserve-root to override this failsafe");
    return false;
  }
  if (operand.ends_with('/') && !stat->is_directory()) {
    call.complain(fmt::format("cannot remove {}: Not a directory", quoted(operand)));
    return false;
  }
  if (stat->is_directory() && !r.recursive) {
    auto listing = call.fs().list(*path);
    if (!r.directories || !listing) {
      call.complain(fmt::format("cannot remove {}: Is a directory", quoted(operand)));
      return false;
    }
  }
  if (stat->is_directory() && r.recursive && (r.verbose || r.ask)) return remove_tree_aloud(call, operand, r);
  if (r.ask && !confirm(call, fmt::format("remove {} {}?", kind_of(*stat), quoted(operand)))) return true;
  auto removed = stat->is_directory() ? (r.recursive ? call.fs().remove_all(*path) : call.fs().remove_directory(*path))
                                      : call.fs().remove_file(*path);
  if (!removed) {
    call.complain(fmt::format("cannot remove {}: {}", quoted(operand), reason(removed.error())));
    return false;
  }
  if (r.verbose) call.out().write(fmt::format("removed {}{}\n", stat->is_directory() ? "directory " : "", quoted(operand)));
  return true;
}

}  // namespace

int run_rm(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'f': r.force = true; r.ask = false; break;
      case 'i': r.ask = true; r.force = false; break;
      case 'I': r.ask = false; break;
      case kInteractive: r.ask = value.empty() || value == "always" || value == "yes"; break;
      case 'r': r.recursive = true; break;
      case 'd': r.directories = true; break;
      case 'v': r.verbose = true; break;
      case kNoPreserveRoot: r.root = true; break;
      default: break;
    }
  }
  if (options.operands().empty()) return r.force ? 0 : usage_error(call, "missing operand");
  bool good = true;
  for (const std::string& operand : options.operands()) {
    call.charge(1);
    good &= remove_one(call, operand, r);
  }
  return good ? 0 : 1;
}

}  // namespace atl::shell
