#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "vfs/memory_storage.h"
#include "vfs/storage_kinds.h"

namespace example {

// Entries in memory, and every change in a log file that is read at the start. A batch that cannot be logged
// is not applied.
class LogStorage final : public atl::vfs::FileStorage {
 public:
  static atl::Result<std::shared_ptr<LogStorage>> open(const std::string& file);

  atl::Result<std::optional<atl::vfs::FileEntry>> get(const atl::vfs::Path& path) const override {
    return memory_.get(path);
  }
  atl::Result<void> apply(const atl::vfs::Batch& batch) override;
  atl::Result<std::vector<atl::vfs::Path>> paths_by_prefix(std::string_view prefix) const override {
    return memory_.paths_by_prefix(prefix);
  }
  atl::Result<std::vector<atl::vfs::Path>> children(const atl::vfs::Path& directory) const override {
    return memory_.children(directory);
  }
  atl::Result<std::vector<atl::vfs::FileEntry>> get_all() const override { return memory_.get_all(); }
  atl::Result<std::uint64_t> count() const override { return memory_.count(); }
  atl::Result<void> clear() override;

 private:
  explicit LogStorage(std::string file) : file_(std::move(file)) {}
  atl::Result<void> write_log();

  std::mutex writer_;
  std::string file_;
  atl::vfs::MemoryStorage memory_;
};

// What an operator declares as {kind: log, path: DIRECTORY}.
atl::vfs::StorageKind log_kind();

}  // namespace example
