#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>

#include "os/task.h"
#include "vfs/file_storage.h"

namespace atl::vfs {

// FileStorage for the loop thread: the same calls as coroutines. A call that is canceled ends at once with
// Code::canceled; work that already runs in the backend goes on unseen, and a batch may then have been
// applied.
class AsyncFileStorage {
 public:
  virtual ~AsyncFileStorage() = default;
  virtual Task<std::optional<FileEntry>> get(Path path) = 0;
  virtual Task<void> set(FileEntry entry) = 0;
  virtual Task<bool> remove(Path path) = 0;
  virtual Task<bool> exists(Path path) = 0;
  virtual Task<std::vector<Path>> all_paths() = 0;
  virtual Task<std::vector<Path>> paths_by_prefix(std::string prefix) = 0;
  virtual Task<std::vector<Path>> children(Path directory) = 0;
  virtual Task<void> clear() = 0;
  virtual Task<std::uint64_t> count() = 0;
  virtual Task<std::vector<FileEntry>> get_all() = 0;
  virtual Task<void> set_many(std::vector<FileEntry> entries) = 0;
  virtual Task<void> apply(Batch batch) = 0;
};

// Any storage as an asynchronous one: calls run on `pool`, which outlives this object and every call.
std::unique_ptr<AsyncFileStorage> make_async(std::shared_ptr<FileStorage> storage,
                                             boost::asio::thread_pool& pool);

}  // namespace atl::vfs
