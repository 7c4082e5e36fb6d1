#pragma once

#include <memory>
#include <string>

#include "sandbox/files.h"
#include "sandbox/frame_stream.h"

namespace atl::sandbox {

// Files through a guest. Readers, writers and watches may outlive it; they end with the stream.
class GuestFiles final : public Files {
 public:
  GuestFiles(std::shared_ptr<FrameStream> frames, std::string default_user)
      : frames_(std::move(frames)), user_(std::move(default_user)) {}
  void set_default_user(std::string user) { user_ = std::move(user); }

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
  // The fields that every request begins with.
  std::string begin(const std::string& user, const std::string& path) const;
  Task<FileInfo> two_paths(guest::Type type, std::string from, std::string to, std::string user,
                           Overwrite overwrite);

  std::shared_ptr<FrameStream> frames_;
  std::string user_;
};

// Reads one entry. False if it is malformed.
bool read_entry(guest::Reader& in, FileInfo& info);

}  // namespace atl::sandbox
