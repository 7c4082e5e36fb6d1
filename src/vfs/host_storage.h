#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "vfs/file_storage.h"
#include "vfs/host_file_system.h"

namespace atl::vfs {

// Entries as files of a host directory, confined to it as HostFileSystem is. What others put there shows up
// as well. A batch that fails is undone step by step; the loss of power in the middle of one can leave half
// of it. Owners are kept where the daemon may set them. Inode numbers, creation and change times are the
// host's own.
class HostStorage final : public FileStorage, public StorageStats {
 public:
  // `directory` must exist. Errors are those of HostFileSystem.
  static Result<std::shared_ptr<HostStorage>> open(const std::string& directory);

  Result<std::optional<FileEntry>> get(const Path& path) const override;
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override;
  Result<std::vector<Path>> children(const Path& directory) const override;
  Result<std::vector<FileEntry>> get_all() const override;
  Result<std::uint64_t> count() const override;
  Result<void> clear() override;
  Result<bool> exists(const Path& path) const override;
  Result<Stats> stats() const override { return fs_->stats(); }

 private:
  explicit HostStorage(std::unique_ptr<HostFileSystem> fs) : fs_(std::move(fs)) {}
  bool is_direct(const Path& path) const;
  Result<void> put(const FileEntry& entry);
  Result<void> drop(const Path& path);
  Result<void> set_attributes(const FileEntry& entry);

  std::mutex writer_;
  std::unique_ptr<HostFileSystem> fs_;
};

}  // namespace atl::vfs
