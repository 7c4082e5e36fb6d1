#pragma once

#include <memory>
#include <string>

#include "os/fd.h"
#include "vfs/file_system.h"

namespace atl::vfs {

// A directory of the host as a filesystem. Nothing outside of it can be reached: every open is done beneath
// the directory without following a link (openat2), links are followed here, step by step, and an absolute
// target counts from this directory. That holds also while somebody changes the tree under us.
//
// Devices and sockets show up as FIFOs and cannot be opened. Permissions are those of the daemon's own user.
// copy(), and move() onto another device, are not atomic; what was copied before a failure stays. stats()
// walks.
class HostFileSystem final : public FileSystem {
 public:
  // not_found or not_a_directory if `directory` (a path of the host) is not one.
  static Result<std::unique_ptr<HostFileSystem>> open(const std::string& directory);

  Result<Stat> stat(const Path& path, Follow follow = Follow::yes) const override;
  std::optional<Stat> find(const Path& path, Follow follow = Follow::yes) const override;
  Result<Listing> list(const Path& directory) const override;
  Result<Content> read(const Path& path) const override;
  Result<std::unique_ptr<File>> open(const Path& path, const OpenOptions& options) override;
  Result<void> write(const Path& path, Content content, const WriteOptions& options = {}) override;
  using FileSystem::write;
  Result<void> make_directory(const Path& path, std::uint32_t mode = 0755,
                              Parents parents = Parents::must_exist) override;
  Result<void> make_fifo(const Path& path, std::uint32_t mode = 0644) override;
  Result<void> make_symlink(const Path& path, std::string_view target) override;
  Result<void> make_link(const Path& existing, const Path& path) override;
  Result<std::string> read_link(const Path& path) const override;
  Result<Path> real_path(const Path& path) const override;
  Result<void> remove_file(const Path& path) override;
  Result<void> remove_directory(const Path& path) override;
  Result<void> remove_all(const Path& path) override;
  Result<void> rename(const Path& from, const Path& to) override;
  Result<void> set_mode(const Path& path, std::uint32_t mode, Follow follow = Follow::yes) override;
  Result<void> set_owner(const Path& path, std::optional<std::uint32_t> uid, std::optional<std::uint32_t> gid,
                         Follow follow = Follow::yes) override;
  Result<void> set_times(const Path& path, const Times& times, Follow follow = Follow::yes) override;
  Result<Path> copy(const Path& from, const Path& to, const CopyOptions& options = {}) override;
  Result<Path> move(const Path& from, const Path& to, const CopyOptions& options = {}) override;
  Result<Stats> stats() const override;

 private:
  explicit HostFileSystem(os::Fd root) : root_(std::move(root)) {}
  // The path without links on the way (and at its end, per `follow`); the last component may be missing.
  Result<Path> physical(const Path& path, Follow follow) const;
  Result<Path> physical_slowly(const Path& path, Follow follow) const;
  // A descriptor that names the entry (O_PATH). `path` is physical.
  Result<os::Fd> handle(const Path& path) const;
  Result<os::Fd> parent_of(const Path& path) const;

  os::Fd root_;
};

}  // namespace atl::vfs
