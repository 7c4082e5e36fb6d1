#include "vfs/host_storage.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl::vfs {

Result<std::shared_ptr<HostStorage>> HostStorage::open(const std::string& directory) {
  auto fs = TRY(HostFileSystem::open(directory));
  return std::shared_ptr<HostStorage>(new HostStorage(std::move(fs)));
}

// False if a symlink stands on the way: for a storage a path is only its text.
bool HostStorage::is_direct(const Path& path) const {
  if (path.is_root()) return true;
  auto parent = fs_->real_path(path.parent());
  return parent && *parent == path.parent();
}

Result<bool> HostStorage::exists(const Path& path) const {
  return !path.is_root() && is_direct(path) && fs_->find(path, Follow::no).has_value();
}

Result<std::optional<FileEntry>> HostStorage::get(const Path& path) const {
  if (path.is_root() || !is_direct(path)) return std::nullopt;
  auto entry = fs_->entry(path);
  if (entry) return std::move(*entry);
  Code code = entry.error().code();
  if (code == Code::not_found || code == Code::not_a_directory) return std::nullopt;
  return fail(std::move(entry).error());
}

Result<void> HostStorage::set_attributes(const FileEntry& entry) {
  auto now = TRY(fs_->stat(entry.path, Follow::no));
  if (now.uid != entry.uid || now.gid != entry.gid) {
    auto owned = fs_->set_owner(entry.path, entry.uid, entry.gid, Follow::no);
    if (!owned && owned.error().code() != Code::permission_denied) return owned;
  }
  if (entry.type != Type::symlink) TRY(fs_->set_mode(entry.path, entry.mode, Follow::no));
  return fs_->set_times(entry.path, {entry.accessed_at, entry.modified_at}, Follow::no);
}

Result<void> HostStorage::drop(const Path& path) {
  if (!TRY(exists(path))) return {};
  return fs_->remove_all(path);
}

Result<void> HostStorage::put(const FileEntry& entry) {
  if (entry.path.is_root()) return fail(Code::invalid_argument, "the root is not an entry");
  if (!is_direct(entry.path))
    return fail(Code::not_found, fmt::format("{}: has no parent directory", entry.path.str()));
  auto there = fs_->find(entry.path, Follow::no);
  bool keep = there && there->type == entry.type && (entry.is_directory() || entry.type == Type::file);
  if (there && !keep) TRY(fs_->remove_all(entry.path));
  switch (entry.type) {
    case Type::directory:
      if (!keep) TRY(fs_->make_directory(entry.path, entry.mode));
      break;
    case Type::file: {
      // A new file in place of the old one: nobody sees half of it, and other names of the old one keep their
      // bytes.
      auto fresh = TRY(entry.path.parent().child(
          fmt::format(".atoll-{:x}.new", Clock::machine().now().time_since_epoch().count())));
      WriteOptions options;
      options.mode = entry.mode;
      options.parents = Parents::must_exist;
      options.overwrite = Overwrite::no;
      auto written = fs_->write(fresh, entry.content, options);
      if (written) written = fs_->rename(fresh, entry.path);
      if (!written) {
        (void)fs_->remove_file(fresh);
        return written;
      }
      break;
    }
    case Type::symlink: TRY(fs_->make_symlink(entry.path, entry.content.str())); break;
    case Type::fifo: TRY(fs_->make_fifo(entry.path, entry.mode)); break;
  }
  return set_attributes(entry);
}

Result<void> HostStorage::apply(const Batch& batch) {
  std::lock_guard writer(writer_);
  std::vector<std::pair<Path, std::optional<FileEntry>>> before;
  auto step = [&](const Path& path, auto&& action) -> Result<void> {
    before.emplace_back(path, TRY(get(path)));
    return action();
  };
  auto run = [&]() -> Result<void> {
    for (const Path& path : batch.removals) TRY(step(path, [&] { return drop(path); }));
    for (const FileEntry& entry : batch.entries) TRY(step(entry.path, [&] { return put(entry); }));
    // Entries made inside changed the times of their directories.
    for (const FileEntry& entry : batch.entries)
      if (entry.is_directory()) TRY(set_attributes(entry));
    return {};
  };
  auto done = run();
  if (done) return done;
  for (auto undo = before.rbegin(); undo != before.rend(); ++undo)
    (void)(undo->second ? put(*undo->second) : drop(undo->first));
  return done;
}

Result<std::vector<Path>> HostStorage::children(const Path& directory) const {
  std::vector<Path> paths;
  if (!is_direct(directory)) return paths;
  auto info = fs_->find(directory, Follow::no);
  if (!info || !info->is_directory()) return paths;
  auto listing = TRY(fs_->list(directory));
  for (auto entry : listing) paths.push_back(TRY(directory.child(entry.name)));
  return paths;
}

Result<std::vector<Path>> HostStorage::paths_by_prefix(std::string_view prefix) const {
  std::vector<Path> out, pending{Path()};
  while (!pending.empty()) {
    Path directory = std::move(pending.back());
    pending.pop_back();
    auto listing = TRY(fs_->list(directory));
    for (auto entry : listing) {
      auto path = TRY(directory.child(entry.name));
      std::size_t common = std::min(path.str().size(), prefix.size());
      if (path.str().compare(0, common, prefix.substr(0, common)) != 0) continue;
      if (path.str().size() >= prefix.size()) out.push_back(path);
      if (entry.type == Type::directory) pending.push_back(std::move(path));
    }
  }
  std::ranges::sort(out);
  return out;
}

Result<std::vector<FileEntry>> HostStorage::get_all() const {
  std::vector<FileEntry> out;
  auto paths = TRY(paths_by_prefix("/"));
  for (const Path& path : paths)
    if (auto entry = TRY(get(path))) out.push_back(std::move(*entry));
  return out;
}

Result<std::uint64_t> HostStorage::count() const {
  return TRY(fs_->stats()).nodes();
}

Result<void> HostStorage::clear() {
  std::lock_guard writer(writer_);
  return fs_->remove_all(Path());
}

}  // namespace atl::vfs
