#pragma once

#include <map>
#include <memory>
#include <vector>

#include "vfs/file_system.h"

namespace atl::vfs {

// Filesystems hung into one: each at a directory of the base. Symbolic links lead across the borders; hard
// links and renames do not (Code::unsupported, as EXDEV); move() and copy() do, by copying. A mount point
// cannot be removed or moved (Code::conflict). Read-only parts refuse every change with Code::read_only.
class MountFileSystem final : public FileSystem {
 public:
  enum class Access : std::uint8_t { read_write, read_only };

  explicit MountFileSystem(std::shared_ptr<FileSystem> base, Access access = Access::read_write);
  // Makes the directory `at` in what is mounted so far if it is missing. Not while others use this
  // filesystem.
  Result<void> mount(const Path& at, std::shared_ptr<FileSystem> fs, Access access = Access::read_write);

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
  // Of all parts together.
  Result<Stats> stats() const override;

 private:
  struct Part {
    Path at;
    std::shared_ptr<FileSystem> fs;
    Access access;
  };
  // A path without links on the way, and where it lies.
  struct Spot {
    const Part* part;
    Path outside;  // seen from here
    Path inside;   // seen from the part's own root
  };
  const Part& part_of(const Path& path) const;
  Spot spot(const Path& physical) const;
  Result<Spot> locate(const Path& path, Follow follow) const;
  Result<Spot> locate_for_change(const Path& path, Follow follow) const;
  Result<void> check_not_mounted(const Path& physical) const;
  std::uint64_t inode(const Part& part, std::uint64_t number) const;

  std::vector<Part> parts_;  // the base first
};

}  // namespace atl::vfs
