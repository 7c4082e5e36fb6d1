#include "shell/commands/copying.h"

#include <fmt/format.h>

#include "shell/commands/file_names.h"
#include "shell/commands/text_io.h"
#include "shell/commands/walk.h"
#include "shell/programs.h"

namespace atl::shell {

namespace {

class Copier {
 public:
  Copier(Invocation& call, const CopySettings& settings, bool move) : call_(call), s_(settings), move_(move) {}

  bool one(const std::string& from, const std::string& to);

 private:
  bool blocked(const std::string& from, const std::string& to, const vfs::Stat& source, bool& skip);
  bool stream(const std::string& from, const std::string& to);
  bool tree(const std::string& from, const std::string& to, const vfs::Path& source, const vfs::Path& target);
  bool entry(const std::string& from, const std::string& to, const vfs::Path& source, const vfs::Path& target,
             bool follow);
  bool rename(const std::string& from, const std::string& to, const vfs::Path& source, const vfs::Path& target);
  void keep_attributes(const vfs::Stat& stat, const vfs::Path& target, bool link);
  bool complain(std::string message) {
    call_.complain(message);
    return false;
  }
  void say(const std::string& from, const std::string& to) {
    if (s_.verbose) call_.out().write(fmt::format("{}{} -> {}\n", move_ ? "renamed " : "", quoted(from), quoted(to)));
  }

  Invocation& call_;
  const CopySettings& s_;
  bool move_;
};

void Copier::keep_attributes(const vfs::Stat& stat, const vfs::Path& target, bool link) {
  vfs::Follow follow = link ? vfs::Follow::no : vfs::Follow::yes;
  vfs::Times times;
  times.modified = stat.modified;
  times.accessed = stat.accessed.value_or(stat.modified);
  // Best effort, as cp -p does with what it may not set.
  if (!link) (void)call_.fs().set_mode(target, stat.mode, follow);
  (void)call_.fs().set_times(target, times, follow);
}

// Whether something at the destination forbids it; `skip` when it is passed over in silence.
bool Copier::blocked(const std::string& from, const std::string& to, const vfs::Stat& source, bool& skip) {
  auto path = call_.resolve(to);
  if (!path) return !complain(fmt::format("cannot stat {}: {}", quoted(to), reason(path.error())));
  auto there = call_.fs().find(*path, vfs::Follow::no);
  if (!there) return false;
  if (there->type == vfs::Type::symlink && !move_) {
    if (auto followed = call_.fs().find(*path)) there = followed;
  }
  std::string_view verb = move_ ? "move" : "copy";
  if (there->inode == source.inode && there->inode != 0 && !s_.hard_links) {
    call_.complain(fmt::format("{} and {} are the same file", quoted(from), quoted(to)));
    return true;
  }
  if (!s_.clobber) {
    skip = true;
    return false;
  }
  if (s_.update && there->modified >= source.modified && !there->is_directory()) {
    skip = true;
    return false;
  }
  if (there->is_directory() && !source.is_directory()) {
    call_.complain(fmt::format("cannot overwrite directory {} with non-directory {}", quoted(to), quoted(from)));
    return true;
  }
  if (!there->is_directory() && source.is_directory()) {
    call_.complain(fmt::format("cannot overwrite non-directory {} with directory {}", quoted(to), quoted(from)));
    return true;
  }
  if (s_.ask && !there->is_directory()) {
    call_.err().write(fmt::format("{}: overwrite {}? ", call_.args()[0], quoted(to)));
    std::string answer;
    if (!call_.in().read_line(answer) || answer.empty() || (answer[0] != 'y' && answer[0] != 'Y')) {
      skip = true;
      return false;
    }
  }
  if (s_.backup && !there->is_directory()) {
    auto kept = call_.resolve(to + s_.suffix);
    if (kept) {
      auto renamed = call_.fs().rename(*path, *kept);
      if (!renamed) {
        call_.complain(fmt::format("cannot backup {}: {}", quoted(to), reason(renamed.error())));
        return true;
      }
    }
  }
  (void)verb;
  return false;
}

bool Copier::entry(const std::string& from, const std::string& to, const vfs::Path& source, const vfs::Path& target,
                   bool follow) {
  auto stat = call_.fs().stat(source, follow ? vfs::Follow::yes : vfs::Follow::no);
  if (!stat) return complain(fmt::format("cannot stat {}: {}", quoted(from), reason(stat.error())));
  bool skip = false;
  if (blocked(from, to, *stat, skip)) return false;
  if (skip) return true;
  Result<void> done;
  std::string_view what = "create regular file";
  if (s_.symbolic_links || s_.hard_links) {
    auto there = call_.fs().find(target, vfs::Follow::no);
    if (there && s_.force) (void)call_.fs().remove_file(target);
    what = s_.symbolic_links ? "create symbolic link" : "create hard link";
    done = s_.symbolic_links ? call_.fs().make_symlink(target, from) : call_.fs().make_link(source, target);
  } else if (stat->type == vfs::Type::symlink) {
    auto link = call_.fs().read_link(source);
    if (!link) return complain(fmt::format("cannot read symbolic link {}: {}", quoted(from), reason(link.error())));
    if (call_.fs().find(target, vfs::Follow::no)) (void)call_.fs().remove_file(target);
    what = "create symbolic link";
    done = call_.fs().make_symlink(target, *link);
  } else if (stat->type == vfs::Type::fifo) {
    what = "create fifo";
    done = call_.fs().make_fifo(target, stat->mode);
  } else {
    auto content = call_.fs().read(source);
    if (!content) return complain(fmt::format("cannot open {} for reading: {}", quoted(from), reason(content.error())));
    vfs::WriteOptions options;
    options.mode = stat->mode & 0777 & ~(s_.preserve ? 0U : call_.umask());
    options.parents = vfs::Parents::must_exist;
    auto link = call_.fs().find(target, vfs::Follow::no);
    if (link && link->is_symlink() && !call_.fs().find(target))
      return complain(fmt::format("not writing through dangling symlink {}", quoted(to)));
    done = call_.fs().write(target, std::move(*content), options);
  }
  if (!done) return complain(fmt::format("cannot {} {}: {}", what, quoted(to), reason(done.error())));
  if (s_.preserve) keep_attributes(*stat, target, stat->type == vfs::Type::symlink);
  say(from, to);
  return true;
}

// A device or an open descriptor: its bytes, as long as there are any.
bool Copier::stream(const std::string& from, const std::string& to) {
  auto in = call_.open_input(from);
  if (!in) return complain(fmt::format("cannot open {} for reading: {}", quoted(from), reason(in.error())));
  auto out = call_.open_output(to, false);
  if (!out) return complain(fmt::format("cannot create regular file {}: {}", quoted(to), reason(out.error())));
  for (std::string_view block = (*in)->fill(); !block.empty(); block = (*in)->fill()) {
    call_.charge(block.size() / 16 + 1);
    std::size_t size = block.size();
    if (!(*out)->write(block)) return complain(fmt::format("error writing {}: {}", quoted(to), (*out)->error()));
    (*in)->consume(size);
  }
  say(from, to);
  return true;
}

bool Copier::tree(const std::string& from, const std::string& to, const vfs::Path& source, const vfs::Path& target) {
  auto real_source = call_.fs().real_path(source);
  auto real_parent = call_.fs().real_path(target.parent());
  if (real_source && real_parent) {
    auto real_target = real_parent->child(target.name());
    if (real_target && real_target->is_same_or_child_of(*real_source))
      return complain(fmt::format("cannot copy a directory, {}, into itself, {}", quoted(from), quoted(to)));
  }
  bool good = true;
  std::vector<std::pair<vfs::Stat, vfs::Path>> made;
  walk(call_, from, s_.follow_inside,
       [&](const Visit& visit) {
         std::string tail = visit.shown.substr(std::min(from.size(), visit.shown.size()));
         while (tail.starts_with('/')) tail.erase(0, 1);
         std::string shown = tail.empty() ? to : join_shown(to, tail);
         auto path = call_.resolve(shown);
         if (!path) {
           good = complain(fmt::format("cannot create {}: {}", quoted(shown), reason(path.error())));
           return Step::over;
         }
         if (visit.type != vfs::Type::directory) {
           good &= entry(visit.shown, shown, visit.path, *path, s_.follow_inside);
           return Step::over;
         }
         auto stat = call_.fs().find(visit.path);
         auto there = call_.fs().find(*path);
         if (there && !there->is_directory()) {
           good = complain(fmt::format("cannot overwrite non-directory {} with directory {}", quoted(shown), quoted(visit.shown)));
           return Step::over;
         }
         if (!there) {
           auto done = call_.fs().make_directory(*path, ((stat ? stat->mode : 0755) & 0777 & ~(s_.preserve ? 0U : call_.umask())) | 0700);
           if (!done) {
             good = complain(fmt::format("cannot create directory {}: {}", quoted(shown), reason(done.error())));
             return Step::over;
           }
           say(visit.shown, shown);
         }
         if (stat && s_.preserve) made.emplace_back(*stat, *path);
         return Step::into;
       },
       [&](const std::string& shown, const Error& why) {
         good = complain(fmt::format("cannot access {}: {}", quoted(shown), reason(why)));
       });
  for (auto it = made.rbegin(); it != made.rend(); ++it) keep_attributes(it->first, it->second, false);
  return good;
}

bool Copier::rename(const std::string& from, const std::string& to, const vfs::Path& source, const vfs::Path& target) {
  auto stat = call_.fs().stat(source, vfs::Follow::no);
  if (!stat) return complain(fmt::format("cannot stat {}: {}", quoted(from), reason(stat.error())));
  bool skip = false;
  if (blocked(from, to, *stat, skip)) return false;
  if (skip) return true;
  auto done = call_.fs().rename(source, target);
  if (!done) {
    if (done.error().code() == Code::loop)
      return complain(fmt::format("cannot move {} to a subdirectory of itself, {}", quoted(from), quoted(to)));
    return complain(fmt::format("cannot move {} to {}: {}", quoted(from), quoted(to), reason(done.error())));
  }
  say(from, to);
  return true;
}

bool Copier::one(const std::string& from, const std::string& to) {
  auto source = call_.resolve(from);
  auto target = call_.resolve(to);
  if (!source) return complain(fmt::format("cannot stat {}: {}", quoted(from), reason(source.error())));
  if (!target) return complain(fmt::format("cannot stat {}: {}", quoted(to), reason(target.error())));
  if (move_) {
    if (to.ends_with('/')) {
      auto stat = call_.fs().find(*source, vfs::Follow::no);
      auto there = call_.fs().find(*target);
      if (stat && !stat->is_directory() && !there)
        return complain(fmt::format("cannot move {} to {}: Not a directory", quoted(from), quoted(to)));
    }
    return rename(from, to, *source, *target);
  }
  if (!s_.recursive && (is_stream(from) || is_stream(to))) return stream(from, to);
  bool follow = s_.follow && !(s_.recursive && !s_.follow_inside);
  auto stat = call_.fs().stat(*source, follow ? vfs::Follow::yes : vfs::Follow::no);
  if (!stat) return complain(fmt::format("cannot stat {}: {}", quoted(from), reason(stat.error())));
  if (stat->is_directory()) {
    if (!s_.recursive) return complain(fmt::format("-r not specified; omitting directory {}", quoted(from)));
    return tree(from, to, *source, *target);
  }
  if (to.ends_with('/') && !call_.fs().find(*target))
    return complain(fmt::format("cannot create regular file {}: Not a directory", quoted(to)));
  return entry(from, to, *source, *target, follow);
}

}  // namespace

int copy_operands(Invocation& call, std::vector<std::string> operands, const CopySettings& s, bool move) {
  if (operands.empty()) return usage_error(call, "missing file operand");
  std::string target = s.target_directory;
  if (target.empty()) {
    if (operands.size() < 2)
      return usage_error(call, fmt::format("missing destination file operand after {}", quoted(operands[0])));
    target = operands.back();
    operands.pop_back();
  }
  auto path = call.resolve(target);
  auto stat = path ? call.fs().find(*path) : std::nullopt;
  bool directory = stat && stat->is_directory() && !s.no_target_directory;
  if (!directory && (operands.size() > 1 || !s.target_directory.empty())) {
    if (s.no_target_directory) return usage_error(call, fmt::format("extra operand {}", quoted(operands[1])));
    return call.fail(fmt::format("target {}: {}", quoted(target), stat ? "Not a directory" : "No such file or directory"));
  }
  Copier copier(call, s, move);
  bool good = true;
  for (const std::string& from : operands) {
    call.charge(1);
    if (!directory) {
      good &= copier.one(from, target);
      continue;
    }
    std::string_view name = s.parents ? std::string_view(from) : base_name(from);
    if (s.parents) {
      std::string up(dir_name(from));
      auto parent = call.resolve(join_shown(target, up));
      if (parent) (void)call.fs().make_directory(*parent, 0755, vfs::Parents::create);
      while (name.starts_with('/')) name.remove_prefix(1);
    }
    std::string to = name == "." || name == ".." ? target : join_shown(target, name);
    good &= copier.one(from, to);
  }
  return good ? 0 : 1;
}

}  // namespace atl::shell
