#include "vfs/mirrored_storage.h"

#include <algorithm>

namespace atl::vfs {

Result<void> MirroredStorage::apply(const Batch& batch) {
  const std::lock_guard hold(backend_);
  const auto before = TRY(memory_.take_snapshot());
  TRY(memory_.apply(batch));
  if (auto kept = store(batch); !kept) {
    TRY(memory_.restore_snapshot(*before));
    return kept;
  }
  stored(memory_);
  return {};
}

Result<std::vector<FileEntry>> MirroredStorage::get_all() const {
  const std::lock_guard hold(backend_);
  Batch all;
  all.entries = TRY(load());
  // A directory before what is in it, in whatever order they came.
  std::ranges::sort(all.entries, {}, &FileEntry::path);
  MemoryStorage fresh;
  if (auto read = fresh.apply(all); !read)
    return fail(
        Error(Code::data_loss, "what the storage holds is not a tree").with_detail(read.error().message()));
  const auto state = TRY(fresh.take_snapshot());
  TRY(memory_.restore_snapshot(*state));
  return memory_.get_all();
}

Result<void> MirroredStorage::clear() {
  Batch everything;
  everything.removals = TRY(memory_.paths_by_prefix("/"));
  return apply(everything);
}

}  // namespace atl::vfs
