#include "vfs/copy.h"

#include <fmt/format.h>

#include <vector>

namespace atl::vfs {
namespace {

Result<Path> destination(const Path& from, FileSystem& target, const Path& to, const CopyOptions& options) {
  if (!options.into_directory || from.is_root() || !target.is_directory(to)) return to;
  return to.child(from.name());
}

// Checks one entry that is to be put where something may be; true if both are directories.
Result<bool> check_place(const Stat& info, FileSystem& target, const Path& to, Overwrite overwrite) {
  auto there = target.find(to, Follow::no);
  if (!there) return false;
  if (overwrite == Overwrite::no) return refuse(Code::already_exists, to);
  if (info.is_directory() && !there->is_directory()) return refuse(Code::not_a_directory, to);
  if (!info.is_directory() && there->is_directory()) return refuse(Code::is_a_directory, to);
  return info.is_directory();
}

Result<void> copy_special(FileSystem& source, const Path& from, const Stat& info, FileSystem& target,
                          const Path& to) {
  if (target.find(to, Follow::no)) TRY(target.remove_file(to));
  if (info.type == Type::fifo) return target.make_fifo(to, info.mode);
  auto link = TRY(source.read_link(from));
  return target.make_symlink(to, link);
}

Result<void> copy_one(FileSystem& source, const Path& from, const Stat& info, FileSystem& target,
                      const Path& to, const CopyOptions& options) {
  if (TRY(check_place(info, target, to, options.overwrite))) return {};
  if (info.is_directory()) return target.make_directory(to, info.mode);
  if (!info.is_file()) return copy_special(source, from, info, target, to);
  auto content = TRY(source.read(from));
  if (auto there = target.find(to, Follow::no); there && there->is_symlink()) TRY(target.remove_file(to));
  WriteOptions write;
  write.mode = info.mode;
  write.parents = Parents::must_exist;
  TRY(target.write(to, std::move(content), write));
  if (options.preserve_times) TRY(target.set_times(to, {info.accessed, info.modified}));
  return {};
}

Result<void> copy_tree(FileSystem& source, const Path& from, FileSystem& target, const Path& to,
                       const CopyOptions& options) {
  std::vector<std::pair<Path, Path>> pending{{from, to}};
  Follow follow = options.follow;
  while (!pending.empty()) {
    auto [here, there] = std::move(pending.back());
    pending.pop_back();
    auto info = TRY(source.stat(here, follow));
    follow = Follow::no;
    TRY(copy_one(source, here, info, target, there, options));
    if (!info.is_directory()) continue;
    auto listing = TRY(source.list(here));
    for (auto entry : listing) {
      Path below_here = TRY(here.child(entry.name));
      Path below_there = TRY(there.child(entry.name));
      pending.emplace_back(std::move(below_here), std::move(below_there));
    }
  }
  return {};
}

bool same_file(FileSystem& source, const Path& from, FileSystem& target, const Path& to) {
  if (&source != &target) return false;
  auto a = source.find(from, Follow::no), b = target.find(to, Follow::no);
  return a && b && a->inode == b->inode;
}

Result<bool> goes_into_itself(FileSystem& fs, const Path& from, const Path& place) {
  auto real_from = TRY(fs.real_path(from));
  if (place.is_root()) return real_from.is_root();
  auto real_parent = TRY(fs.real_path(place.parent()));
  auto real_place = TRY(real_parent.child(place.name()));
  return real_place.is_same_or_child_of(real_from);
}

}  // namespace

Result<Path> copy_between(FileSystem& source, const Path& from, FileSystem& target, const Path& to,
                          const CopyOptions& options) {
  auto info = TRY(source.stat(from, options.follow));
  auto place = TRY(destination(from, target, to, options));
  if (&source == &target && info.is_directory() && TRY(goes_into_itself(source, from, place)))
    return fail(Code::loop, fmt::format("{}: cannot copy a directory into itself", from.str()));
  if (same_file(source, from, target, place))
    return fail(Code::invalid_argument,
                fmt::format("{}: source and destination are the same file", place.str()));
  TRY(copy_tree(source, from, target, place, options));
  return place;
}

Result<Path> move_between(FileSystem& source, const Path& from, FileSystem& target, const Path& to,
                          const CopyOptions& options) {
  CopyOptions copying = options;
  copying.follow = Follow::no;
  copying.preserve_times = true;
  auto place = TRY(copy_between(source, from, target, to, copying));
  TRY(source.remove_all(from));
  return place;
}

Result<Path> move_within(FileSystem& fs, const Path& from, const Path& to, const CopyOptions& options) {
  TRY(fs.stat(from, Follow::no));
  if (from == to) return to;
  auto place = TRY(destination(from, fs, to, options));
  if (place == from) return place;
  if (fs.find(place, Follow::no) && options.overwrite == Overwrite::no)
    return refuse(Code::already_exists, place);
  TRY(fs.rename(from, place));
  return place;
}

}  // namespace atl::vfs
