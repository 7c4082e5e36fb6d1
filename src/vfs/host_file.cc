#include "vfs/host_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "os/file.h"

namespace atl::vfs {
namespace {

Type type_of(mode_t mode) {
  if (S_ISREG(mode)) return Type::file;
  if (S_ISDIR(mode)) return Type::directory;
  if (S_ISLNK(mode)) return Type::symlink;
  return Type::fifo;
}

}  // namespace

Result<Stat> stat_of_fd(int fd, std::string_view path) {
  struct statx info {};
  if (::statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &info) != 0)
    return fail(errno_error(errno, path));
  auto time = [](const struct statx_timestamp& t) {
    return WallTime(std::chrono::seconds(t.tv_sec) + Duration(t.tv_nsec));
  };
  Stat out;
  out.inode = info.stx_ino;
  out.links = info.stx_nlink;
  out.type = type_of(info.stx_mode);
  out.size = out.type == Type::directory ? 0 : info.stx_size;
  out.mode = info.stx_mode & 07777;
  out.uid = info.stx_uid;
  out.gid = info.stx_gid;
  out.modified = time(info.stx_mtime);
  out.changed = time(info.stx_ctime);
  out.accessed = time(info.stx_atime);
  out.created = (info.stx_mask & STATX_BTIME) != 0 ? time(info.stx_btime) : out.changed;
  return out;
}

Result<os::Fd> open_host_file(int root, const Path& path, int flags, std::uint32_t mode) {
  if (path.is_root()) return refuse(Code::is_a_directory, path);
  // O_NONBLOCK: a FIFO must not hold us up. Truncation waits until we know that it is a file. openat2 refuses
  // a mode where nothing can be created.
  int how = (flags & ~O_TRUNC) | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
  auto fd =
      os::open_beneath(root, path.str().substr(1).c_str(), how, (flags & O_CREAT) != 0 ? mode & 07777 : 0);
  if (!fd) {
    // ENXIO and ENODEV: a FIFO without a reader, a socket, a device.
    if (fd.error().code() == Code::internal)
      return fail(Code::invalid_argument, fmt::format("{}: not a file", path.str()));
    return refuse(fd.error().code(), path);
  }
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail(errno_error(errno, path.str()));
  if (S_ISDIR(info.st_mode)) return refuse(Code::is_a_directory, path);
  if (!S_ISREG(info.st_mode))
    return fail(Code::invalid_argument, fmt::format("{}: is not a regular file", path.str()));
  if ((flags & O_TRUNC) != 0 && info.st_size > 0 && ::ftruncate(fd->get(), 0) != 0)
    return fail(errno_error(errno, path.str()));
  return std::move(*fd);
}

Result<void> HostFile::check(bool allowed, std::string_view what) const {
  if (!fd_.is_open()) return fail(Code::conflict, "the file is closed");
  if (!allowed) return fail(Code::permission_denied, fmt::format("the file is not open for {}", what));
  return {};
}

Result<std::size_t> HostFile::read_at(std::uint64_t offset, std::span<char> out) {
  TRY(check(options_.read, "reading"));
  while (true) {
    ssize_t n = ::pread(fd_.get(), out.data(), out.size(), static_cast<off_t>(offset));
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return fail(errno_error(errno, "read"));
  }
}

Result<std::size_t> HostFile::read(std::span<char> out) {
  auto count = TRY(read_at(position_, out));
  position_ += count;
  return count;
}

Result<void> HostFile::write_at(std::uint64_t offset, std::string_view bytes) {
  TRY(check(options_.write || options_.append, "writing"));
  while (!bytes.empty()) {
    ssize_t n = ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno_error(errno, "write"));
    bytes.remove_prefix(static_cast<std::size_t>(n));
    offset += static_cast<std::uint64_t>(n);
  }
  return {};
}

Result<void> HostFile::write(std::string_view bytes) {
  if (!options_.append) {
    TRY(write_at(position_, bytes));
    position_ += bytes.size();
    return {};
  }
  TRY(check(true, "writing"));
  TRY(os::write_all(fd_.get(), bytes));
  position_ = TRY(stat()).size;
  return {};
}

Result<std::uint64_t> HostFile::seek(std::int64_t offset, Whence whence) {
  std::uint64_t base = whence == Whence::start ? 0 : whence == Whence::current ? position_ : TRY(stat()).size;
  std::int64_t target = 0;
  if (__builtin_add_overflow(static_cast<std::int64_t>(base), offset, &target) || target < 0)
    return fail(Code::invalid_argument, "cannot seek there");
  position_ = static_cast<std::uint64_t>(target);
  return position_;
}

Result<void> HostFile::truncate(std::uint64_t size) {
  TRY(check(options_.write || options_.append, "writing"));
  if (::ftruncate(fd_.get(), static_cast<off_t>(size)) != 0) return fail(errno_error(errno, "truncate"));
  return {};
}

Result<Content> HostFile::content() const {
  TRY(check(options_.read, "reading"));
  Content content;
  std::string buffer(Content::kChunkBytes, '\0');
  while (true) {
    ssize_t n = ::pread(fd_.get(), buffer.data(), buffer.size(), static_cast<off_t>(content.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(errno_error(errno, "read"));
    if (n == 0) return content;
    content.append(std::string_view(buffer).substr(0, static_cast<std::size_t>(n)));
  }
}

Result<Stat> HostFile::stat() const {
  TRY(check(true, ""));
  return stat_of_fd(fd_.get(), "file");
}

Result<void> HostFile::flush() {
  TRY(check(true, ""));
  if (::fdatasync(fd_.get()) != 0) return fail(errno_error(errno, "flush"));
  return {};
}

Result<void> HostFile::close() {
  TRY(check(true, ""));
  fd_.reset();
  return {};
}

}  // namespace atl::vfs
