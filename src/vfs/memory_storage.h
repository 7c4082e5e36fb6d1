#pragma once

#include <mutex>
#include <shared_mutex>

#include "vfs/file_storage.h"
#include "vfs/tree.h"

namespace atl::vfs {

// Entries in memory, in the persistent tree: readers work on a state of their own and hold nobody up, a batch
// is built beside the current state and put in its place at once, a snapshot is O(1).
class MemoryStorage final : public FileStorage,
                            public Snapshotable,
                            public Serializable,
                            public StorageStats {
 public:
  MemoryStorage();

  Result<std::optional<FileEntry>> get(const Path& path) const override;
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override;
  Result<std::vector<Path>> children(const Path& directory) const override;
  Result<std::vector<FileEntry>> get_all() const override;
  Result<std::uint64_t> count() const override;
  Result<void> clear() override;

  Result<std::shared_ptr<const State>> take_snapshot() const override;
  Result<void> restore_snapshot(const State& state) override;
  Result<std::string> to_bytes() const override;
  Result<void> from_bytes(std::string_view bytes) override;
  Result<std::string> to_json() const override;
  Result<void> from_json(std::string_view text) override;
  Result<Stats> stats() const override;

 private:
  tree::State state() const;
  void replace(tree::State state);

  mutable std::shared_mutex lock_;
  std::mutex writer_;  // held before lock_
  tree::State state_;
};

}  // namespace atl::vfs
