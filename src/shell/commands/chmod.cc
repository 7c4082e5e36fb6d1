#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"
#include "shell/commands/walk.h"

namespace atl::shell {

namespace {

enum Long { kReference = 256, kPreserveRoot, kNoPreserveRoot };

constexpr Option kOptions[] = {
    {'c', 'c', "changes"}, {'f', 'f', "silent"}, {'f', 0, "quiet"}, {'v', 'v', "verbose"}, {'R', 'R', "recursive"},
    {kReference, 0, "reference", Arg::required}, {kPreserveRoot, 0, "preserve-root"}, {kNoPreserveRoot, 0, "no-preserve-root"},
    // Modes that look like options: chmod -x file.
    {'r', 'r', "", Arg::optional}, {'w', 'w', "", Arg::optional}, {'x', 'x', "", Arg::optional}, {'X', 'X', "", Arg::optional},
    {'s', 's', "", Arg::optional}, {'t', 't', "", Arg::optional}, {'u', 'u', "", Arg::optional}, {'g', 'g', "", Arg::optional}, {'o', 'o', "", Arg::optional}, {'a', 'a', "", Arg::optional},
};

}  // namespace

int run_chmod(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool recursive = false, changes = false, verbose = false, silent = false, has_reference = false;
  std::string spec;
  std::uint32_t reference = 0;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c': changes = true; break;
      case 'f': silent = true; break;
      case 'v': verbose = true; break;
      case 'R': recursive = true; break;
      case kReference: {
        auto path = call.resolve(value);
        auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
        if (!stat) return call.fail(fmt::format("failed to get attributes of {}: {}", quoted(value), reason(stat.error())));
        reference = stat->mode;
        has_reference = true;
        break;
      }
      case kPreserveRoot:
      case kNoPreserveRoot: break;
      default: spec += (spec.empty() ? "-" : ",-") + std::string(1, static_cast<char>(id)) + value;
    }
  }
  auto& operands = options.operands();
  if (!has_reference && spec.empty()) {
    if (operands.empty()) return usage_error(call, "missing operand");
    spec = operands.front();
    operands.erase(operands.begin());
  }
  if (operands.empty())
    return usage_error(call, spec.empty() ? "missing operand" : fmt::format("missing operand after {}", quoted(spec)));
  std::uint32_t probe = 0;
  if (!has_reference && !apply_mode(spec, probe, false, call.umask()))
    return usage_error(call, fmt::format("invalid mode: {}", quoted(spec)));
  int status = 0;
  auto change = [&](const std::string& shown, const vfs::Path& path, bool argument) {
    auto stat = call.fs().stat(path, argument ? vfs::Follow::yes : vfs::Follow::no);
    if (!stat) {
      if (!silent) call.complain(fmt::format("cannot access {}: {}", quoted(shown), reason(stat.error())));
      status = 1;
      return;
    }
    if (stat->is_symlink()) return;
    std::uint32_t mode = stat->mode;
    if (has_reference) mode = reference;
    else apply_mode(spec, mode, stat->is_directory(), call.umask());
    auto done = call.fs().set_mode(path, mode);
    if (!done) {
      if (!silent) call.complain(fmt::format("changing permissions of {}: {}", quoted(shown), reason(done.error())));
      status = 1;
      return;
    }
    if (verbose || (changes && mode != stat->mode)) {
      auto text = [&](std::uint32_t m) { return mode_text(stat->type, m).substr(1); };
      call.out().write(mode == stat->mode
                           ? fmt::format("mode of {} retained as {:04o} ({})\n", quoted(shown), mode, text(mode))
                           : fmt::format("mode of {} changed from {:04o} ({}) to {:04o} ({})\n", quoted(shown), stat->mode,
                                         text(stat->mode), mode, text(mode)));
    }
  };
  for (const std::string& operand : operands) {
    auto path = call.resolve(operand);
    auto stat = path ? call.fs().stat(*path, vfs::Follow::yes) : Result<vfs::Stat>(fail(path.error()));
    if (!stat) {
      auto link = path ? call.fs().find(*path, vfs::Follow::no) : std::nullopt;
      if (!silent)
        call.complain(link && link->is_symlink() ? fmt::format("cannot operate on dangling symlink {}", quoted(operand))
                                                 : fmt::format("cannot access {}: {}", quoted(operand), reason(stat.error())));
      status = 1;
      continue;
    }
    if (recursive && stat->is_directory()) {
      walk(call, operand, false,
           [&](const Visit& visit) {
             change(visit.shown, visit.path, visit.depth == 0);
             return Step::into;
           },
           [&](const std::string& shown, const Error& why) {
             call.complain(fmt::format("cannot read directory {}: {}", quoted(shown), reason(why)));
             status = 1;
           });
    } else {
      change(operand, *path, true);
    }
  }
  return status;
}

// Owners are kept for looks; every name and number is accepted.
int run_chown(Invocation& call) {
  static constexpr Option kOwnerOptions[] = {
      {'c', 'c', "changes"}, {'f', 'f', "silent"}, {'f', 0, "quiet"}, {'v', 'v', "verbose"}, {'R', 'R', "recursive"},
      {'h', 'h', "no-dereference"}, {'H', 'H', ""}, {'L', 'L', ""}, {'P', 'P', ""},
  };
  CommandLine options(call, kOwnerOptions);
  if (options.stopped()) return options.status();
  bool recursive = false, verbose = false, changes = false, silent = false;
  for (auto& [id, value] : options.found()) {
    recursive |= id == 'R';
    verbose |= id == 'v';
    changes |= id == 'c';
    silent |= id == 'f';
  }
  auto& operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing operand");
  if (operands.size() < 2) return usage_error(call, fmt::format("missing operand after {}", quoted(operands[0])));
  std::string spec = operands.front();
  bool group_only = base_name(call.args()[0]) == "chgrp";
  std::size_t colon = group_only ? 0 : spec.find_first_of(":.");
  std::string user = group_only ? "" : spec.substr(0, colon);
  std::string group = group_only ? spec : colon == std::string::npos ? "" : spec.substr(colon + 1);
  auto number = [&](const std::string& name, std::optional<std::uint32_t>& out) {
    if (name.empty()) return true;
    std::int64_t value = 0;
    if (parse_integer(name, value) && value >= 0) out = static_cast<std::uint32_t>(value);
    else if (name == "root") out = 0;
    else if (name == user_name(call, 1000)) out = 1000;
    else return false;
    return true;
  };
  std::optional<std::uint32_t> uid, gid;
  if (!number(user, uid)) return call.fail(fmt::format("invalid user: {}", quoted(spec)));
  if (!number(group, gid)) return call.fail(fmt::format("invalid group: {}", quoted(spec)));
  int status = 0;
  auto change = [&](const std::string& shown, const vfs::Path& path) {
    auto old = call.fs().find(path);
    auto done = call.fs().set_owner(path, uid, gid);
    if (!done) {
      if (!silent) call.complain(fmt::format("cannot access {}: {}", quoted(shown), reason(done.error())));
      status = 1;
      return;
    }
    bool same = old && (!uid || *uid == old->uid) && (!gid || *gid == old->gid);
    std::string_view what = group_only ? "group" : "ownership";
    if (same && verbose) call.out().write(fmt::format("{} of {} retained as {}\n", what, quoted(shown), spec));
    if (!same && (verbose || changes))
      call.out().write(fmt::format("changed {} of {} from {} to {}\n", what, quoted(shown), user_name(call, group_only ? old->gid : old->uid), spec));
  };
  for (std::size_t i = 1; i < operands.size(); ++i) {
    auto failed = [&](const std::string& shown, const Error& why) {
      call.complain(fmt::format("cannot access {}: {}", quoted(shown), reason(why)));
      status = 1;
    };
    auto each = [&](const Visit& visit) {
      change(visit.shown, visit.path);
      return recursive ? Step::into : Step::over;
    };
    walk(call, operands[i], false, each, failed);
  }
  return status;
}

}  // namespace atl::shell
