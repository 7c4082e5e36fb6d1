#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "sandbox/files.h"
#include "sandbox/virtual_tree.h"

namespace atl::sandbox::emulated {

// Files of a virtual sandbox. Extended attributes are not kept
// (Code::unsupported). Permissions are not enforced: a user must merely exist.
// Belongs to the loop thread.
class VirtualFiles final : public Files {
 public:
  VirtualFiles(boost::asio::any_io_executor executor, VirtualTree tree)
      : executor_(std::move(executor)), tree_(std::move(tree)), fs_(tree_.view) {}

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
  using Transfer = Result<vfs::Path> (vfs::FileSystem::*)(const vfs::Path& from, const vfs::Path& to,
                                                          const vfs::CopyOptions& options);
  Result<FileInfo> transfer(const std::string& from, const std::string& to, const std::string& user,
                            Overwrite overwrite, Transfer act);

  boost::asio::any_io_executor executor_;
  VirtualTree tree_;
  std::shared_ptr<vfs::FileSystem> fs_;  // all of it together
};

}  // namespace atl::sandbox::emulated
