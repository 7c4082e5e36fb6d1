#pragma once

#include <fcntl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

// Small files and directories of the host. Every descriptor is close-on-exec. Paths are ours, never a
// guest's: for those there is open_beneath.
namespace atl::os {

// An error is errno's, with the path in its detail, which is for the log.
Result<Fd> open(const char* path, int flags, mode_t mode = 0);
Result<Fd> open_at(int dir, const char* path, int flags, mode_t mode = 0);

// Opens below `dir` without following any symbolic link and without leaving it (openat2, RESOLVE_BENEATH |
// RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS): safe on a tree that somebody hostile is changing.
Result<Fd> open_beneath(int dir, const char* path, int flags, mode_t mode = 0);

// The whole file, at most `bytes_max` (more is Code::too_large). Meant for /proc, /sys and cgroup files.
Result<std::string> read_file(const std::string& path, std::size_t bytes_max = 1 << 20);
Result<std::string> read_file_at(int dir, const char* path, std::size_t bytes_max = 1 << 20);
// One write call, as control files want it. The file must exist.
Result<void> write_control(const std::string& path, std::string_view bytes);
Result<void> write_control_at(int dir, const char* path, std::string_view bytes);
// Creates or replaces.
Result<void> write_file(const std::string& path, std::string_view bytes, mode_t mode = 0644);
Result<void> write_file_at(int dir, const char* path, std::string_view bytes, mode_t mode = 0644);
// The same, there whole or not at all even if the power fails: written beside, synced, then renamed.
Result<void> write_file_durably(const std::string& path, std::string_view bytes, mode_t mode = 0644);
// Goes on after short writes; an error leaves what was written so far.
Result<void> write_all(int fd, std::string_view bytes);

// An existing directory is success.
Result<void> make_directory(const std::string& path, mode_t mode = 0755);
Result<void> make_directories(const std::string& path, mode_t mode = 0755);
bool exists(const std::string& path);
// Names in the directory, "." and ".." left out, in no order. Empty where it cannot be read.
std::vector<std::string> list_directory_at(int dir, const char* path);

// Removes `name` below `dir` with everything in it, whatever its depth, following nothing. Works with a
// constant number of descriptors and constant stack. A missing name is success.
Result<void> remove_tree(int dir, const std::string& name);

// A sealed, executable, read-only anonymous file with these bytes: a program nobody can change any more.
Result<Fd> sealed_program(const char* name, std::string_view bytes);

struct Space {
  std::uint64_t bytes = 0, bytes_used = 0;
  std::uint64_t inodes = 0, inodes_used = 0;
};
// Of the filesystem that the descriptor is on.
Result<Space> filesystem_space(int fd);

}  // namespace atl::os
