#include "sandbox/emulated/pooled_files.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace atl::sandbox::emulated {
namespace {

using Pool = std::shared_ptr<boost::asio::thread_pool>;

// Runs `work` on the pool to its end; the waiting coroutine then goes on where it was. `holds` keeps alive
// what the work needs.
template <class T>
Task<T> on_pool(Pool pool, Task<T> work, std::shared_ptr<void> holds) {
  auto result =
      co_await boost::asio::co_spawn(pool->get_executor(), std::move(work), boost::asio::use_awaitable);
  holds.reset();
  co_return result;
}

class PooledWriter final : public FileWriter {
 public:
  PooledWriter(std::shared_ptr<FileWriter> inner, Pool pool)
      : inner_(std::move(inner)), pool_(std::move(pool)) {}
  PooledWriter(const PooledWriter&) = delete;
  PooledWriter& operator=(const PooledWriter&) = delete;
  // One that was not finished takes back what it wrote, which may wait as writing does.
  ~PooledWriter() override {
    boost::asio::post(*pool_, [inner = std::move(inner_)]() mutable { inner.reset(); });
  }
  Task<void> write(std::string bytes) override {
    return on_pool<void>(pool_, inner_->write(std::move(bytes)), inner_);
  }
  Task<FileInfo> finish() override { return on_pool<FileInfo>(pool_, inner_->finish(), inner_); }

 private:
  std::shared_ptr<FileWriter> inner_;
  Pool pool_;
};

}  // namespace

Task<FileInfo> PooledFiles::make_directory(std::string path, std::string user, Ownership ownership) {
  return on_pool<FileInfo>(pool_, inner_->make_directory(std::move(path), std::move(user), ownership),
                           inner_);
}

Task<FileInfo> PooledFiles::move(std::string from, std::string to, std::string user, Overwrite overwrite) {
  return on_pool<FileInfo>(pool_, inner_->move(std::move(from), std::move(to), std::move(user), overwrite),
                           inner_);
}

Task<FileInfo> PooledFiles::copy(std::string from, std::string to, std::string user, Overwrite overwrite) {
  return on_pool<FileInfo>(pool_, inner_->copy(std::move(from), std::move(to), std::move(user), overwrite),
                           inner_);
}

Task<void> PooledFiles::remove(std::string path, Recursive recursive, std::string user) {
  return on_pool<void>(pool_, inner_->remove(std::move(path), recursive, std::move(user)), inner_);
}

Task<void> PooledFiles::chmod(std::string path, std::uint32_t mode, std::string user) {
  return on_pool<void>(pool_, inner_->chmod(std::move(path), mode, std::move(user)), inner_);
}

Task<std::unique_ptr<FileWriter>> PooledFiles::open_write(std::string path, WriteOptions options) {
  const Pool pool = pool_;
  auto opening = on_pool<std::unique_ptr<FileWriter>>(
      pool, inner_->open_write(std::move(path), std::move(options)), inner_);
  CO_TRY(std::unique_ptr<FileWriter> writer, co_await std::move(opening));
  std::unique_ptr<FileWriter> pooled = std::make_unique<PooledWriter>(std::move(writer), pool);
  co_return pooled;
}

}  // namespace atl::sandbox::emulated
