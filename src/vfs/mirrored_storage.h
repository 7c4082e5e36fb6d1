#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "vfs/file_storage.h"
#include "vfs/memory_storage.h"

namespace atl::vfs {

// For backends that can only be read whole and be given changes: entries are in memory as well, and questions
// are answered from there. A subclass keeps a change for good, or refuses it; then nothing of it is seen.
// Whoever makes one calls get_all() once, which reads what is there.
class MirroredStorage : public FileStorage {
 public:
  Result<std::optional<FileEntry>> get(const Path& path) const override { return memory_.get(path); }
  Result<void> apply(const Batch& batch) final;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override {
    return memory_.paths_by_prefix(prefix);
  }
  Result<std::vector<Path>> children(const Path& directory) const override {
    return memory_.children(directory);
  }
  // Reads the backend again: what others changed there appears.
  Result<std::vector<FileEntry>> get_all() const final;
  Result<std::uint64_t> count() const override { return memory_.count(); }
  Result<void> clear() final;

 protected:
  // One of these at a time.
  virtual Result<std::vector<FileEntry>> load() const = 0;
  virtual Result<void> store(const Batch& batch) = 0;
  // After a change is kept, with all entries there are: a good moment to tidy up.
  virtual void stored(const MemoryStorage& all) { (void)all; }

 private:
  mutable std::mutex backend_;  // held while the backend works
  mutable MemoryStorage memory_;
};

}  // namespace atl::vfs
