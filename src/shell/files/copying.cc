#include "shell/files/copying.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "shell/arguments/usage.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/files/walk.h"
#include "shell/programs.h"
#include "shell/text/quotes.h"

namespace atl::shell {

namespace {

using Links = CopySettings::Links;

class Copier {
 public:
  Copier(Invocation& call, const CopySettings& settings, bool move)
      : call_(call), s_(settings), move_(move) {}

  bool one(const std::string& from, const std::string& to);
  // --parents: the directories between the target and the file, with the attributes of those they stand for.
  bool make_parents(const std::string& target, const std::string& from);

 private:
  // What becomes of one source: done with it, passed over in silence, or to be carried out.
  enum class Verdict : unsigned char { go_on, skip, refuse };

  Verdict may_replace(const std::string& from, const std::string& to, const vfs::Stat& source);
  Verdict same_file(const std::string& from, const std::string& to, const vfs::Path& target);
  bool keep_backup(const std::string& from, const std::string& to, const vfs::Stat& source,
                   const vfs::Path& target);
  bool stream(const std::string& from, const std::string& to);
  bool tree(const std::string& from, const std::string& to, const vfs::Path& source, const vfs::Path& target);
  bool entry(const std::string& from, const std::string& to, const vfs::Path& source, const vfs::Path& target,
             bool follow);
  bool link_entry(const std::string& from, const std::string& to, const vfs::Path& source,
                  const vfs::Path& target);
  Result<void> write_file(const vfs::Path& source, const vfs::Path& target, const vfs::Stat& stat);
  bool rename(const std::string& from, const std::string& to, const vfs::Path& source,
              const vfs::Path& target);
  bool repeated(const std::string& from, const std::string& to, const vfs::Stat& stat,
                const vfs::Path& target);
  void keep_attributes(const vfs::Stat& stat, const vfs::Path& target);
  std::uint32_t mode_for(std::uint32_t mode, std::uint32_t fresh) const {
    if (s_.keep_mode) return mode & 07777;
    return (s_.plain_mode ? fresh : mode & 0777) & ~call_.umask();
  }
  bool complain(std::string message) {
    call_.complain(message);
    return false;
  }
  void say(const std::string& from, const std::string& to) {
    std::string kept = std::exchange(kept_as_, {});
    if (!s_.verbose) return;
    call_.out().write(fmt::format("{}{} -> {}{}\n", move_ ? "renamed " : "", quote_operand(from),
                                  quote_operand(to),
                                  kept.empty() ? "" : fmt::format(" (backup: {})", quote_operand(kept))));
  }

  Invocation& call_;
  const CopySettings& s_;
  bool move_;
  std::string kept_as_;                        // where the backup of the file at hand went
  std::map<std::uint64_t, vfs::Path> copies_;  // of files with several names, by inode (--preserve=links)
  std::set<std::uint64_t> sources_;            // named as operands so far
  std::set<std::string> made_;                 // what operands became so far
};

void Copier::keep_attributes(const vfs::Stat& stat, const vfs::Path& target) {
  bool link = stat.is_symlink();
  vfs::Follow follow = link ? vfs::Follow::no : vfs::Follow::yes;
  // Best effort, as cp -p does with what it may not set.
  if (s_.keep_owner) (void)call_.fs().set_owner(target, stat.uid, stat.gid, follow);
  if (s_.keep_mode && !link) (void)call_.fs().set_mode(target, stat.mode, follow);
  if (s_.keep_times)
    (void)call_.fs().set_times(target, {stat.accessed.value_or(stat.modified), stat.modified}, follow);
}

// cp -f -b of a file onto itself makes the backup only.
Copier::Verdict Copier::same_file(const std::string& from, const std::string& to, const vfs::Path& target) {
  if (s_.hard_links) return Verdict::skip;
  if (!move_ && s_.force && s_.backup.wanted()) {
    std::string name = s_.backup.name_for(call_, to);
    auto kept = call_.resolve(name);
    auto content = call_.fs().read(target);
    if (kept && content && call_.fs().write(*kept, std::move(*content))) {
      say(from, name);
      return Verdict::skip;
    }
  }
  complain(fmt::format("{} and {} are the same file", quote_operand(from), quote_operand(to)));
  return Verdict::refuse;
}

bool Copier::keep_backup(const std::string& from, const std::string& to, const vfs::Stat& source,
                         const vfs::Path& target) {
  std::string name = s_.backup.name_for(call_, to);
  auto kept = call_.resolve(name);
  if (!kept) return complain(fmt::format("cannot backup {}: {}", quote_operand(to), reason(kept.error())));
  if (auto there = call_.fs().find(*kept, vfs::Follow::no); there && there->inode == source.inode)
    return complain(fmt::format("backing up {} might destroy source;  {} not {}", quote_operand(to),
                                quote_operand(from), move_ ? "moved" : "copied"));
  auto renamed = call_.fs().rename(target, *kept);
  if (!renamed)
    return complain(fmt::format("cannot backup {}: {}", quote_operand(to), reason(renamed.error())));
  kept_as_ = name;
  return true;
}

Copier::Verdict Copier::may_replace(const std::string& from, const std::string& to, const vfs::Stat& source) {
  kept_as_.clear();
  auto path = call_.resolve(to);
  if (!path)
    return complain(fmt::format("cannot stat {}: {}", quote_operand(to), reason(path.error()))),
           Verdict::refuse;
  auto there = call_.fs().find(*path, vfs::Follow::no);
  if (!there) return Verdict::go_on;
  bool link = there->type == vfs::Type::symlink;
  if (link && !move_ && !s_.remove_destination && !s_.backup.wanted())
    // cp writes through a link at its target, mv replaces the link.
    if (auto followed = call_.fs().find(*path)) there = followed;
  if (there->inode == source.inode && there->inode != 0) return same_file(from, to, *path);
  if (!s_.clobber) return Verdict::skip;
  if (s_.update && there->modified >= source.modified && !there->is_directory()) return Verdict::skip;
  bool moves_aside = move_ && s_.backup.wanted();
  if (there->is_directory() && !source.is_directory() && !moves_aside)
    return complain(fmt::format("cannot overwrite directory {} with non-directory", quote_operand(to))),
           Verdict::refuse;
  if (!there->is_directory() && source.is_directory() && !moves_aside)
    return complain(fmt::format("cannot overwrite non-directory {} with directory {}", quote_operand(to),
                                quote_operand(from))),
           Verdict::refuse;
  if (s_.ask && !there->is_directory()) {
    call_.err().write(fmt::format("{}: overwrite {}? ", call_.args()[0], quote_operand(to)));
    std::string answer;
    if (!call_.in().read_line(answer) || answer.empty() || (answer[0] != 'y' && answer[0] != 'Y'))
      return Verdict::skip;
  }
  if (s_.backup.wanted() && (move_ || !there->is_directory()))
    return keep_backup(from, to, source, *path) ? Verdict::go_on : Verdict::refuse;
  bool removes = s_.remove_destination || (s_.force && (s_.hard_links || s_.symbolic_links));
  if (!move_ && removes && !there->is_directory()) {
    auto removed = call_.fs().remove_file(*path);
    if (!removed)
      return complain(fmt::format("cannot remove {}: {}", quote_operand(to), reason(removed.error()))),
             Verdict::refuse;
    if (s_.verbose) call_.out().write(fmt::format("removed {}\n", quote_operand(to)));
  }
  return Verdict::go_on;
}

bool Copier::link_entry(const std::string& from, const std::string& to, const vfs::Path& source,
                        const vfs::Path& target) {
  if (s_.symbolic_links && !from.starts_with('/') && dir_name(to) != ".") {
    auto parent = call_.fs().find(target.parent()), here = call_.fs().find(call_.cwd());
    if (!parent || !here || parent->inode != here->inode)
      return complain(fmt::format("{}: can make relative symbolic links only in current directory", to));
  }
  auto done =
      s_.symbolic_links ? call_.fs().make_symlink(target, from) : call_.fs().make_link(source, target);
  if (!done)
    return complain(s_.symbolic_links
                        ? fmt::format("cannot create symbolic link {} to {}: {}", quote_operand(to),
                                      quote_operand(from), reason(done.error()))
                        : fmt::format("cannot create hard link {} to {}: {}", quote_operand(to),
                                      quote_operand(from), reason(done.error())));
  say(from, to);
  return true;
}

Result<void> Copier::write_file(const vfs::Path& source, const vfs::Path& target, const vfs::Stat& stat) {
  vfs::WriteOptions options;
  options.mode = mode_for(stat.mode, 0666);
  options.parents = vfs::Parents::must_exist;
  if (s_.attributes_only)
    return call_.fs().exists(target) ? Result<void>() : call_.fs().write(target, vfs::Content(), options);
  return call_.fs().write(target, TRY(call_.fs().read(source)), options);
}

bool Copier::entry(const std::string& from, const std::string& to, const vfs::Path& source,
                   const vfs::Path& target, bool follow) {
  auto stat = call_.fs().stat(source, follow ? vfs::Follow::yes : vfs::Follow::no);
  if (!stat) return complain(fmt::format("cannot stat {}: {}", quote_operand(from), reason(stat.error())));
  if (Verdict verdict = may_replace(from, to, *stat); verdict != Verdict::go_on)
    return verdict == Verdict::skip;
  if (s_.symbolic_links || s_.hard_links)
    return link_entry(from, to, follow ? call_.fs().real_path(source).value_or(source) : source, target);
  if (s_.keep_links && stat->links > 1 && !stat->is_directory()) {
    auto [copy, fresh] = copies_.emplace(stat->inode, target);
    if (!fresh) {
      (void)call_.fs().remove_file(target);
      auto done = call_.fs().make_link(copy->second, target);
      if (!done)
        return complain(fmt::format("cannot create hard link {} to {}: {}", quote_operand(to),
                                    quote_operand(from), reason(done.error())));
      say(from, to);
      return true;
    }
  }
  Result<void> done;
  std::string_view what = "create regular file";
  if (stat->type == vfs::Type::symlink) {
    auto link = call_.fs().read_link(source);
    if (!link)
      return complain(
          fmt::format("cannot read symbolic link {}: {}", quote_operand(from), reason(link.error())));
    if (call_.fs().find(target, vfs::Follow::no)) (void)call_.fs().remove_file(target);
    what = "create symbolic link";
    done = call_.fs().make_symlink(target, *link);
  } else if (stat->type == vfs::Type::fifo) {
    what = "create fifo";
    done = call_.fs().make_fifo(target, mode_for(stat->mode, 0666));
  } else {
    auto link = call_.fs().find(target, vfs::Follow::no);
    if (link && link->is_symlink() && !call_.fs().find(target))
      return complain(fmt::format("not writing through dangling symlink {}", quote_operand(to)));
    done = write_file(source, target, *stat);
  }
  if (!done) return complain(fmt::format("cannot {} {}: {}", what, quote_operand(to), reason(done.error())));
  keep_attributes(*stat, target);
  say(from, to);
  return true;
}

// A device or an open descriptor: its bytes, as long as there are any.
bool Copier::stream(const std::string& from, const std::string& to) {
  auto in = call_.open_input(from);
  if (!in)
    return complain(fmt::format("cannot open {} for reading: {}", quote_operand(from), reason(in.error())));
  auto out = call_.open_output(to, false);
  if (!out)
    return complain(fmt::format("cannot create regular file {}: {}", quote_operand(to), reason(out.error())));
  for (std::string_view block = (*in)->fill(); !block.empty(); block = (*in)->fill()) {
    call_.charge(block.size() / 16 + 1);
    std::size_t size = block.size();
    if (!(*out)->write(block))
      return complain(fmt::format("error writing {}: {}", quote_operand(to), (*out)->error()));
    (*in)->consume(size);
  }
  say(from, to);
  return true;
}

bool Copier::tree(const std::string& from, const std::string& to, const vfs::Path& source,
                  const vfs::Path& target) {
  auto real_source = call_.fs().real_path(source);
  auto real_parent = call_.fs().real_path(target.parent());
  if (real_source && real_parent) {
    auto real_target = real_parent->child(target.name());
    if (real_target && real_target->is_same_or_child_of(*real_source))
      return complain(fmt::format("cannot copy a directory, {}, into itself, {}", quote_operand(from),
                                  quote_operand(to)));
  }
  bool good = true, follow = s_.links == Links::follow;
  std::vector<std::pair<vfs::Stat, vfs::Path>> made;
  walk(
      call_, from, follow,
      [&](const Visit& visit) {
        std::string tail = visit.shown.substr(std::min(from.size(), visit.shown.size()));
        while (tail.starts_with('/')) tail.erase(0, 1);
        std::string shown = tail.empty() ? to : join_shown(to, tail);
        auto path = call_.resolve(shown);
        if (!path) {
          good = complain(fmt::format("cannot create {}: {}", quote_operand(shown), reason(path.error())));
          return Step::over;
        }
        if (visit.type != vfs::Type::directory) {
          good &= entry(visit.shown, shown, visit.path, *path, follow);
          return Step::over;
        }
        auto stat = call_.fs().find(visit.path);
        auto there = call_.fs().find(*path);
        if (there && !there->is_directory()) {
          good = complain(fmt::format("cannot overwrite non-directory {} with directory {}",
                                      quote_operand(shown), quote_operand(visit.shown)));
          return Step::over;
        }
        if (!there) {
          auto done = call_.fs().make_directory(*path, mode_for(stat ? stat->mode : 0755, 0777) | 0700);
          if (!done) {
            good = complain(
                fmt::format("cannot create directory {}: {}", quote_operand(shown), reason(done.error())));
            return Step::over;
          }
          say(visit.shown, shown);
        }
        if (stat) made.emplace_back(*stat, *path);
        return Step::into;
      },
      [&](const std::string& shown, const Error& why) {
        good = complain(fmt::format("cannot access {}: {}", quote_operand(shown), reason(why)));
      });
  for (auto it = made.rbegin(); it != made.rend(); ++it) keep_attributes(it->first, it->second);
  return good;
}

bool Copier::rename(const std::string& from, const std::string& to, const vfs::Path& source,
                    const vfs::Path& target) {
  auto stat = call_.fs().stat(source, vfs::Follow::no);
  if (!stat) return complain(fmt::format("cannot stat {}: {}", quote_operand(from), reason(stat.error())));
  if (repeated(from, to, *stat, target)) return false;
  if (Verdict verdict = may_replace(from, to, *stat); verdict != Verdict::go_on)
    return verdict == Verdict::skip;
  auto done = call_.fs().rename(source, target);
  if (!done) {
    if (done.error().code() == Code::loop)
      return complain(fmt::format("cannot move {} to a subdirectory of itself, {}", quote_operand(from),
                                  quote_operand(to)));
    return complain(fmt::format("cannot move {} to {}: {}", quote_operand(from), quote_operand(to),
                                reason(done.error())));
  }
  say(from, to);
  return true;
}

// A second operand of one call that would undo what the first became.
bool Copier::repeated(const std::string& from, const std::string& to, const vfs::Stat& stat,
                      const vfs::Path& target) {
  bool fresh = made_.insert(target.str()).second;
  if (fresh || stat.is_directory()) return false;
  complain(fmt::format("will not overwrite just-created {} with {}", quote_operand(to), quote_operand(from)));
  return true;
}

bool Copier::one(const std::string& from, const std::string& to) {
  auto source = call_.resolve(from);
  auto target = call_.resolve(to);
  if (!source)
    return complain(fmt::format("cannot stat {}: {}", quote_operand(from), reason(source.error())));
  if (!target) return complain(fmt::format("cannot stat {}: {}", quote_operand(to), reason(target.error())));
  if (move_) {
    if (to.ends_with('/')) {
      auto stat = call_.fs().find(*source, vfs::Follow::no);
      auto there = call_.fs().find(*target);
      if (stat && !stat->is_directory() && !there)
        return complain(
            fmt::format("cannot move {} to {}: Not a directory", quote_operand(from), quote_operand(to)));
    }
    return rename(from, to, *source, *target);
  }
  if (!s_.recursive && (is_stream(from) || is_stream(to))) return stream(from, to);
  bool follow = s_.links != Links::keep;
  auto stat = call_.fs().stat(*source, follow ? vfs::Follow::yes : vfs::Follow::no);
  if (!stat) return complain(fmt::format("cannot stat {}: {}", quote_operand(from), reason(stat.error())));
  if (stat->is_directory()) {
    if (!s_.recursive)
      return complain(fmt::format("-r not specified; omitting directory {}", quote_operand(from)));
    if (!sources_.insert(stat->inode).second) {
      call_.complain(
          fmt::format("warning: source directory {} specified more than once", quote_operand(from)));
      return true;
    }
    return tree(from, to, *source, *target);
  }
  if (to.ends_with('/') && !call_.fs().find(*target))
    return complain(fmt::format("cannot create regular file {}: Not a directory", quote_operand(to)));
  if (made_.count(target->str()) && !sources_.insert(stat->inode).second) {
    call_.complain(fmt::format("warning: source file {} specified more than once", quote_operand(from)));
    return true;
  }
  sources_.insert(stat->inode);
  if (repeated(from, to, *stat, *target)) return false;
  return entry(from, to, *source, *target, follow);
}

bool Copier::make_parents(const std::string& target, const std::string& from) {
  std::string_view up = dir_name(from);
  if (up == "." || up == "/") return true;
  std::string shown = target, original = from.starts_with('/') ? "/" : "";
  for (auto part = vfs::next_component(up); !part.empty(); part = vfs::next_component(up)) {
    shown = join_shown(shown, part);
    original += (original.empty() || original.ends_with('/') ? "" : "/") + std::string(part);
    auto path = call_.resolve(shown), source = call_.resolve(original);
    if (!path || !source)
      return complain(fmt::format("cannot make directory {}: {}", quote_operand(shown),
                                  reason(path ? source.error() : path.error())));
    auto stat = call_.fs().stat(*source);
    if (!stat)
      return complain(
          fmt::format("failed to get attributes of {}: {}", quote_operand(original), reason(stat.error())));
    auto there = call_.fs().find(*path);
    if (there && !there->is_directory())
      return complain(fmt::format("{} exists but is not a directory", quote_operand(shown)));
    if (there) continue;
    auto made = call_.fs().make_directory(*path, mode_for(stat->mode, 0777) | 0700);
    if (!made)
      return complain(
          fmt::format("cannot make directory {}: {}", quote_operand(shown), reason(made.error())));
    keep_attributes(*stat, *path);
    if (s_.verbose) call_.out().write(fmt::format("{} -> {}\n", original, shown));
  }
  return true;
}

std::string without_slashes(std::string text) {
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace

int copy_operands(Invocation& call, std::vector<std::string> operands, const CopySettings& s, bool move) {
  if (operands.empty()) return usage_error(call, "missing file operand");
  if (s.hard_links && s.symbolic_links) return usage_error(call, "cannot make both hard and symbolic links");
  if (s.backup.wanted() && !s.clobber)
    return usage_error(call, "options --backup and --no-clobber are mutually exclusive");
  if (!s.target_directory.empty() && s.no_target_directory)
    return call.fail("cannot combine --target-directory (-t) and --no-target-directory (-T)");
  std::string target = s.target_directory;
  if (target.empty()) {
    if (operands.size() < 2)
      return usage_error(
          call, fmt::format("missing destination file operand after {}", quote_operand(operands[0])));
    target = operands.back();
    operands.pop_back();
  }
  auto path = call.resolve(target);
  auto stat = path ? call.fs().find(*path) : std::nullopt;
  bool directory = stat && stat->is_directory() && !s.no_target_directory;
  if (!directory && (operands.size() > 1 || !s.target_directory.empty())) {
    if (s.no_target_directory)
      return usage_error(
          call, fmt::format("extra operand {}",
                            quote_operand(operands.size() > 1 ? (operands.size() > 2 ? operands[2] : target)
                                                              : target)));
    return call.fail(fmt::format("target {}: {}", quote_operand(target),
                                 stat ? "Not a directory" : "No such file or directory"));
  }
  if (!directory && s.parents)
    return usage_error(call, "with --parents, the destination must be a directory");
  Copier copier(call, s, move);
  bool good = true;
  for (const std::string& given : operands) {
    call.charge(1);
    std::string from = s.strip_slashes ? without_slashes(given) : given;
    if (!directory) {
      good &= copier.one(from, target);
      continue;
    }
    if (s.parents && !copier.make_parents(target, from)) {
      good = false;
      continue;
    }
    std::string_view name = s.parents ? std::string_view(from) : base_name(from);
    while (s.parents && name.starts_with('/')) name.remove_prefix(1);
    std::string to = name == "." || name == ".." ? target : join_shown(target, name);
    good &= copier.one(from, to);
  }
  return good ? 0 : 1;
}

}  // namespace atl::shell
