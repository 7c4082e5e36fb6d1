#include "os/file.h"

#include <dirent.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#include <cerrno>
#include <vector>

namespace atl::os {

Result<Fd> open(const char* path, int flags, mode_t mode) {
  return open_at(AT_FDCWD, path, flags, mode);
}

Result<Fd> open_at(int dir, const char* path, int flags, mode_t mode) {
  const int fd = ::openat(dir, path, flags | O_CLOEXEC, mode);
  if (fd < 0) return fail(errno_error(errno, "open").with_detail(path));
  return Fd(fd);
}

Result<Fd> open_beneath(int dir, const char* path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  // The kernel checks each component as it walks, so nobody can swap a directory for a link in between.
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, dir, path, &how, sizeof how);
  if (fd < 0) return fail(errno_error(errno, "open").with_detail(path));
  return Fd(static_cast<int>(fd));
}

Result<std::string> read_file(const std::string& path, std::size_t bytes_max) {
  return read_file_at(AT_FDCWD, path.c_str(), bytes_max);
}

Result<std::string> read_file_at(int dir, const char* path, std::size_t bytes_max) {
  const Fd fd = TRY(open_at(dir, path, O_RDONLY));
  std::string text;
  char buffer[16384];
  for (;;) {
    // Until the end and not by size: files of /proc say that they have none.
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno_error(errno, "read").with_detail(path));
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > bytes_max) return fail(Error(Code::too_large, "file is too large").with_detail(path));
  }
}

Result<void> write_control(const std::string& path, std::string_view bytes) {
  return write_control_at(AT_FDCWD, path.c_str(), bytes);
}

Result<void> write_control_at(int dir, const char* path, std::string_view bytes) {
  const Fd fd = TRY(open_at(dir, path, O_WRONLY));
  // In one call: the kernel takes a line of a control file whole or not at all.
  if (::write(fd.get(), bytes.data(), bytes.size()) < 0)
    return fail(errno_error(errno, "write").with_detail(path));
  return {};
}

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno_error(errno, "write"));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view bytes, mode_t mode) {
  return write_file_at(AT_FDCWD, path.c_str(), bytes, mode);
}

Result<void> write_file_at(int dir, const char* path, std::string_view bytes, mode_t mode) {
  const Fd fd = TRY(open_at(dir, path, O_WRONLY | O_CREAT | O_TRUNC, mode));
  return write_all(fd.get(), bytes);
}

Result<void> write_file_durably(const std::string& path, std::string_view bytes, mode_t mode) {
  // Readers see the old content or the new one, also after a power failure: the file is on the disk before it
  // gets its name, and the name before this returns.
  const std::string beside = path + ".new";
  const Fd file = TRY(open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC, mode));
  TRY(write_all(file.get(), bytes));
  if (::fsync(file.get()) < 0) return fail(errno_error(errno, "sync").with_detail(beside));
  if (::rename(beside.c_str(), path.c_str()) < 0) return fail(errno_error(errno, "rename").with_detail(path));
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const Fd parent = TRY(open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  if (::fsync(parent.get()) < 0) return fail(errno_error(errno, "sync").with_detail(directory));
  return {};
}

Result<void> make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) < 0 && errno != EEXIST)
    return fail(errno_error(errno, "mkdir").with_detail(path));
  return {};
}

Result<void> make_directories(const std::string& path, mode_t mode) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    TRY(make_directory(path.substr(0, at), mode));
  return make_directory(path, mode);
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::vector<std::string> list_directory_at(int dir, const char* path) {
  std::vector<std::string> names;
  const int fd = ::openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (stream == nullptr) return names;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(stream);
  return names;
}

namespace {

struct Listing {
  std::vector<std::string> directories;
};

// Unlinks every non-directory of `dir` and names the directories. The count is bounded by what was there.
Result<Listing> empty_of_files(int dir) {
  const int copy = ::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return fail(errno_error(errno, "open directory"));
  DIR* stream = ::fdopendir(copy);
  if (stream == nullptr) {
    ::close(copy);
    return fail(errno_error(errno, "read directory"));
  }
  Listing listing;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (::unlinkat(dir, entry->d_name, 0) == 0 || errno == ENOENT) continue;
    // unlink(2) of a directory fails with EISDIR on Linux and with EPERM by POSIX; EBUSY is a mount point.
    if (errno == EISDIR || errno == EPERM || errno == EBUSY) listing.directories.emplace_back(name);
  }
  ::closedir(stream);
  return listing;
}

// Moves a directory up into `to` under a name that nothing has there: the tree may hold such names already.
Result<void> lift(int from, const std::string& name, int to, std::uint64_t& serial) {
  for (;;) {
    const std::string up = fmt::format(".atoll-remove-{}", serial++);
    if (::renameat2(from, name.c_str(), to, up.c_str(), RENAME_NOREPLACE) == 0) return {};
    if (errno != EEXIST) return fail(errno_error(errno, "remove directory"));
  }
}

}  // namespace

// Deep trees: instead of descending, each sub-directory is emptied of files and its own directories are
// renamed up into `name`, so the depth never exceeds two.
Result<void> remove_tree(int dir, const std::string& name) {
  if (::unlinkat(dir, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return fail(errno_error(errno, "remove"));
  const int top_fd = ::openat(dir, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (top_fd < 0) return errno == ENOENT ? Result<void>{} : Result<void>(fail(errno_error(errno, "remove")));
  const Fd top(top_fd);
  std::uint64_t serial = 0;
  for (;;) {
    const Listing listing = TRY(empty_of_files(top.get()));
    if (listing.directories.empty()) break;
    for (const std::string& sub : listing.directories) {
      if (::unlinkat(top.get(), sub.c_str(), AT_REMOVEDIR) == 0) continue;
      const int sub_raw = ::openat(top.get(), sub.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (sub_raw < 0) return fail(errno_error(errno, "remove directory"));
      const Fd sub_fd(sub_raw);
      const Listing inner = TRY(empty_of_files(sub_fd.get()));
      for (const std::string& deeper : inner.directories) {
        if (::unlinkat(sub_fd.get(), deeper.c_str(), AT_REMOVEDIR) == 0) continue;
        TRY(lift(sub_fd.get(), deeper, top.get(), serial));
      }
      if (::unlinkat(top.get(), sub.c_str(), AT_REMOVEDIR) < 0 && errno != ENOENT)
        return fail(errno_error(errno, "remove directory"));
    }
  }
  if (::unlinkat(dir, name.c_str(), AT_REMOVEDIR) < 0 && errno != ENOENT)
    return fail(errno_error(errno, "remove directory"));
  return {};
}

Result<Fd> sealed_program(const char* name, std::string_view bytes) {
  const int raw = ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (raw < 0) return fail(errno_error(errno, "memfd_create"));
  Fd fd(raw);
  TRY(write_all(fd.get(), bytes));
  if (::fchmod(fd.get(), 0555) < 0) return fail(errno_error(errno, "fchmod"));
  // Nobody can change the program that sandboxes execute, not even through /proc/self/exe.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
    return fail(errno_error(errno, "seal"));
  return fd;
}

Result<Space> filesystem_space(int fd) {
  struct statfs info {};
  if (::fstatfs(fd, &info) < 0) return fail(errno_error(errno, "statfs"));
  const auto block = static_cast<std::uint64_t>(info.f_bsize);
  return Space{.bytes = info.f_blocks * block,
               .bytes_used = (info.f_blocks - info.f_bfree) * block,
               .inodes = info.f_files,
               .inodes_used = info.f_files - info.f_ffree};
}

}  // namespace atl::os
