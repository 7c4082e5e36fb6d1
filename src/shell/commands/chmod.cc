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

int refuse_root(Invocation& call) {
  call.complain("it is dangerous to operate recursively on '/'");
  call.complain("use --no-preserve-root to override this failsafe");
  return 1;
}

// A name or number of a user or group that this system has. False: none.
bool parse_owner(Invocation& call, const std::string& name, std::optional<std::uint32_t>& out) {
  if (name.empty()) return true;
  std::int64_t value = 0;
  if (parse_integer(name, value) && value >= 0) out = static_cast<std::uint32_t>(value);
  else if (name == "root") out = 0;
  else if (name == user_name(call, 1000)) out = 1000;
  else return false;
  return true;
}

// "user:group", "user", ":group"; chgrp has the group alone. Complains and gives false of what is not there.
bool parse_owners(Invocation& call, const std::string& spec, bool group_only, std::optional<std::uint32_t>& uid, std::optional<std::uint32_t>& gid) {
  std::size_t colon = group_only ? 0 : spec.find_first_of(":.");
  std::string user = group_only ? "" : spec.substr(0, colon);
  std::string group = group_only ? spec : colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (!parse_owner(call, user, uid)) return call.complain(fmt::format("invalid user: {}", quoted(spec))), false;
  if (!parse_owner(call, group, gid)) return call.complain(fmt::format("invalid group: {}", quoted(spec))), false;
  return true;
}

}  // namespace

int run_chmod(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool recursive = false, changes = false, verbose = false, silent = false, has_reference = false, keep_root = false;
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
      case kPreserveRoot: keep_root = true; break;
      case kNoPreserveRoot: keep_root = false; break;
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
    if (recursive && keep_root && path->is_root()) {
      status = refuse_root(call);
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

// Owners are kept for looks: all that this system's users may be is accepted.
int run_chown(Invocation& call) {
  enum { kFrom = 512, kOwnerReference, kDereference, kKeepRoot, kLoseRoot };
  static constexpr Option kOwnerOptions[] = {
      {'c', 'c', "changes"}, {'f', 'f', "silent"}, {'f', 0, "quiet"}, {'v', 'v', "verbose"}, {'R', 'R', "recursive"},
      {'h', 'h', "no-dereference"}, {kDereference, 0, "dereference"}, {'H', 'H', ""}, {'L', 'L', ""}, {'P', 'P', ""},
      {kOwnerReference, 0, "reference", Arg::required}, {kKeepRoot, 0, "preserve-root"}, {kLoseRoot, 0, "no-preserve-root"}, {kFrom, 0, "from", Arg::required},
  };
  bool group_only = base_name(call.args()[0]) == "chgrp";
  std::span<const Option> table = kOwnerOptions;
  CommandLine options(call, group_only ? table.first(table.size() - 1) : table);
  if (options.stopped()) return options.status();
  bool recursive = false, verbose = false, changes = false, silent = false, links = false, keep_root = false, referenced = false;
  char through = 'P';
  std::optional<std::uint32_t> uid, gid, from_uid, from_gid;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'R': recursive = true; break;
      case 'v': verbose = true; break;
      case 'c': changes = true; break;
      case 'f': silent = true; break;
      case 'h': links = true; break;
      case kDereference: links = false; break;
      case 'H':
      case 'L':
      case 'P': through = static_cast<char>(id); break;
      case kKeepRoot: keep_root = true; break;
      case kLoseRoot: keep_root = false; break;
      case kFrom: if (!parse_owners(call, value, false, from_uid, from_gid)) return 1; break;
      case kOwnerReference: {
        auto path = call.resolve(value);
        auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
        if (!stat) return call.fail(fmt::format("failed to get attributes of {}: {}", quoted(value), reason(stat.error())));
        if (!group_only) uid = stat->uid;
        gid = stat->gid;
        referenced = true;
        break;
      }
      default: break;
    }
  }
  auto& operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing operand");
  if (operands.size() < 2 && !referenced) return usage_error(call, fmt::format("missing operand after {}", quoted(operands[0])));
  std::string spec = referenced ? fmt::format("{}:{}", uid.value_or(0), gid.value_or(0)) : operands.front();
  if (!referenced && !parse_owners(call, spec, group_only, uid, gid)) return 1;
  int status = 0;
  auto change = [&](const std::string& shown, const vfs::Path& path, bool follow) {
    vfs::Follow way = follow ? vfs::Follow::yes : vfs::Follow::no;
    auto old = call.fs().find(path, way);
    if (old && ((from_uid && old->uid != *from_uid) || (from_gid && old->gid != *from_gid))) return;
    auto done = call.fs().set_owner(path, uid, gid, way);
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
  for (std::size_t i = referenced ? 0 : 1; i < operands.size(); ++i) {
    auto failed = [&](const std::string& shown, const Error& why) {
      if (!silent) call.complain(fmt::format("cannot access {}: {}", quoted(shown), reason(why)));
      status = 1;
    };
    auto path = call.resolve(operands[i]);
    if (recursive && keep_root && path && path->is_root()) {
      status = refuse_root(call);
      continue;
    }
    if (!recursive && path && call.fs().find(*path, vfs::Follow::no)) {
      change(operands[i], *path, !links);
      continue;
    }
    auto stat = path ? call.fs().find(*path, vfs::Follow::no) : std::nullopt;
    bool stays = stat && stat->is_symlink() && through == 'P';
    walk(call, operands[i], through == 'L',
         [&](const Visit& visit) {
           change(visit.shown, visit.path, !links && !(visit.depth == 0 && stays));
           return recursive && !stays ? Step::into : Step::over;
         },
         failed);
  }
  return status;
}

}  // namespace atl::shell
