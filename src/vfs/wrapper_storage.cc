#include "vfs/wrapper_storage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace atl::vfs {

Result<void> ensure_directory(FileStorage& storage, const Path& directory) {
  if (directory.is_root()) return {};
  TRY(ensure_directory(storage, directory.parent()));
  auto there = TRY(storage.get(directory));
  if (there && !there->is_directory())
    return fail(Code::not_a_directory, fmt::format("{}: Not a directory", directory.str()));
  if (there) return {};
  FileEntry entry;
  entry.path = directory;
  entry.type = Type::directory;
  entry.mode = 0755;
  entry.created_at = entry.modified_at = entry.changed_at = entry.accessed_at = Clock::machine().now();
  return storage.set(std::move(entry));
}

// ---- read-only ----

Result<void> ReadOnlyStorage::apply(const Batch&) {
  return fail(Code::read_only, "the storage is read-only");
}
Result<void> ReadOnlyStorage::clear() {
  return fail(Code::read_only, "the storage is read-only");
}

// ---- overlay ----

namespace {

// A storage has no entry that says "removed", so an entry that no program can make stands for it: a FIFO
// without permissions from the year 1970.
FileEntry whiteout(const Path& path) {
  FileEntry entry;
  entry.path = path;
  entry.type = Type::fifo;
  entry.mode = 0;
  return entry;
}

bool is_whiteout(const FileEntry& entry) {
  return entry.type == Type::fifo && entry.mode == 0 && entry.modified_at == WallTime();
}

}  // namespace

Result<std::optional<FileEntry>> OverlayStorage::get(const Path& path) const {
  auto above = TRY(top_->get(path));
  if (!above) return base_->get(path);
  if (is_whiteout(*above)) return std::nullopt;
  return above;
}

// Builds what the top must hold. A whiteout covers all of the base below it, so names below a removed
// directory need none of their own; but a directory made again in its place needs one for each name the base
// has in it.
Result<void> OverlayStorage::apply(const Batch& batch) {
  std::map<Path, FileEntry> out;
  std::map<Path, const FileEntry*> sets;
  for (const FileEntry& entry : batch.entries) sets[entry.path] = &entry;
  std::set<Path> gone;
  for (const Path& path : batch.removals)
    if (!sets.contains(path)) gone.insert(path);
  auto copy_parents = [&](const Path& path) -> Result<void> {
    for (Path up = path.parent(); !up.is_root(); up = up.parent()) {
      if (sets.contains(up) || out.contains(up) || TRY(top_->exists(up))) continue;
      auto below = TRY(base_->get(up));
      if (below) out.emplace(up, std::move(*below));
    }
    return {};
  };
  auto covered = [&](const Path& path) {
    for (Path up = path.parent(); !up.is_root(); up = up.parent()) {
      if (gone.contains(up)) return true;
      if (auto set = sets.find(up); set != sets.end() && !set->second->is_directory()) return true;
    }
    return false;
  };
  Batch changes;
  for (const Path& path : gone) {
    if (covered(path) || !TRY(base_->exists(path))) {
      changes.removals.push_back(path);
      continue;
    }
    TRY(copy_parents(path));
    out.emplace(path, whiteout(path));
  }
  std::set<Path> removals(batch.removals.begin(), batch.removals.end());
  for (const FileEntry& entry : batch.entries) {
    TRY(copy_parents(entry.path));
    out.insert_or_assign(entry.path, entry);
    if (!entry.is_directory()) continue;
    // A directory that replaces a removed one, or a file, must not let the base's names shine through.
    auto now = TRY(top_->get(entry.path));
    bool anew = removals.contains(entry.path) || (now && !now->is_directory());
    if (!anew) continue;
    auto hidden = TRY(base_->children(entry.path));
    for (const Path& child : hidden)
      if (!sets.contains(child)) out.emplace(child, whiteout(child));
  }
  // Children before their directories.
  std::ranges::reverse(changes.removals);
  for (auto& [path, entry] : out) changes.entries.push_back(std::move(entry));
  return top_->apply(changes);
}

// The paths of both that are there, given all that match in each. A name of the base is gone where the top
// has a whiteout at it or anything but a directory above it.
Result<std::vector<Path>> OverlayStorage::merged(std::vector<Path> below, std::vector<Path> above) const {
  std::set<Path> out(std::make_move_iterator(below.begin()), std::make_move_iterator(below.end()));
  for (const Path& path : above) {
    auto entry = TRY(top_->get(path));
    if (!entry) continue;
    if (!entry->is_directory()) {
      // Paths are sorted, so all that lies below this one follows it, mixed only with names that begin like
      // it (/a-b between /a and /a/c).
      auto first = out.lower_bound(path);
      while (first != out.end() && first->str().starts_with(path.str()))
        first = first->is_same_or_child_of(path) ? out.erase(first) : std::next(first);
    }
    if (!is_whiteout(*entry)) out.insert(path);
  }
  return std::vector<Path>(out.begin(), out.end());
}

Result<std::vector<Path>> OverlayStorage::paths_by_prefix(std::string_view prefix) const {
  // A removed directory above the prefix counts as well, so everything is merged before the prefix is looked
  // at.
  auto below = TRY(base_->all_paths());
  auto above = TRY(top_->all_paths());
  auto all = TRY(merged(std::move(below), std::move(above)));
  std::erase_if(all, [&](const Path& path) { return !path.str().starts_with(prefix); });
  return all;
}

Result<std::vector<Path>> OverlayStorage::children(const Path& directory) const {
  auto above = TRY(top_->children(directory));
  std::vector<Path> below;
  bool hidden = false;
  for (Path up = directory; !up.is_root() && !hidden; up = up.parent()) {
    auto entry = TRY(top_->get(up));
    hidden = entry && !entry->is_directory();
  }
  if (!hidden) below = TRY(base_->children(directory));
  return merged(std::move(below), std::move(above));
}

Result<std::vector<FileEntry>> OverlayStorage::get_all() const {
  std::vector<FileEntry> out;
  auto paths = TRY(paths_by_prefix("/"));
  for (const Path& path : paths)
    if (auto entry = TRY(get(path))) out.push_back(std::move(*entry));
  return out;
}

Result<std::uint64_t> OverlayStorage::count() const {
  return TRY(paths_by_prefix("/")).size();
}

Result<void> OverlayStorage::clear() {
  Batch batch;
  batch.removals = TRY(paths_by_prefix("/"));
  std::ranges::reverse(batch.removals);
  return apply(batch);
}

// ---- quota ----

Result<std::shared_ptr<QuotaStorage>> QuotaStorage::open(std::shared_ptr<FileStorage> inner,
                                                         const Quota& quota) {
  std::shared_ptr<QuotaStorage> storage(new QuotaStorage(std::move(inner), quota));
  auto entries = TRY(storage->inner_->get_all());
  for (const FileEntry& entry : entries) {
    storage->used_.bytes += entry.size();
    (entry.is_directory() ? storage->used_.directories : storage->used_.files) += 1;
  }
  return storage;
}

Result<void> QuotaStorage::apply(const Batch& batch) {
  std::lock_guard lock(lock_);
  Stats after = used_;
  std::map<Path, std::optional<FileEntry>> touched;  // what counts at each path so far
  auto replace = [&](const Path& path, const FileEntry* with) -> Result<void> {
    auto place = touched.find(path);
    if (place == touched.end()) place = touched.emplace(path, TRY(inner_->get(path))).first;
    if (const auto& old = place->second) {
      after.bytes -= old->size();
      (old->is_directory() ? after.directories : after.files) -= 1;
    }
    place->second = with == nullptr ? std::nullopt : std::optional(*with);
    if (with == nullptr) return {};
    after.bytes += with->size();
    (with->is_directory() ? after.directories : after.files) += 1;
    return {};
  };
  for (const Path& path : batch.removals) TRY(replace(path, nullptr));
  for (const FileEntry& entry : batch.entries) TRY(replace(entry.path, &entry));
  // Shrinking is allowed even above the quota, which may have been lowered.
  if (after.bytes > quota_.bytes_max && after.bytes > used_.bytes)
    return fail(Code::no_space, fmt::format("No space left on device: at most {} bytes", quota_.bytes_max));
  if (after.nodes() > quota_.nodes_max && after.nodes() > used_.nodes())
    return fail(Code::no_space, fmt::format("No space left on device: at most {} files", quota_.nodes_max));
  TRY(inner_->apply(batch));
  used_ = after;
  return {};
}

Result<void> QuotaStorage::clear() {
  std::lock_guard lock(lock_);
  TRY(inner_->clear());
  used_ = {};
  return {};
}

Result<Stats> QuotaStorage::stats() const {
  std::lock_guard lock(lock_);
  return used_;
}

// ---- prefix ----

Result<std::shared_ptr<PrefixStorage>> PrefixStorage::open(std::shared_ptr<FileStorage> inner,
                                                           const Path& directory) {
  TRY(ensure_directory(*inner, directory));
  return std::shared_ptr<PrefixStorage>(new PrefixStorage(std::move(inner), directory));
}

Result<std::optional<FileEntry>> PrefixStorage::get(const Path& path) const {
  if (path.is_root()) return std::nullopt;
  auto inside = TRY(path.below(directory_));
  auto entry = TRY(inner_->get(inside));
  if (entry) entry->path = path;
  return entry;
}

Result<void> PrefixStorage::apply(const Batch& batch) {
  Batch inside;
  for (const Path& path : batch.removals)
    if (!path.is_root()) inside.removals.push_back(TRY(path.below(directory_)));
  for (const FileEntry& entry : batch.entries) {
    if (entry.path.is_root()) return fail(Code::invalid_argument, "the root is not an entry");
    inside.entries.push_back(entry);
    inside.entries.back().path = TRY(entry.path.below(directory_));
  }
  return inner_->apply(inside);
}

Result<std::vector<Path>> PrefixStorage::paths_by_prefix(std::string_view prefix) const {
  if (!prefix.starts_with('/')) return std::vector<Path>();
  std::string inside = directory_.is_root() ? std::string(prefix) : directory_.str() + std::string(prefix);
  auto paths = TRY(inner_->paths_by_prefix(inside));
  for (Path& path : paths) path = path.relative_to(directory_);
  return paths;
}

Result<std::vector<Path>> PrefixStorage::children(const Path& directory) const {
  auto inside = TRY(directory.below(directory_));
  auto paths = TRY(inner_->children(inside));
  for (Path& path : paths) path = path.relative_to(directory_);
  return paths;
}

Result<std::vector<FileEntry>> PrefixStorage::get_all() const {
  std::vector<FileEntry> out;
  auto paths = TRY(paths_by_prefix("/"));
  for (const Path& path : paths)
    if (auto entry = TRY(get(path))) out.push_back(std::move(*entry));
  return out;
}

Result<std::uint64_t> PrefixStorage::count() const {
  return TRY(paths_by_prefix("/")).size();
}

Result<void> PrefixStorage::clear() {
  Batch batch;
  batch.removals = TRY(paths_by_prefix("/"));
  std::ranges::reverse(batch.removals);
  return apply(batch);
}

// ---- mounts ----

Result<std::shared_ptr<MountStorage>> MountStorage::open(
    std::shared_ptr<FileStorage> base, std::map<Path, std::shared_ptr<FileStorage>> mounts) {
  std::vector<Part> parts{{Path(), base}};
  for (auto& [at, storage] : mounts) {
    bool nested = std::ranges::any_of(
        parts, [&](const Part& part) { return !part.at.is_root() && at.is_same_or_child_of(part.at); });
    if (at.is_root() || nested)
      return fail(Code::invalid_argument, fmt::format("{}: cannot be a mount point", at.str()));
    TRY(ensure_directory(*base, at));
    parts.push_back({at, std::move(storage)});
  }
  return std::shared_ptr<MountStorage>(new MountStorage(std::move(parts)));
}

const MountStorage::Part& MountStorage::part_of(const Path& path) const {
  for (std::size_t i = 1; i < parts_.size(); ++i)
    if (path.is_child_of(parts_[i].at)) return parts_[i];
  return parts_[0];
}

Result<std::optional<FileEntry>> MountStorage::get(const Path& path) const {
  const Part& part = part_of(path);
  auto entry = TRY(part.storage->get(path.relative_to(part.at)));
  if (!entry) return entry;
  entry->path = path;
  // Each part counts its inodes for itself; above 48 bits stands whose they are.
  auto index = static_cast<std::uint64_t>(&part - parts_.data());
  if (entry->inode != 0) entry->inode |= index << 48;
  return entry;
}

Result<void> MountStorage::apply(const Batch& batch) {
  // A batch is all or nothing, but each part can promise that only for itself: what is needed to go back is
  // read before anything changes.
  std::map<const Part*, Batch> forward, back;
  auto note = [&](const Part& part, const Path& inside) -> Result<void> {
    auto old = TRY(part.storage->get(inside));
    if (old) {
      back[&part].entries.push_back(std::move(*old));
    } else {
      back[&part].removals.push_back(inside);
    }
    return {};
  };
  for (const Path& path : batch.removals) {
    bool mount_point = std::ranges::any_of(
        parts_, [&](const Part& part) { return !part.at.is_root() && part.at.is_same_or_child_of(path); });
    if (mount_point) return fail(Code::conflict, fmt::format("{}: is a mount point", path.str()));
    const Part& part = part_of(path);
    TRY(note(part, path.relative_to(part.at)));
    forward[&part].removals.push_back(path.relative_to(part.at));
  }
  for (const FileEntry& entry : batch.entries) {
    const Part& part = part_of(entry.path);
    TRY(note(part, entry.path.relative_to(part.at)));
    forward[&part].entries.push_back(entry);
    forward[&part].entries.back().path = entry.path.relative_to(part.at);
  }
  std::vector<const Part*> done;
  for (auto& [part, changes] : forward) {
    auto applied = part->storage->apply(changes);
    if (applied) {
      done.push_back(part);
      continue;
    }
    for (const Part* earlier : done) {
      Batch& undo = back[earlier];
      // Children are removed before and entries made after their parents.
      std::ranges::sort(undo.removals, std::greater{});
      std::ranges::sort(undo.entries, {}, [](const FileEntry& entry) -> const Path& { return entry.path; });
      (void)earlier->storage->apply(undo);
    }
    return applied;
  }
  return {};
}

Result<std::vector<Path>> MountStorage::paths_by_prefix(std::string_view prefix) const {
  std::vector<Path> out;
  for (const Part& part : parts_) {
    auto paths = TRY(part.storage->all_paths());
    for (const Path& path : paths) {
      auto outside = path.below(part.at);
      if (outside && &part_of(*outside) == &part && outside->str().starts_with(prefix))
        out.push_back(std::move(*outside));
    }
  }
  std::ranges::sort(out);
  return out;
}

Result<std::vector<Path>> MountStorage::children(const Path& directory) const {
  for (const Part& part : parts_) {
    // A mount point's own entry is the base's, what is in it the mount's.
    if (part.at.is_root() || !directory.is_same_or_child_of(part.at)) continue;
    auto paths = TRY(part.storage->children(directory.relative_to(part.at)));
    for (Path& path : paths) path = TRY(path.below(part.at));
    return paths;
  }
  return parts_[0].storage->children(directory);
}

Result<std::vector<FileEntry>> MountStorage::get_all() const {
  std::vector<FileEntry> out;
  auto paths = TRY(paths_by_prefix("/"));
  for (const Path& path : paths)
    if (auto entry = TRY(get(path))) out.push_back(std::move(*entry));
  return out;
}

Result<std::uint64_t> MountStorage::count() const {
  return TRY(paths_by_prefix("/")).size();
}

Result<void> MountStorage::clear() {
  for (std::size_t i = 1; i < parts_.size(); ++i) TRY(parts_[i].storage->clear());
  Batch batch;
  auto paths = TRY(parts_[0].storage->all_paths());
  for (const Path& path : paths) {
    bool keep = std::ranges::any_of(
        parts_, [&](const Part& part) { return !part.at.is_root() && part.at.is_same_or_child_of(path); });
    if (!keep) batch.removals.push_back(path);
  }
  std::ranges::reverse(batch.removals);
  return parts_[0].storage->apply(batch);
}

}  // namespace atl::vfs
