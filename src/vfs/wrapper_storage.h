#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vfs/file_storage.h"
#include "vfs/virtual_file_system.h"

// Storages made of storages.
namespace atl::vfs {

// Lets everything be read and nothing be changed (Code::read_only).
class ReadOnlyStorage final : public FileStorage {
 public:
  explicit ReadOnlyStorage(std::shared_ptr<const FileStorage> inner) : inner_(std::move(inner)) {}
  Result<std::optional<FileEntry>> get(const Path& path) const override { return inner_->get(path); }
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override {
    return inner_->paths_by_prefix(prefix);
  }
  Result<std::vector<Path>> children(const Path& directory) const override {
    return inner_->children(directory);
  }
  Result<std::vector<FileEntry>> get_all() const override { return inner_->get_all(); }
  Result<std::uint64_t> count() const override { return inner_->count(); }
  Result<void> clear() override;
  Result<bool> exists(const Path& path) const override { return inner_->exists(path); }

 private:
  std::shared_ptr<const FileStorage> inner_;
};

// Changes go to `top`, the `base` stays as it is. What is removed of the base is remembered in `top` as an
// entry that can be nothing else: a FIFO without permissions, last modified at the beginning of 1970.
class OverlayStorage final : public FileStorage {
 public:
  OverlayStorage(std::shared_ptr<const FileStorage> base, std::shared_ptr<FileStorage> top)
      : base_(std::move(base)), top_(std::move(top)) {}
  Result<std::optional<FileEntry>> get(const Path& path) const override;
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override;
  Result<std::vector<Path>> children(const Path& directory) const override;
  Result<std::vector<FileEntry>> get_all() const override;
  Result<std::uint64_t> count() const override;
  // Everything looks removed; the base is untouched.
  Result<void> clear() override;

 private:
  Result<std::vector<Path>> merged(std::vector<Path> below, std::vector<Path> above) const;
  std::shared_ptr<const FileStorage> base_;
  std::shared_ptr<FileStorage> top_;
};

// Refuses (Code::no_space) what would go over a quota. Counts what is there once, then keeps count; the inner
// storage must not be changed by others.
class QuotaStorage final : public FileStorage, public StorageStats {
 public:
  static Result<std::shared_ptr<QuotaStorage>> open(std::shared_ptr<FileStorage> inner, const Quota& quota);
  Result<std::optional<FileEntry>> get(const Path& path) const override { return inner_->get(path); }
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override {
    return inner_->paths_by_prefix(prefix);
  }
  Result<std::vector<Path>> children(const Path& directory) const override {
    return inner_->children(directory);
  }
  Result<std::vector<FileEntry>> get_all() const override { return inner_->get_all(); }
  Result<std::uint64_t> count() const override { return inner_->count(); }
  Result<void> clear() override;
  Result<Stats> stats() const override;

 private:
  QuotaStorage(std::shared_ptr<FileStorage> inner, const Quota& quota)
      : inner_(std::move(inner)), quota_(quota) {}
  std::shared_ptr<FileStorage> inner_;
  Quota quota_;
  mutable std::mutex lock_;
  Stats used_;
};

// A directory of another storage as a storage of its own.
class PrefixStorage final : public FileStorage {
 public:
  // Makes `directory` (and its parents) in `inner` if it is missing.
  static Result<std::shared_ptr<PrefixStorage>> open(std::shared_ptr<FileStorage> inner,
                                                     const Path& directory);
  Result<std::optional<FileEntry>> get(const Path& path) const override;
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override;
  Result<std::vector<Path>> children(const Path& directory) const override;
  Result<std::vector<FileEntry>> get_all() const override;
  Result<std::uint64_t> count() const override;
  Result<void> clear() override;

 private:
  PrefixStorage(std::shared_ptr<FileStorage> inner, Path directory)
      : inner_(std::move(inner)), directory_(std::move(directory)) {}
  std::shared_ptr<FileStorage> inner_;
  Path directory_;
};

// Several storages as one: each at a directory of the base. A batch over several of them is undone where it
// succeeded if one refuses; a crash in between can leave half of it.
class MountStorage final : public FileStorage {
 public:
  // Makes the mount points in `base` if they are missing. No mount point lies below another
  // (invalid_argument).
  static Result<std::shared_ptr<MountStorage>> open(std::shared_ptr<FileStorage> base,
                                                    std::map<Path, std::shared_ptr<FileStorage>> mounts);
  Result<std::optional<FileEntry>> get(const Path& path) const override;
  Result<void> apply(const Batch& batch) override;
  Result<std::vector<Path>> paths_by_prefix(std::string_view prefix) const override;
  Result<std::vector<Path>> children(const Path& directory) const override;
  Result<std::vector<FileEntry>> get_all() const override;
  Result<std::uint64_t> count() const override;
  Result<void> clear() override;

 private:
  struct Part {
    Path at;  // the root for the base
    std::shared_ptr<FileStorage> storage;
  };
  explicit MountStorage(std::vector<Part> parts) : parts_(std::move(parts)) {}
  // The part that holds `path`; a mount point itself belongs to the base.
  const Part& part_of(const Path& path) const;

  std::vector<Part> parts_;  // the base first
};

// `directory` and its parents as entries of `storage`.
Result<void> ensure_directory(FileStorage& storage, const Path& directory);

}  // namespace atl::vfs
