#pragma once

#include <boost/asio/thread_pool.hpp>
#include <memory>

#include "sandbox/files.h"

namespace atl::sandbox::emulated {

// Files whose changes wait for a storage, which may be slow or gone: what changes something runs on a pool,
// so that the loop waits for nobody. What only looks is answered from memory, at once. Belongs to the loop
// thread; `inner` is used by several threads.
class PooledFiles final : public Files {
 public:
  PooledFiles(std::shared_ptr<Files> inner, std::shared_ptr<boost::asio::thread_pool> pool)
      : inner_(std::move(inner)), pool_(std::move(pool)) {}

  Task<FileInfo> stat(std::string path, std::string user) override {
    return inner_->stat(std::move(path), std::move(user));
  }
  Task<std::vector<FileInfo>> list(std::string path, std::uint32_t depth, ListBounds bounds,
                                   std::string user) override {
    return inner_->list(std::move(path), depth, std::move(bounds), std::move(user));
  }
  Task<std::unique_ptr<FileReader>> open_read(std::string path, std::uint64_t offset,
                                              std::optional<std::uint64_t> length,
                                              std::string user) override {
    return inner_->open_read(std::move(path), offset, length, std::move(user));
  }
  Task<std::unique_ptr<Watch>> watch(std::string path, Recursive recursive, std::string user) override {
    return inner_->watch(std::move(path), recursive, std::move(user));
  }

  Task<FileInfo> make_directory(std::string path, std::string user, Ownership ownership) override;
  Task<FileInfo> move(std::string from, std::string to, std::string user, Overwrite overwrite) override;
  Task<FileInfo> copy(std::string from, std::string to, std::string user, Overwrite overwrite) override;
  Task<void> remove(std::string path, Recursive recursive, std::string user) override;
  Task<void> chmod(std::string path, std::uint32_t mode, std::string user) override;
  Task<std::unique_ptr<FileWriter>> open_write(std::string path, WriteOptions options) override;

 private:
  std::shared_ptr<Files> inner_;
  std::shared_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace atl::sandbox::emulated
