#include "vfs/mount_file_system.h"

#include "vfs/copy.h"

namespace atl::vfs {
MountFileSystem::MountFileSystem(std::shared_ptr<FileSystem> base, Access access) {
  parts_.push_back({Path(), std::move(base), access});
}

Result<void> MountFileSystem::mount(const Path& at, std::shared_ptr<FileSystem> fs, Access access) {
  if (at.is_root()) return refuse(Code::invalid_argument, at);
  if (!is_directory(at)) TRY(make_directory(at, 0755, Parents::create));
  // Mounts are found by physical paths, so a link on the way to this one must not hide it.
  auto place = TRY(real_path(at));
  parts_.push_back({place, std::move(fs), access});
  return {};
}

const MountFileSystem::Part& MountFileSystem::part_of(const Path& path) const {
  const Part* best = &parts_[0];
  for (const Part& part : parts_)
    // The deepest wins; of two at one place the later, as with mount(2).
    if (path.is_same_or_child_of(part.at) && part.at.str().size() >= best->at.str().size()) best = &part;
  return *best;
}

MountFileSystem::Spot MountFileSystem::spot(const Path& physical) const {
  const Part& part = part_of(physical);
  return {&part, physical, physical.relative_to(part.at)};
}

std::uint64_t MountFileSystem::inode(const Part& part, std::uint64_t number) const {
  // Files of two mounts must not look like one file, which tar and cp take for a hard link. Parts are only
  // added, so a position says which.
  return number ^ (static_cast<std::uint64_t>(&part - parts_.data()) << 48);
}

Result<MountFileSystem::Spot> MountFileSystem::locate(const Path& path, Follow follow) const {
  std::string rest = path.str();
  Path here;
  int links = 0;
  while (true) {
    std::string_view view = rest;
    std::string component(next_component(view));
    std::string behind(view);
    if (component.empty()) return spot(here);
    if (component == "." || component == "..") {
      if (component == "..") here = here.parent();
      rest = behind;
      continue;
    }
    bool last = behind.find_first_not_of('/') == std::string::npos;
    Spot next = spot(TRY(here.child(component)));
    auto info = next.part->fs->find(next.inside, Follow::no);
    // The last component need not exist: whoever creates it asks where.
    if (!info && last) return next;
    if (!info) return refuse(Code::not_found, path);
    if (info->is_symlink() && (!last || follow == Follow::yes)) {
      if (++links > kLinksFollowedMax) return refuse(Code::loop, path);
      auto target = TRY(next.part->fs->read_link(next.inside));
      // From the root of all mounts, not of the one that holds the link.
      if (target.starts_with('/')) here = Path();
      rest = target + "/" + behind;
      continue;
    }
    if (!last && !info->is_directory()) return refuse(Code::not_a_directory, path);
    here = std::move(next.outside);
    rest = behind;
  }
}

Result<MountFileSystem::Spot> MountFileSystem::locate_for_change(const Path& path, Follow follow) const {
  auto where = TRY(locate(path, follow));
  if (where.part->access == Access::read_only) return refuse(Code::read_only, path);
  return where;
}

Result<void> MountFileSystem::check_not_mounted(const Path& physical) const {
  for (const Part& part : parts_)
    if (!part.at.is_root() && part.at.is_same_or_child_of(physical)) return refuse(Code::conflict, physical);
  return {};
}

Result<Stat> MountFileSystem::stat(const Path& path, Follow follow) const {
  auto where = TRY(locate(path, follow));
  auto info = TRY(where.part->fs->stat(where.inside, Follow::no));
  info.inode = inode(*where.part, info.inode);
  return info;
}

std::optional<Stat> MountFileSystem::find(const Path& path, Follow follow) const {
  auto where = locate(path, follow);
  if (!where) return std::nullopt;
  auto info = where->part->fs->find(where->inside, Follow::no);
  if (info) info->inode = inode(*where->part, info->inode);
  return info;
}

Result<Listing> MountFileSystem::list(const Path& directory) const {
  auto where = TRY(locate(directory, Follow::yes));
  auto inner = TRY(where.part->fs->list(where.inside));
  if (parts_.size() == 1) return inner;
  Listing out;
  for (auto entry : inner) {
    const Part* part = where.part;
    std::uint64_t number = entry.inode;
    if (auto path = where.outside.child(entry.name))
      // A mount point is listed with the number of what is mounted there, as stat() shows it.
      if (Spot below = spot(*path); below.inside.is_root() && below.part != part)
        if (auto info = below.part->fs->find(below.inside)) part = below.part, number = info->inode;
    out.add(entry.name, entry.type, inode(*part, number));
  }
  return out;
}

Result<Content> MountFileSystem::read(const Path& path) const {
  auto where = TRY(locate(path, Follow::yes));
  return where.part->fs->read(where.inside);
}

Result<std::unique_ptr<File>> MountFileSystem::open(const Path& path, const OpenOptions& options) {
  if (options.create && options.parents == Parents::create && !path.is_root() && !exists(path.parent()))
    TRY(make_directory(path.parent(), 0755, Parents::create));
  bool changes = options.write || options.append || options.create;
  // O_EXCL: a link in the place is something that exists, wherever it leads.
  Follow follow = options.create && options.exclusive ? Follow::no : options.follow;
  auto where = TRY(locate(path, follow));
  if (changes && where.part->access == Access::read_only) return refuse(Code::read_only, path);
  return where.part->fs->open(where.inside, options);
}

Result<void> MountFileSystem::write(const Path& path, Content content, const WriteOptions& options) {
  if (options.parents == Parents::create && !path.is_root() && !exists(path.parent())) {
    auto made = make_directory(path.parent(), 0755, Parents::create);
    if (!made && made.error().code() == Code::already_exists) return refuse(Code::not_a_directory, path);
    TRY(made);
  }
  auto where = TRY(locate_for_change(path, Follow::yes));
  return where.part->fs->write(where.inside, std::move(content), options);
}

Result<void> MountFileSystem::make_directory(const Path& path, std::uint32_t mode, Parents parents) {
  if (parents == Parents::create) {
    if (auto found = find(path)) {
      if (found->is_directory()) return {};
      return refuse(Code::already_exists, path);
    }
    auto above = make_directory(path.parent(), 0755, Parents::create);
    if (!above && above.error().code() == Code::already_exists) return refuse(Code::not_a_directory, path);
    if (!above) return above;
  }
  auto where = TRY(locate_for_change(path, Follow::no));
  return where.part->fs->make_directory(where.inside, mode);
}

Result<void> MountFileSystem::make_fifo(const Path& path, std::uint32_t mode) {
  auto where = TRY(locate_for_change(path, Follow::no));
  return where.part->fs->make_fifo(where.inside, mode);
}

Result<void> MountFileSystem::make_symlink(const Path& path, std::string_view target) {
  auto where = TRY(locate_for_change(path, Follow::no));
  return where.part->fs->make_symlink(where.inside, target);
}

Result<void> MountFileSystem::make_link(const Path& existing, const Path& path) {
  auto from = TRY(locate(existing, Follow::no));
  auto to = TRY(locate_for_change(path, Follow::no));
  // EXDEV: a hard link cannot lead into another filesystem.
  if (from.part != to.part) return refuse(Code::unsupported, path);
  return to.part->fs->make_link(from.inside, to.inside);
}

Result<std::string> MountFileSystem::read_link(const Path& path) const {
  auto where = TRY(locate(path, Follow::no));
  return where.part->fs->read_link(where.inside);
}

Result<Path> MountFileSystem::real_path(const Path& path) const {
  auto where = TRY(locate(path, Follow::yes));
  TRY(where.part->fs->stat(where.inside, Follow::no));
  return where.outside;
}

Result<void> MountFileSystem::remove_file(const Path& path) {
  auto where = TRY(locate_for_change(path, Follow::no));
  return where.part->fs->remove_file(where.inside);
}

Result<void> MountFileSystem::remove_directory(const Path& path) {
  auto where = TRY(locate_for_change(path, Follow::no));
  TRY(check_not_mounted(where.outside));
  return where.part->fs->remove_directory(where.inside);
}

Result<void> MountFileSystem::remove_all(const Path& path) {
  auto where = TRY(locate_for_change(path, Follow::no));
  TRY(check_not_mounted(where.outside));
  return where.part->fs->remove_all(where.inside);
}

Result<void> MountFileSystem::rename(const Path& from_path, const Path& to_path) {
  auto from = TRY(locate_for_change(from_path, Follow::no));
  auto to = TRY(locate_for_change(to_path, Follow::no));
  TRY(check_not_mounted(from.outside));
  TRY(check_not_mounted(to.outside));
  // EXDEV: callers copy and remove then, as mv does.
  if (from.part != to.part) return refuse(Code::unsupported, to_path);
  return from.part->fs->rename(from.inside, to.inside);
}

Result<void> MountFileSystem::set_mode(const Path& path, std::uint32_t mode, Follow follow) {
  auto where = TRY(locate_for_change(path, follow));
  return where.part->fs->set_mode(where.inside, mode, Follow::no);
}

Result<void> MountFileSystem::set_owner(const Path& path, std::optional<std::uint32_t> uid,
                                        std::optional<std::uint32_t> gid, Follow follow) {
  auto where = TRY(locate_for_change(path, follow));
  return where.part->fs->set_owner(where.inside, uid, gid, Follow::no);
}

Result<void> MountFileSystem::set_times(const Path& path, const Times& times, Follow follow) {
  auto where = TRY(locate_for_change(path, follow));
  return where.part->fs->set_times(where.inside, times, Follow::no);
}

Result<Path> MountFileSystem::copy(const Path& from, const Path& to, const CopyOptions& options) {
  return copy_between(*this, from, *this, to, options);
}

Result<Path> MountFileSystem::move(const Path& from, const Path& to, const CopyOptions& options) {
  auto moved = move_within(*this, from, to, options);
  if (moved || moved.error().code() != Code::unsupported) return moved;
  return move_between(*this, from, *this, to, options);
}

Result<Stats> MountFileSystem::stats() const {
  Stats sum;
  for (const Part& part : parts_) {
    auto stats = TRY(part.fs->stats());
    sum.bytes += stats.bytes;
    sum.files += stats.files;
    sum.directories += stats.directories;
  }
  return sum;
}

}  // namespace atl::vfs
