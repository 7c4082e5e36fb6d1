#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::chmod_program {

namespace {

enum Long { kReference = 256, kPreserveRoot, kNoPreserveRoot };

constexpr Option kOptions[] = {
    {'c', 'c', "changes"},
    {'f', 'f', "silent"},
    {'f', 0, "quiet"},
    {'v', 'v', "verbose"},
    {'R', 'R', "recursive"},
    {kReference, 0, "reference", Arg::required},
    {kPreserveRoot, 0, "preserve-root"},
    {kNoPreserveRoot, 0, "no-preserve-root"},
    // Modes that look like options: chmod -x file.
    {'r', 'r', "", Arg::optional},
    {'w', 'w', "", Arg::optional},
    {'x', 'x', "", Arg::optional},
    {'X', 'X', "", Arg::optional},
    {'s', 's', "", Arg::optional},
    {'t', 't', "", Arg::optional},
    {'u', 'u', "", Arg::optional},
    {'g', 'g', "", Arg::optional},
    {'o', 'o', "", Arg::optional},
    {'a', 'a', "", Arg::optional},
};

int refuse_root(Invocation& call) {
  call.complain("it is dangerous to operate recursively on '/'");
  call.complain("use --no-preserve-root to override this failsafe");
  return 1;
}

// An empty name leaves `out` as it is. False: this system has none of that name.
bool read_owner(const Invocation& call, const std::string& name, std::optional<std::uint32_t>& out) {
  if (name.empty()) return true;
  const auto owner = parse_owner(call, name);
  if (owner) out = owner;
  return owner.has_value();
}

// "user:group", "user", ":group"; chgrp has the group alone. Complains and gives false of what is not there.
bool parse_owners(Invocation& call, const std::string& spec, bool group_only,
                  std::optional<std::uint32_t>& uid, std::optional<std::uint32_t>& gid) {
  std::size_t colon = group_only ? 0 : spec.find_first_of(":.");
  std::string user = group_only ? "" : spec.substr(0, colon);
  std::string group = group_only ? spec : colon == std::string::npos ? "" : spec.substr(colon + 1);
  if (!read_owner(call, user, uid))
    return call.complain(fmt::format("invalid user: {}", quote_operand(spec))), false;
  if (!read_owner(call, group, gid))
    return call.complain(fmt::format("invalid group: {}", quote_operand(spec))), false;
  return true;
}

struct ModeRequest {
  bool recursive = false, changes = false, verbose = false, silent = false, has_reference = false,
       keep_root = false;
  std::string spec;
  std::uint32_t reference = 0;
};

// 0, or the status with which chmod ends after a message.
int read_mode_options(Invocation& call, const CommandLine& options, ModeRequest& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'c': r.changes = true; break;
      case 'f': r.silent = true; break;
      case 'v': r.verbose = true; break;
      case 'R': r.recursive = true; break;
      case kReference: {
        auto path = call.resolve(value);
        auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
        if (!stat)
          return call.fail(
              fmt::format("failed to get attributes of {}: {}", quote_operand(value), reason(stat.error())));
        r.reference = stat->mode;
        r.has_reference = true;
        break;
      }
      case kPreserveRoot: r.keep_root = true; break;
      case kNoPreserveRoot: r.keep_root = false; break;
      default: r.spec += (r.spec.empty() ? "-" : ",-") + std::string(1, static_cast<char>(id)) + value;
    }
  }
  return 0;
}

// Changes modes as a request says. Goes on after what fails.
class ModeChanger {
 public:
  ModeChanger(Invocation& call, const ModeRequest& r) : call_(call), r_(r) {}
  int status() const { return status_; }

  void operand(const std::string& operand) {
    auto path = call_.resolve(operand);
    auto stat = path ? call_.fs().stat(*path, vfs::Follow::yes) : Result<vfs::Stat>(fail(path.error()));
    if (!stat) {
      auto link = path ? call_.fs().find(*path, vfs::Follow::no) : std::nullopt;
      if (!r_.silent)
        call_.complain(
            link && link->is_symlink()
                ? fmt::format("cannot operate on dangling symlink {}", quote_operand(operand))
                : fmt::format("cannot access {}: {}", quote_operand(operand), reason(stat.error())));
      status_ = 1;
      return;
    }
    if (r_.recursive && r_.keep_root && path->is_root()) {
      status_ = refuse_root(call_);
      return;
    }
    if (r_.recursive && stat->is_directory()) {
      walk(
          call_, operand, false,
          [&](const Visit& visit) {
            change(visit.shown, visit.path, visit.depth == 0);
            return Step::into;
          },
          [&](const std::string& shown, const Error& why) {
            call_.complain(fmt::format("cannot read directory {}: {}", quote_operand(shown), reason(why)));
            status_ = 1;
          });
    } else {
      change(operand, *path, true);
    }
  }

 private:
  void change(const std::string& shown, const vfs::Path& path, bool argument) {
    auto stat = call_.fs().stat(path, argument ? vfs::Follow::yes : vfs::Follow::no);
    if (!stat) {
      if (!r_.silent)
        call_.complain(fmt::format("cannot access {}: {}", quote_operand(shown), reason(stat.error())));
      status_ = 1;
      return;
    }
    if (stat->is_symlink()) return;
    std::uint32_t mode = stat->mode;
    if (r_.has_reference)
      mode = r_.reference;
    else
      apply_mode(r_.spec, mode, stat->is_directory(), call_.umask());
    auto done = call_.fs().set_mode(path, mode);
    if (!done) {
      if (!r_.silent)
        call_.complain(
            fmt::format("changing permissions of {}: {}", quote_operand(shown), reason(done.error())));
      status_ = 1;
      return;
    }
    if (r_.verbose || (r_.changes && mode != stat->mode)) {
      auto text = [&](std::uint32_t m) { return mode_text(stat->type, m).substr(1); };
      call_.out().write(
          mode == stat->mode
              ? fmt::format("mode of {} retained as {:04o} ({})\n", quote_operand(shown), mode, text(mode))
              : fmt::format("mode of {} changed from {:04o} ({}) to {:04o} ({})\n", quote_operand(shown),
                            stat->mode, text(stat->mode), mode, text(mode)));
    }
  }

  Invocation& call_;
  const ModeRequest& r_;
  int status_ = 0;
};

}  // namespace

int run_chmod(Invocation& call) {
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  ModeRequest r;
  if (int status = read_mode_options(call, options, r)) return status;
  auto& operands = options.operands();
  if (!r.has_reference && r.spec.empty()) {
    if (operands.empty()) return usage_error(call, "missing operand");
    r.spec = operands.front();
    operands.erase(operands.begin());
  }
  if (operands.empty())
    return usage_error(call, r.spec.empty() ? "missing operand"
                                            : fmt::format("missing operand after {}", quote_operand(r.spec)));
  std::uint32_t probe = 0;
  if (!r.has_reference && !apply_mode(r.spec, probe, false, call.umask()))
    return usage_error(call, fmt::format("invalid mode: {}", quote_operand(r.spec)));
  ModeChanger changer(call, r);
  for (const std::string& operand : operands) changer.operand(operand);
  return changer.status();
}

namespace {

enum { kFrom = 512, kOwnerReference, kDereference, kKeepRoot, kLoseRoot };
constexpr Option kOwnerOptions[] = {
    {'c', 'c', "changes"},
    {'f', 'f', "silent"},
    {'f', 0, "quiet"},
    {'v', 'v', "verbose"},
    {'R', 'R', "recursive"},
    {'h', 'h', "no-dereference"},
    {kDereference, 0, "dereference"},
    {'H', 'H', ""},
    {'L', 'L', ""},
    {'P', 'P', ""},
    {kOwnerReference, 0, "reference", Arg::required},
    {kKeepRoot, 0, "preserve-root"},
    {kLoseRoot, 0, "no-preserve-root"},
    {kFrom, 0, "from", Arg::required},
};

struct OwnerRequest {
  bool group_only = false;  // chgrp
  bool recursive = false, verbose = false, changes = false, silent = false, links = false, keep_root = false;
  bool referenced = false;
  char through = 'P';
  std::optional<std::uint32_t> uid, gid, from_uid, from_gid;
  std::string spec;
};

// 0, or the status with which chown ends after a message.
int read_owner_options(Invocation& call, const CommandLine& options, OwnerRequest& r) {
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'R': r.recursive = true; break;
      case 'v': r.verbose = true; break;
      case 'c': r.changes = true; break;
      case 'f': r.silent = true; break;
      case 'h': r.links = true; break;
      case kDereference: r.links = false; break;
      case 'H':
      case 'L':
      case 'P': r.through = static_cast<char>(id); break;
      case kKeepRoot: r.keep_root = true; break;
      case kLoseRoot: r.keep_root = false; break;
      case kFrom:
        if (!parse_owners(call, value, false, r.from_uid, r.from_gid)) return 1;
        break;
      case kOwnerReference: {
        auto path = call.resolve(value);
        auto stat = path ? call.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
        if (!stat)
          return call.fail(
              fmt::format("failed to get attributes of {}: {}", quote_operand(value), reason(stat.error())));
        if (!r.group_only) r.uid = stat->uid;
        r.gid = stat->gid;
        r.referenced = true;
        break;
      }
      default: break;
    }
  }
  return 0;
}

// Changes owners as a request says. Goes on after what fails.
class OwnerChanger {
 public:
  OwnerChanger(Invocation& call, const OwnerRequest& r) : call_(call), r_(r) {}
  int status() const { return status_; }

  void operand(const std::string& operand) {
    auto failed = [&](const std::string& shown, const Error& why) {
      if (!r_.silent) call_.complain(fmt::format("cannot access {}: {}", quote_operand(shown), reason(why)));
      status_ = 1;
    };
    auto path = call_.resolve(operand);
    if (r_.recursive && r_.keep_root && path && path->is_root()) {
      status_ = refuse_root(call_);
      return;
    }
    if (!r_.recursive && path && call_.fs().find(*path, vfs::Follow::no)) {
      change(operand, *path, !r_.links);
      return;
    }
    auto stat = path ? call_.fs().find(*path, vfs::Follow::no) : std::nullopt;
    bool stays = stat && stat->is_symlink() && r_.through == 'P';
    walk(
        call_, operand, r_.through == 'L',
        [&](const Visit& visit) {
          change(visit.shown, visit.path, !r_.links && !(visit.depth == 0 && stays));
          return r_.recursive && !stays ? Step::into : Step::over;
        },
        failed);
  }

 private:
  void change(const std::string& shown, const vfs::Path& path, bool follow) {
    vfs::Follow way = follow ? vfs::Follow::yes : vfs::Follow::no;
    auto old = call_.fs().find(path, way);
    if (old && ((r_.from_uid && old->uid != *r_.from_uid) || (r_.from_gid && old->gid != *r_.from_gid)))
      return;
    auto done = call_.fs().set_owner(path, r_.uid, r_.gid, way);
    if (!done) {
      if (!r_.silent)
        call_.complain(fmt::format("cannot access {}: {}", quote_operand(shown), reason(done.error())));
      status_ = 1;
      return;
    }
    bool same = old && (!r_.uid || *r_.uid == old->uid) && (!r_.gid || *r_.gid == old->gid);
    std::string_view what = r_.group_only ? "group" : "ownership";
    if (same && r_.verbose)
      call_.out().write(fmt::format("{} of {} retained as {}\n", what, quote_operand(shown), r_.spec));
    if (!same && (r_.verbose || r_.changes))
      call_.out().write(fmt::format("changed {} of {} from {} to {}\n", what, quote_operand(shown),
                                    user_name(call_, r_.group_only ? old->gid : old->uid), r_.spec));
  }

  Invocation& call_;
  const OwnerRequest& r_;
  int status_ = 0;
};

}  // namespace

// Owners are kept for looks: all that this system's users may be is accepted.
int run_chown(Invocation& call) {
  OwnerRequest r;
  r.group_only = base_name(call.args()[0]) == "chgrp";
  std::span<const Option> table = kOwnerOptions;
  CommandLine options(call, r.group_only ? table.first(table.size() - 1) : table);
  if (options.stopped()) return options.status();
  if (int status = read_owner_options(call, options, r)) return status;
  auto& operands = options.operands();
  if (operands.empty()) return usage_error(call, "missing operand");
  if (operands.size() < 2 && !r.referenced)
    return usage_error(call, fmt::format("missing operand after {}", quote_operand(operands[0])));
  r.spec = r.referenced ? fmt::format("{}:{}", r.uid.value_or(0), r.gid.value_or(0)) : operands.front();
  if (!r.referenced && !parse_owners(call, r.spec, r.group_only, r.uid, r.gid)) return 1;
  OwnerChanger changer(call, r);
  for (std::size_t i = r.referenced ? 0 : 1; i < operands.size(); ++i) changer.operand(operands[i]);
  return changer.status();
}

}  // namespace atl::shell::chmod_program
