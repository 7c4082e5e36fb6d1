#include "vfs/memory_storage.h"

#include <algorithm>
#include <mutex>

#include "vfs/entries.h"
#include "vfs/snapshot.h"
#include "vfs/snapshot_format.h"

namespace atl::vfs {
namespace {

class TreeState final : public Snapshotable::State {
 public:
  explicit TreeState(tree::State taken) : state(std::move(taken)) {}
  tree::State state;
};

// The paths below `directory`, which is `path`, depth first and so not in order.
void collect(const tree::DirNode& top, const Path& path, std::string_view prefix, std::vector<Path>& out) {
  std::vector<std::pair<const tree::DirNode*, Path>> pending{{&top, path}};
  while (!pending.empty()) {
    auto [directory, at] = std::move(pending.back());
    pending.pop_back();
    tree::for_each_entry(*directory, [&](tree::Node& node) {
      auto here = at.child(node.name());
      if (!here) return;
      std::size_t common = std::min(here->str().size(), prefix.size());
      if (here->str().compare(0, common, prefix.substr(0, common)) != 0) return;
      if (here->str().size() >= prefix.size()) out.push_back(*here);
      if (tree::is_directory(node))
        pending.emplace_back(static_cast<tree::DirNode*>(&node), std::move(*here));
    });
  }
}

}  // namespace

MemoryStorage::MemoryStorage() : state_(empty_state()) {}

tree::State MemoryStorage::state() const {
  std::shared_lock lock(lock_);
  return state_;
}

void MemoryStorage::replace(tree::State state) {
  std::unique_lock lock(lock_);
  std::swap(state_, state);
}

Result<std::optional<FileEntry>> MemoryStorage::get(const Path& path) const {
  auto current = state();
  tree::Located where;
  auto found = tree::locate(current, path.str(), Follow::no, where);
  bool direct = found && where.path.data() == path.str().data();
  if (!direct || where.node == nullptr || path.is_root()) return std::nullopt;
  return entry_of(*where.node, path);
}

Result<void> MemoryStorage::apply(const Batch& batch) {
  std::lock_guard writer(writer_);
  auto next = state();
  for (const Path& path : batch.removals) drop_entry(next, path);
  for (const FileEntry& entry : batch.entries) TRY(put_entry(next, entry));
  replace(std::move(next));
  return {};
}

Result<std::vector<Path>> MemoryStorage::paths_by_prefix(std::string_view prefix) const {
  auto current = state();
  std::vector<Path> paths;
  collect(*current.root, Path(), prefix, paths);
  std::ranges::sort(paths);
  return paths;
}

Result<std::vector<Path>> MemoryStorage::children(const Path& directory) const {
  auto current = state();
  std::vector<Path> paths;
  const tree::Node* node = tree::find(current, directory.str(), Follow::no);
  if (node == nullptr || !tree::is_directory(*node)) return paths;
  tree::for_each_entry(static_cast<const tree::DirNode&>(*node), [&](tree::Node& child) {
    if (auto path = directory.child(child.name())) paths.push_back(std::move(*path));
  });
  return paths;
}

Result<std::vector<FileEntry>> MemoryStorage::get_all() const {
  return all_entries(state());
}

Result<std::uint64_t> MemoryStorage::count() const {
  return Snapshot(state()).stats().nodes();
}

Result<void> MemoryStorage::clear() {
  std::lock_guard writer(writer_);
  replace(empty_state());
  return {};
}

Result<std::shared_ptr<const Snapshotable::State>> MemoryStorage::take_snapshot() const {
  return std::make_shared<const TreeState>(state());
}

Result<void> MemoryStorage::restore_snapshot(const State& state) {
  const auto* taken = dynamic_cast<const TreeState*>(&state);
  if (taken == nullptr) return fail(Code::invalid_argument, "a snapshot of another kind of storage");
  std::lock_guard writer(writer_);
  replace(taken->state);
  return {};
}

Result<std::string> MemoryStorage::to_bytes() const {
  return export_snapshot(Snapshot(state()));
}

Result<void> MemoryStorage::from_bytes(std::string_view bytes) {
  auto entries = all_entries(TRY(import_snapshot(bytes)).state());
  tree::State next = empty_state();
  for (const FileEntry& entry : entries) TRY(put_entry(next, entry));
  std::lock_guard writer(writer_);
  replace(std::move(next));
  return {};
}

Result<std::string> MemoryStorage::to_json() const {
  return export_json(Snapshot(state()));
}

Result<void> MemoryStorage::from_json(std::string_view text) {
  auto entries = all_entries(TRY(import_json(text)).state());
  tree::State next = empty_state();
  for (const FileEntry& entry : entries) TRY(put_entry(next, entry));
  std::lock_guard writer(writer_);
  replace(std::move(next));
  return {};
}

Result<Stats> MemoryStorage::stats() const {
  return Snapshot(state()).stats();
}

}  // namespace atl::vfs
