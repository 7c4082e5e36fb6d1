#include "sandbox/virtual_tree.h"

#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <ranges>

#include "vfs/copy.h"
#include "vfs/host_file_system.h"
#include "vfs/mount_file_system.h"

namespace atl::sandbox::emulated {
namespace {

using vfs::Path;

constexpr vfs::CopyOptions kWhole{.into_directory = false, .preserve_times = true};

// Copies everything below one directory to another, which has none of it.
Result<void> copy_below(vfs::FileSystem& from, const Path& source, vfs::FileSystem& to, const Path& target) {
  const auto listing = TRY(from.list(source));
  for (const auto& entry : listing) {
    const Path old_path = TRY(source.child(entry.name)), new_path = TRY(target.child(entry.name));
    TRY(vfs::copy_between(from, old_path, to, new_path, kWhole));
  }
  return {};
}

Result<void> remove_below(vfs::FileSystem& fs, const Path& directory) {
  const auto listing = TRY(fs.list(directory));
  for (const auto& entry : listing) {
    const Path path = TRY(directory.child(entry.name));
    TRY(fs.remove_all(path));
  }
  return {};
}

// Sandboxes that are shown one directory share its descriptor: a service has few descriptors and many
// sandboxes.
Result<std::shared_ptr<vfs::FileSystem>> shown_directory(const std::string& directory) {
  static std::mutex lock;
  static std::map<std::string, std::pair<std::uint64_t, std::weak_ptr<vfs::FileSystem>>> known;
  struct stat info {};
  if (::stat(directory.c_str(), &info) < 0) return fail(errno_error(errno, "show a directory"));
  const std::lock_guard hold(lock);
  std::erase_if(known, [](const auto& one) { return one.second.second.expired(); });
  auto& [inode, shared] = known[directory];
  std::shared_ptr<vfs::FileSystem> fs = shared.lock();
  // Another directory of the same name may stand there by now.
  if (fs == nullptr || inode != info.st_ino) {
    fs = TRY(vfs::HostFileSystem::open(directory));
    shared = fs;
    inode = info.st_ino;
  }
  return fs;
}

// Below `top` no link and no file stands on the way to `at` any more: what is shown there, as skills are,
// stands where a snapshot may have left something else.
Result<void> clear_way(vfs::FileSystem& fs, const Path& top, const Path& at) {
  std::vector<Path> way;
  for (Path here = at; here.is_child_of(top); here = here.parent()) way.push_back(here);
  for (const Path& here : way | std::views::reverse) {
    const auto there = fs.find(here, vfs::Follow::no);
    if (!there) break;
    if (!there->is_directory()) TRY(fs.remove_file(here));
  }
  return {};
}

// Replaces what `to` has below its root by what `from` has below `directory`.
Result<void> replace_files(vfs::FileSystem& from, const Path& directory, vfs::FileSystem& to) {
  const Path root = Path::posix("/").value();
  TRY(remove_below(to, root));
  return copy_below(from, directory, to, root);
}

Result<void> hang_in_storage(const Spec& spec, Beginning beginning, Storages& storages, VirtualTree& tree,
                             vfs::MountFileSystem& mounts) {
  StoredFiles files =
      TRY(storages.open(*spec.storage, vfs::Quota{spec.limits.disk_bytes, spec.limits.inodes_max}));
  tree.stored = std::move(files.fs);
  tree.pool = storages.pool();
  if (beginning == Beginning::from_snapshot && files.is_own && files.access == StorageAccess::read_write)
    TRY(replace_files(*tree.memory, tree.stored_at, *tree.stored));
  // They are on the storage now, or shared files stand in their place.
  TRY(remove_below(*tree.memory, tree.stored_at));
  return mounts.mount(tree.stored_at, tree.stored,
                      files.access == StorageAccess::read_write ? vfs::MountFileSystem::Access::read_write
                                                                : vfs::MountFileSystem::Access::read_only);
}

}  // namespace

std::vector<VirtualTree::Part> VirtualTree::parts_below(const Path& directory) const {
  if (stored == nullptr) return {{memory, directory, ""}};
  if (directory == stored_at || directory.is_child_of(stored_at))
    return {
        {stored, directory == stored_at ? Path::posix("/").value() : directory.relative_to(stored_at), ""}};
  std::vector<Part> parts{{memory, directory, ""}};
  if (stored_at.is_child_of(directory))
    parts.push_back(
        {stored, Path::posix("/").value(), stored_at.relative_to(directory).str().substr(1) + "/"});
  return parts;
}

Result<vfs::Snapshot> VirtualTree::snapshot() const {
  if (stored == nullptr) return memory->snapshot();
  const std::unique_ptr<vfs::VirtualFileSystem> whole = memory->fork();
  whole->set_quota({});
  const std::unique_ptr<vfs::VirtualFileSystem> kept = stored->fork();
  TRY(copy_below(*kept, Path::posix("/").value(), *whole, stored_at));
  return whole->snapshot();
}

Result<VirtualTree> make_tree(const Spec& spec, vfs::Snapshot start, Beginning beginning,
                              Storages& storages) {
  VirtualTree tree;
  tree.memory = std::make_shared<vfs::VirtualFileSystem>(std::move(start));
  tree.stored_at = TRY(Path::posix(spec.working_directory));
  TRY(tree.memory->make_directory(tree.stored_at, 0755, vfs::Parents::create));
  tree.view = tree.memory;
  if (!spec.storage && spec.host_mounts.empty()) return tree;
  auto mounts = std::make_shared<vfs::MountFileSystem>(tree.memory);
  if (spec.storage) TRY(hang_in_storage(spec, beginning, storages, tree, *mounts));
  for (const HostMount& mount : spec.host_mounts) {
    const Path at = TRY(Path::posix(mount.guest_path));
    TRY(clear_way(*mounts, tree.stored_at, at));
    std::shared_ptr<vfs::FileSystem> shown = TRY(shown_directory(mount.host_path));
    TRY(mounts->mount(at, std::move(shown), vfs::MountFileSystem::Access::read_only));
  }
  tree.view = std::move(mounts);
  return tree;
}

}  // namespace atl::sandbox::emulated
