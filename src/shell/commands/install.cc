#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/backup.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::install_program {

namespace {

enum Long { kBackup = 256, kContext };

constexpr Option kOptions[] = {
    {kBackup, 0, "backup", Arg::optional},
    {'b', 'b', ""},
    {'c', 'c', ""},
    {'C', 'C', "compare"},
    {'d', 'd', "directory"},
    {'D', 'D', ""},
    {'g', 'g', "group", Arg::required},
    {'m', 'm', "mode", Arg::required},
    {'o', 'o', "owner", Arg::required},
    {'p', 'p', "preserve-timestamps"},
    {'S', 'S', "suffix", Arg::required},
    {'t', 't', "target-directory", Arg::required},
    {'T', 'T', "no-target-directory"},
    {'v', 'v', "verbose"},
    {'Z', 'Z', ""},
    {kContext, 0, "context", Arg::optional},
};

struct Request {
  bool directories = false, parents = false, verbose = false, as_name = false, keep_times = false,
       compare = false;
  std::uint32_t mode = 0755;
  std::string target;
  std::optional<std::uint32_t> uid, gid;
  Backup backup;
};

class Installer {
 public:
  Installer(Invocation& call, const Request& r) : call_(call), r_(r) {}

  // A directory with all those above it that are missing. Only the last one has the mode that was asked for.
  bool make_directory(const std::string& shown, bool last) {
    std::string_view rest = shown;
    std::string name = shown.starts_with('/') ? "/" : "";
    for (auto part = vfs::next_component(rest); !part.empty(); part = vfs::next_component(rest)) {
      name += (name.empty() || name.ends_with('/') ? "" : "/") + std::string(part);
      auto path = call_.resolve(name);
      if (path && call_.fs().is_directory(*path)) continue;
      auto made = path ? call_.fs().make_directory(*path, 0755) : Result<void>(fail(path.error()));
      if (!made) {
        call_.complain(
            fmt::format("cannot create directory {}: {}", quote_operand(name), reason(made.error())));
        return false;
      }
      if (r_.verbose) call_.out().write(fmt::format("install: creating directory {}\n", quote_operand(name)));
    }
    if (auto path = call_.resolve(shown); path && last) give_attributes(*path);
    return true;
  }

  bool file(const std::string& from, const std::string& to) {
    auto source = call_.resolve(from), path = call_.resolve(to);
    auto content = source ? call_.fs().read(*source) : Result<vfs::Content>(fail(source.error()));
    if (!content) {
      call_.complain(content.error().code() == Code::is_a_directory
                         ? fmt::format("omitting directory {}", quote_operand(from))
                         : fmt::format("cannot stat {}: {}", quote_operand(from), reason(content.error())));
      return false;
    }
    auto stat = call_.fs().find(*source);
    auto there = path ? call_.fs().find(*path, vfs::Follow::no) : std::nullopt;
    if (there && stat && there->inode == stat->inode) {
      call_.complain(fmt::format("{} and {} are the same file", quote_operand(from), quote_operand(to)));
      return false;
    }
    if (r_.compare && there && there->mode == r_.mode)
      if (auto old = call_.fs().read(*path); old && *old == *content) return true;
    std::string kept;
    if (there && !there->is_directory() && !clear_way(to, *path, kept)) return false;
    vfs::WriteOptions write;
    write.mode = r_.mode;
    write.parents = vfs::Parents::must_exist;
    auto written =
        path ? call_.fs().write(*path, std::move(*content), write) : Result<void>(fail(path.error()));
    if (!written) {
      call_.complain(
          fmt::format("cannot create regular file {}: {}", quote_operand(to), reason(written.error())));
      return false;
    }
    if (r_.verbose)
      call_.out().write(fmt::format("{} -> {}{}\n", quote_operand(from), quote_operand(to),
                                    kept.empty() ? "" : fmt::format(" (backup: {})", quote_operand(kept))));
    give_attributes(*path);
    if (stat && r_.keep_times) (void)call_.fs().set_times(*path, {stat->accessed, stat->modified});
    return true;
  }

 private:
  bool clear_way(const std::string& to, const vfs::Path& path, std::string& kept) {
    Result<void> done;
    if (r_.backup.wanted()) {
      kept = r_.backup.name_for(call_, to);
      auto aside = call_.resolve(kept);
      done = aside ? call_.fs().rename(path, *aside) : Result<void>(fail(aside.error()));
    } else {
      done = call_.fs().remove_file(path);
      if (done && r_.verbose) call_.out().write(fmt::format("removed {}\n", quote_operand(to)));
    }
    if (!done) call_.complain(fmt::format("cannot remove {}: {}", quote_operand(to), reason(done.error())));
    return done.has_value();
  }
  void give_attributes(const vfs::Path& path) {
    if (r_.uid || r_.gid) (void)call_.fs().set_owner(path, r_.uid, r_.gid);
    (void)call_.fs().set_mode(path, r_.mode);
  }

  Invocation& call_;
  const Request& r_;
};

bool parse_id(Invocation& call, const std::string& name, std::string_view what,
              std::optional<std::uint32_t>& out) {
  out = parse_owner(call, name);
  if (!out) call.complain(fmt::format("invalid {} {}", what, quote_operand(name)));
  return out.has_value();
}

// -1: go on.
int read_options(Invocation& call, const CommandLine& options, Request& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'b': r.backup.want(); break;
      case kBackup: value.empty() ? r.backup.want() : r.backup.want(value); break;
      case 'S': r.backup.suffix(value); break;
      case 'd': r.directories = true; break;
      case 'D': r.parents = true; break;
      case 'v': r.verbose = true; break;
      case 'T': r.as_name = true; break;
      case 'p': r.keep_times = true; break;
      case 'C': r.compare = true; break;
      case 't': r.target = value; break;
      case 'o':
        if (!parse_id(call, value, "user", r.uid)) return 1;
        break;
      case 'g':
        if (!parse_id(call, value, "group", r.gid)) return 1;
        break;
      case 'm':
        r.mode = 0;
        if (!apply_mode(value, r.mode, false, 0))
          return call.fail(fmt::format("invalid mode {}", quote_operand(value)));
        break;
      case kContext:
        if (!value.empty())
          call.complain("warning: ignoring --context; it requires an SELinux/SMACK-enabled kernel");
        break;
      default: break;  // -c is old and means nothing; there are no labels for -Z
    }
  }
  return r.backup.settle(call) ? -1 : 1;
}

}  // namespace

int run_install(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  if (int status = read_options(call, options, r); status >= 0) return status;
  auto operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing file operand");
  if (r.directories && !r.target.empty())
    return call.fail("target directory not allowed when installing a directory");
  Installer installer(call, r);
  bool good = true;
  if (r.directories) {
    for (const std::string& operand : operands) good &= installer.make_directory(operand, true);
    return good ? 0 : 1;
  }
  std::string target = r.target;
  bool as_name = r.as_name;
  if (target.empty()) {
    if (operands.size() < 2)
      return usage_error(
          call, fmt::format("missing destination file operand after {}", quote_operand(operands[0])));
    target = operands.back();
    operands.pop_back();
    auto path = call.resolve(target);
    bool there = path && call.fs().is_directory(*path);
    if (as_name && operands.size() > 1)
      return usage_error(call, fmt::format("extra operand {}", quote_operand(target)));
    if (as_name && there)
      return call.fail(
          fmt::format("cannot overwrite directory {} with non-directory", quote_operand(target)));
    if (operands.size() > 1 && !there)
      return call.fail(
          fmt::format("target {}: {}", quote_operand(target),
                      path && call.fs().find(*path) ? "Not a directory" : "No such file or directory"));
    as_name = !there;
    if (as_name && r.parents && !installer.make_directory(std::string(dir_name(target)), false)) return 1;
  } else if (r.parents) {
    if (!installer.make_directory(target, false)) return 1;
  } else if (auto path = call.resolve(target); !path || !call.fs().is_directory(*path)) {
    return call.fail(
        fmt::format("target {}: {}", quote_operand(target),
                    path && call.fs().find(*path) ? "Not a directory" : "No such file or directory"));
  }
  for (const std::string& from : operands)
    good &= installer.file(from, as_name ? target : join_shown(target, base_name(from)));
  return good ? 0 : 1;
}

}  // namespace atl::shell::install_program
