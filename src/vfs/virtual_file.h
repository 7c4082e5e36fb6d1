#pragma once

#include "vfs/virtual_file_system.h"

namespace atl::vfs {

// An open file of a VirtualFileSystem, which outlives it.
// Takes the filesystem's locks itself. The contract of the members is File's.
class VirtualFile final : public File {
 public:
  VirtualFile(VirtualFileSystem& fs, VirtualFileSystem::OpenInode& open, const OpenOptions& options)
      : fs_(fs), open_(&open), options_(options) {}
  ~VirtualFile() override;
  VirtualFile(const VirtualFile&) = delete;
  VirtualFile& operator=(const VirtualFile&) = delete;

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

  VirtualFileSystem& fs_;
  VirtualFileSystem::OpenInode* open_;  // null once closed
  OpenOptions options_;
  std::uint64_t position_ = 0;
};

}  // namespace atl::vfs
