#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/choice.h"
#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/stack.h"
#include "shell/text/quotes.h"

namespace atl::shell::rm_program {

namespace {

enum Long { kNoPreserveRoot = 256, kPreserveRoot, kOneFileSystem, kInteractive };

constexpr Option kOptions[] = {
    {'f', 'f', "force"},
    {'i', 'i', ""},
    {'I', 'I', ""},
    {kInteractive, 0, "interactive", Arg::optional},
    {'r', 'r', "recursive"},
    {'r', 'R', ""},
    {'d', 'd', "dir"},
    {'v', 'v', "verbose"},
    {kNoPreserveRoot, 0, "no-preserve-root"},
    {kPreserveRoot, 0, "preserve-root", Arg::optional},
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

enum class Outcome : unsigned char { removed, kept, failed };

// One by one, contents before their directory, where each is to be asked about or named. What was kept keeps
// the directories above it.
Outcome remove_aloud(Invocation& call, const std::string& shown, const vfs::Path& path, const Request& r) {
  need_stack();
  call.charge(1);
  auto failed = [&](const Error& why) {
    call.complain(fmt::format("cannot remove {}: {}", quote_operand(shown), reason(why)));
    return Outcome::failed;
  };
  auto stat = call.fs().stat(path, vfs::Follow::no);
  if (!stat) return failed(stat.error());
  Outcome contents = Outcome::removed;
  if (stat->is_directory()) {
    auto listing = call.fs().list(path);
    if (!listing) return failed(listing.error());
    if (!listing->empty() && r.ask &&
        !confirm(call, fmt::format("descend into directory {}?", quote_operand(shown))))
      return Outcome::kept;
    for (auto entry : *listing) {
      auto child = path.child(entry.name);
      if (!child) return failed(child.error());
      contents = std::max(contents, remove_aloud(call, join_shown(shown, entry.name), *child, r));
    }
    if (contents == Outcome::failed) return contents;
  }
  if (r.ask && !confirm(call, fmt::format("remove {} {}?", kind_of(*stat), quote_operand(shown))))
    return Outcome::kept;
  auto removed = call.fs().remove(path);
  if (!removed) return failed(removed.error());
  if (r.verbose)
    call.out().write(
        fmt::format("removed {}{}\n", stat->is_directory() ? "directory " : "", quote_operand(shown)));
  return Outcome::removed;
}

bool remove_one(Invocation& call, const std::string& operand, const Request& r) {
  std::string_view last = base_name(operand);
  if (last == "." || last == "..") {
    call.complain(
        fmt::format("refusing to remove '.' or '..' directory: skipping {}", quote_operand(operand)));
    return false;
  }
  auto path = call.resolve(operand);
  auto stat = path ? call.fs().stat(*path, vfs::Follow::no) : Result<vfs::Stat>(fail(path.error()));
  if (!stat) {
    if (r.force && (stat.error().code() == Code::not_found || stat.error().code() == Code::not_a_directory))
      return true;
    call.complain(fmt::format("cannot remove {}: {}", quote_operand(operand), reason(stat.error())));
    return false;
  }
  if (path->is_root() && r.recursive && !r.root) {
    call.complain("it is dangerous to operate recursively on '/'");
    call.complain("use --no-preserve-root to override this failsafe");
    return false;
  }
  if (operand.ends_with('/') && !stat->is_directory()) {
    call.complain(fmt::format("cannot remove {}: Not a directory", quote_operand(operand)));
    return false;
  }
  if (stat->is_directory() && !r.recursive) {
    auto listing = call.fs().list(*path);
    if (!r.directories || !listing) {
      call.complain(fmt::format("cannot remove {}: Is a directory", quote_operand(operand)));
      return false;
    }
  }
  if (stat->is_directory() && r.recursive && (r.verbose || r.ask))
    return remove_aloud(call, operand, *path, r) != Outcome::failed;
  if (r.ask && !confirm(call, fmt::format("remove {} {}?", kind_of(*stat), quote_operand(operand))))
    return true;
  auto removed = stat->is_directory()
                     ? (r.recursive ? call.fs().remove_all(*path) : call.fs().remove_directory(*path))
                     : call.fs().remove_file(*path);
  if (!removed) {
    call.complain(fmt::format("cannot remove {}: {}", quote_operand(operand), reason(removed.error())));
    return false;
  }
  if (r.verbose)
    call.out().write(
        fmt::format("removed {}{}\n", stat->is_directory() ? "directory " : "", quote_operand(operand)));
  return true;
}

}  // namespace

int run_rm(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  bool once = false;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'f':
        r.force = true;
        r.ask = once = false;
        break;
      case 'i':
        r.ask = true;
        r.force = once = false;
        break;
      case 'I':
        once = true;
        r.ask = r.force = false;
        break;
      case kInteractive: {
        enum { kNever, kOnce, kAlways };
        static constexpr Choice kWords[] = {{"never", kNever}, {"no", kNever},      {"none", kNever},
                                            {"once", kOnce},   {"always", kAlways}, {"yes", kAlways}};
        auto when =
            value.empty() ? std::optional<int>(kAlways) : choose(call, "--interactive", value, kWords);
        if (!when) return 1;
        r.ask = *when == kAlways;
        once = *when == kOnce;
        if (*when != kNever) r.force = false;
        break;
      }
      case kPreserveRoot:
        if (!value.empty() && value != "all")
          return call.fail(fmt::format("unrecognized --preserve-root argument: {}", quote_operand(value)));
        r.root = false;
        break;
      case 'r': r.recursive = true; break;
      case 'd': r.directories = true; break;
      case 'v': r.verbose = true; break;
      case kNoPreserveRoot: r.root = true; break;
      default: break;
    }
  }
  std::size_t count = options.operands().size();
  if (count == 0) return r.force ? 0 : usage_error(call, "missing operand");
  if (once && (r.recursive || count > 3) &&
      !confirm(call, fmt::format("remove {} argument{}{}?", count, count == 1 ? "" : "s",
                                 r.recursive ? " recursively" : "")))
    return 0;
  bool good = true;
  for (const std::string& operand : options.operands()) {
    call.charge(1);
    good &= remove_one(call, operand, r);
  }
  return good ? 0 : 1;
}

}  // namespace atl::shell::rm_program
