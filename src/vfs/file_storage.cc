#include "vfs/file_storage.h"

namespace atl::vfs {

Result<bool> FileStorage::exists(const Path& path) const {
  return TRY(get(path)).has_value();
}

Result<void> FileStorage::set(FileEntry entry) {
  Batch batch;
  batch.entries.push_back(std::move(entry));
  return apply(batch);
}

Result<bool> FileStorage::remove(const Path& path) {
  if (!TRY(exists(path))) return false;
  Batch batch;
  batch.removals.push_back(path);
  TRY(apply(batch));
  return true;
}

Result<void> FileStorage::set_many(std::vector<FileEntry> entries) {
  Batch batch;
  batch.entries = std::move(entries);
  return apply(batch);
}

}  // namespace atl::vfs
