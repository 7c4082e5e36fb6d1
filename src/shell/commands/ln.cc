#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/backup.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/relative.h"
#include "shell/files/walk.h"
#include "shell/text/quotes.h"

namespace atl::shell::ln_program {

namespace {

enum Long { kBackup = 256 };

constexpr Option kOptions[] = {
    {'b', 'b', ""},
    {kBackup, 0, "backup", Arg::optional},
    {'d', 'd', "directory"},
    {'d', 'F', ""},
    {'f', 'f', "force"},
    {'i', 'i', "interactive"},
    {'L', 'L', "logical"},
    {'n', 'n', "no-dereference"},
    {'P', 'P', "physical"},
    {'r', 'r', "relative"},
    {'s', 's', "symbolic"},
    {'S', 'S', "suffix", Arg::required},
    {'t', 't', "target-directory", Arg::required},
    {'T', 'T', "no-target-directory"},
    {'v', 'v', "verbose"},
};

struct Request {
  bool force = false, symbolic = false, relative = false, verbose = false, no_dereference = false,
       logical = false;
  bool ask = false, directories = false, no_target_directory = false;
  Backup backup;
};

// Asks where -i wants it; then moves what is in the way aside, or removes it. False: no link is to be made,
// and `failed` tells whether that is an error.
bool clear_way(Invocation& call, const std::string& name, const vfs::Path& path, const Request& r,
               std::string& kept, bool& failed) {
  failed = false;
  if (r.ask) {
    call.err().write(fmt::format("{}: replace {}? ", call.args()[0], quote_operand(name)));
    std::string answer;
    if (!call.in().read_line(answer) || answer.empty() || (answer[0] != 'y' && answer[0] != 'Y'))
      return false;
  }
  failed = true;
  if (!r.backup.wanted()) {
    auto removed = call.fs().remove_file(path);
    if (removed) return true;
    call.complain(fmt::format("cannot remove {}: {}", quote_operand(name), reason(removed.error())));
    return false;
  }
  kept = r.backup.name_for(call, name);
  auto target = call.resolve(kept);
  auto renamed = target ? call.fs().rename(path, *target) : Result<void>(fail(target.error()));
  if (renamed) return true;
  call.complain(fmt::format("cannot backup {}: {}", quote_operand(name), reason(renamed.error())));
  return false;
}

bool make(Invocation& call, const std::string& target, const std::string& name, const Request& r) {
  std::string_view kind = r.symbolic ? "symbolic" : "hard";
  auto path = call.resolve(name);
  auto failed = [&](const Error& error) {
    bool plain = r.symbolic || error.code() == Code::already_exists || error.code() == Code::no_space ||
                 error.code() == Code::read_only;
    call.complain(fmt::format("failed to create {} link {}{}: {}", kind, quote_operand(name),
                              plain ? "" : fmt::format(" => {}", quote_operand(target)), reason(error)));
    return false;
  };
  if (!path) return failed(path.error());
  std::string text = target;
  if (r.relative && r.symbolic) {
    auto absolute = call.resolve(target);
    auto parent = call.fs().real_path(path->parent());
    if (absolute) text = relative_path(*absolute, parent ? *parent : path->parent());
  }
  auto there = call.fs().find(*path, vfs::Follow::no);
  std::string kept;
  bool replaces = r.force || r.ask || r.backup.wanted();
  if (there && replaces && there->is_directory()) {
    call.complain(fmt::format("{}: cannot overwrite directory", name));
    return false;
  }
  if (there && replaces) {
    if (!r.symbolic) {
      auto source = call.resolve(target);
      auto stat = source ? call.fs().find(*source, vfs::Follow::no) : std::nullopt;
      if (stat && stat->inode == there->inode) {
        call.complain(fmt::format("{} and {} are the same file", quote_operand(target), quote_operand(name)));
        return false;
      }
      if (!stat) {
        call.complain(fmt::format("failed to access {}: No such file or directory", quote_operand(target)));
        return false;
      }
    }
    bool error = false;
    if (!clear_way(call, name, *path, r, kept, error)) return !error;
  }
  Result<void> done;
  if (r.symbolic) {
    done = call.fs().make_symlink(*path, text);
  } else {
    auto source = call.resolve(target);
    if (!source) return failed(source.error());
    if (r.logical)
      if (auto real = call.fs().real_path(*source)) *source = *real;
    auto stat = call.fs().stat(*source, vfs::Follow::no);
    if (!stat) {
      call.complain(fmt::format("failed to access {}: {}", quote_operand(target), reason(stat.error())));
      return false;
    }
    if (stat->is_directory() && !r.directories) {
      call.complain(fmt::format("{}: hard link not allowed for directory", target));
      return false;
    }
    if (stat->is_directory()) {
      call.complain(fmt::format("failed to create hard link {} => {}: Operation not permitted",
                                quote_operand(name), quote_operand(target)));
      return false;
    }
    done = call.fs().make_link(*source, *path);
  }
  if (!done) return failed(done.error());
  if (r.verbose)
    call.out().write(fmt::format("{}{} {} {}\n",
                                 kept.empty() ? "" : fmt::format("{} ~ ", quote_operand(kept)),
                                 quote_operand(name), r.symbolic ? "->" : "=>", quote_operand(text)));
  return true;
}

}  // namespace

int run_ln(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  Request r;
  std::string directory;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'b': r.backup.want(); break;
      case kBackup: value.empty() ? r.backup.want() : r.backup.want(value); break;
      case 'd': r.directories = true; break;
      case 'f':
        r.force = true;
        r.ask = false;
        break;
      case 'i':
        r.ask = true;
        r.force = false;
        break;
      case 'P': r.logical = false; break;
      case 'L': r.logical = true; break;
      case 'n': r.no_dereference = true; break;
      case 'r': r.relative = true; break;
      case 's': r.symbolic = true; break;
      case 'S': r.backup.suffix(value); break;
      case 't': directory = value; break;
      case 'T': r.no_target_directory = true; break;
      case 'v': r.verbose = true; break;
      default: break;
    }
  }
  auto operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing file operand");
  if (!r.backup.settle(call)) return 1;
  if (r.relative && !r.symbolic) return call.fail("cannot do --relative without --symbolic");
  if (!directory.empty() && r.no_target_directory)
    return call.fail("cannot combine --target-directory and --no-target-directory");
  if (!directory.empty()) {
    auto path = call.resolve(directory);
    auto stat = path ? call.fs().find(*path) : std::nullopt;
    if (!stat)
      return call.fail(
          fmt::format("failed to access {}: No such file or directory", quote_operand(directory)));
    if (!stat->is_directory())
      return call.fail(fmt::format("target {} is not a directory", quote_operand(directory)));
  }
  if (directory.empty()) {
    if (operands.size() == 1) {
      if (r.no_target_directory)
        return usage_error(
            call, fmt::format("missing destination file operand after {}", quote_operand(operands[0])));
      return make(call, operands[0], std::string(base_name(operands[0])), r) ? 0 : 1;
    }
    const std::string& last = operands.back();
    auto path = call.resolve(last);
    auto stat =
        path ? call.fs().find(*path, r.no_dereference ? vfs::Follow::no : vfs::Follow::yes) : std::nullopt;
    bool is_directory = stat && stat->is_directory() && !r.no_target_directory;
    if (!is_directory) {
      if (operands.size() > 2) {
        if (r.no_target_directory)
          return usage_error(call, fmt::format("extra operand {}", quote_operand(operands[2])));
        return call.fail(fmt::format("target {}: {}", quote_operand(last),
                                     stat ? "Not a directory" : "No such file or directory"));
      }
      return make(call, operands[0], last, r) ? 0 : 1;
    }
    directory = last;
    operands.pop_back();
  }
  bool good = true;
  for (const std::string& target : operands)
    good &= make(call, target, join_shown(directory, base_name(target)), r);
  return good ? 0 : 1;
}

}  // namespace atl::shell::ln_program
