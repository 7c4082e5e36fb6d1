#pragma once

#include "os/fd.h"
#include "vfs/file_system.h"

namespace atl::vfs {

// An open regular file of the host.
class HostFile final : public File {
 public:
  HostFile(os::Fd fd, const OpenOptions& options) : fd_(std::move(fd)), options_(options) {}

  Result<std::size_t> read(std::span<char> out) override;
  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override;
  Result<void> write(std::string_view bytes) override;
  Result<void> write_at(std::uint64_t offset, std::string_view bytes) override;
  Result<std::uint64_t> seek(std::int64_t offset, Whence whence) override;
  std::uint64_t position() const override { return position_; }
  Result<void> truncate(std::uint64_t size) override;
  Result<Content> content() const override;
  Result<Stat> stat() const override;
  Result<void> flush() override;
  Result<void> close() override;

 private:
  Result<void> check(bool allowed, std::string_view what) const;

  os::Fd fd_;
  OpenOptions options_;
  std::uint64_t position_ = 0;
};

// Opens a regular file beneath `root` by its physical path; anything else is is_a_directory or
// invalid_argument.
Result<os::Fd> open_host_file(int root, const Path& path, int flags, std::uint32_t mode);
Result<Stat> stat_of_fd(int fd, std::string_view path);

}  // namespace atl::vfs
