#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "sandbox/files.h"
#include "vfs/virtual_file_system.h"

namespace atl::sandbox::emulated {

// Files of a sandbox whose filesystem is in memory. Extended attributes are not kept
// (Code::unsupported). Permissions are not enforced: a user must merely exist.
// Belongs to the loop thread.
class VirtualFiles final : public Files {
 public:
  VirtualFiles(boost::asio::any_io_executor executor, std::shared_ptr<vfs::VirtualFileSystem> fs)
      : executor_(std::move(executor)), fs_(std::move(fs)) {}

  Task<FileInfo> stat(std::string path, std::string user) override;
  Task<std::vector<FileInfo>> list(std::string path, std::uint32_t depth, ListBounds bounds,
                                   std::string user) override;
  Task<FileInfo> make_directory(std::string path, std::string user, Ownership ownership) override;
  Task<FileInfo> move(std::string from, std::string to, std::string user, Overwrite overwrite) override;
  Task<FileInfo> copy(std::string from, std::string to, std::string user, Overwrite overwrite) override;
  Task<void> remove(std::string path, Recursive recursive, std::string user) override;
  Task<void> chmod(std::string path, std::uint32_t mode, std::string user) override;
  Task<std::unique_ptr<FileReader>> open_read(std::string path, std::uint64_t offset,
                                              std::optional<std::uint64_t> length, std::string user) override;
  Task<std::unique_ptr<FileWriter>> open_write(std::string path, WriteOptions options) override;
  Task<std::unique_ptr<Watch>> watch(std::string path, Recursive recursive, std::string user) override;

 private:
  boost::asio::any_io_executor executor_;
  std::shared_ptr<vfs::VirtualFileSystem> fs_;
};

}  // namespace atl::sandbox::emulated
