#include "vfs/host_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <unordered_set>
#include <vector>

#include "os/file.h"
#include "vfs/copy.h"
#include "vfs/host_file.h"

namespace atl::vfs {
namespace {

constexpr std::uint64_t kReadBytesMax = 1ULL << 30;

std::unexpected<Error> failed(const Path& path) {
  return fail(errno_error(errno, path.str()));
}

// Relative to the root's descriptor.
std::string relative(const Path& path) {
  return path.is_root() ? "." : path.str().substr(1);
}

Type type_of_entry(unsigned char kind) {
  switch (kind) {
    case DT_REG: return Type::file;
    case DT_DIR: return Type::directory;
    case DT_LNK: return Type::symlink;
    default: return Type::fifo;
  }
}

std::string name_of(const Path& path) {
  return std::string(path.name());
}

std::string proc_path(const os::Fd& fd) {
  return fmt::format("/proc/self/fd/{}", fd.get());
}

Result<std::string> target_of(const os::Fd& link, const Path& path) {
  std::string target(kPathBytesMax + 1, '\0');
  // With an empty path it reads the link that the descriptor itself is.
  ssize_t n = ::readlinkat(link.get(), "", target.data(), target.size());
  if (n < 0) return failed(path);
  target.resize(static_cast<std::size_t>(n));
  return target;
}

}  // namespace

Result<std::unique_ptr<HostFileSystem>> HostFileSystem::open(const std::string& directory) {
  auto root = TRY(os::open(directory.c_str(), O_PATH | O_DIRECTORY));
  return std::unique_ptr<HostFileSystem>(new HostFileSystem(std::move(root)));
}

// O_PATH opens without touching: it needs no permission to read and does not wait for a FIFO's other end.
Result<os::Fd> HostFileSystem::handle(const Path& path) const {
  auto fd = os::open_beneath(root_.get(), relative(path).c_str(), O_PATH | O_NOFOLLOW);
  if (!fd) return refuse(fd.error().code(), path);
  return fd;
}

Result<os::Fd> HostFileSystem::parent_of(const Path& path) const {
  auto fd = os::open_beneath(root_.get(), relative(path.parent()).c_str(), O_PATH | O_DIRECTORY);
  if (!fd) return refuse(fd.error().code(), path);
  return fd;
}

Result<Path> HostFileSystem::physical(const Path& path, Follow follow) const {
  auto fd = os::open_beneath(root_.get(), relative(path).c_str(), O_PATH | O_NOFOLLOW);
  if (!fd) {
    // openat2 was told to follow no links (ELOOP): links are resolved by us, against our root and not the
    // machine's.
    if (fd.error().code() == Code::loop) return physical_slowly(path, follow);
    if (fd.error().code() != Code::not_found) return refuse(fd.error().code(), path);
    // A last component that is missing is fine: it may be about to be made.
    if (!path.is_root() && !parent_of(path)) return refuse(Code::not_found, path);
    return path;
  }
  if (follow == Follow::no || !TRY(stat_of_fd(fd->get(), path.str())).is_symlink()) return path;
  return physical_slowly(path, follow);
}

Result<Path> HostFileSystem::physical_slowly(const Path& path, Follow follow) const {
  std::string rest = path.str();
  Path here;
  int links = 0;
  while (true) {
    std::string_view view = rest;
    std::string component(next_component(view));
    std::string behind(view);
    if (component.empty()) return here;
    if (component == "." || component == "..") {
      if (component == "..") here = here.parent();
      rest = behind;
      continue;
    }
    bool last = behind.find_first_not_of('/') == std::string::npos;
    auto next = TRY(here.child(component));
    auto fd = os::open_beneath(root_.get(), relative(next).c_str(), O_PATH | O_NOFOLLOW);
    if (!fd && fd.error().code() == Code::not_found && last) return next;
    if (!fd) return refuse(fd.error().code(), path);
    auto info = TRY(stat_of_fd(fd->get(), path.str()));
    if (info.is_symlink() && (!last || follow == Follow::yes)) {
      if (++links > kLinksFollowedMax) return refuse(Code::loop, path);
      auto target = TRY(target_of(*fd, path));
      if (target.starts_with('/')) here = Path();
      rest = target + "/" + behind;
      continue;
    }
    if (!last && !info.is_directory()) return refuse(Code::not_a_directory, path);
    here = std::move(next);
    rest = behind;
  }
}

// ---- reading ----

Result<Stat> HostFileSystem::stat(const Path& path, Follow follow) const {
  auto real = TRY(physical(path, follow));
  auto fd = handle(real);
  if (!fd) return refuse(fd.error().code(), path);
  return stat_of_fd(fd->get(), path.str());
}

std::optional<Stat> HostFileSystem::find(const Path& path, Follow follow) const {
  auto found = stat(path, follow);
  if (!found) return std::nullopt;
  return *found;
}

Result<Listing> HostFileSystem::list(const Path& directory) const {
  auto real = TRY(physical(directory, Follow::yes));
  auto fd = os::open_beneath(root_.get(), relative(real).c_str(), O_RDONLY | O_DIRECTORY);
  if (!fd) return refuse(fd.error().code(), directory);
  std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd->get()), ::closedir);
  if (!stream) return failed(directory);
  // closedir() closes it.
  (void)fd->release();
  Listing out;
  // readdir() gives null at the end and on failure; only errno tells.
  errno = 0;
  while (dirent* entry = ::readdir(stream.get())) {
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") out.add(name, type_of_entry(entry->d_type), entry->d_ino);
    errno = 0;
  }
  if (errno != 0) return failed(directory);
  out.sort();
  return out;
}

Result<Content> HostFileSystem::read(const Path& path) const {
  auto real = TRY(physical(path, Follow::yes));
  auto fd = TRY(open_host_file(root_.get(), real, O_RDONLY, 0));
  Content content;
  std::string buffer(Content::kChunkBytes, '\0');
  while (true) {
    ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(path);
    if (n == 0) return content;
    content.append(std::string_view(buffer).substr(0, static_cast<std::size_t>(n)));
    if (content.size() > kReadBytesMax)
      return fail(Code::too_large, fmt::format("{}: over 1 GiB", path.str()));
  }
}

Result<std::string> HostFileSystem::read_link(const Path& path) const {
  auto real = TRY(physical(path, Follow::no));
  auto fd = handle(real);
  if (!fd) return refuse(fd.error().code(), path);
  if (!TRY(stat_of_fd(fd->get(), path.str())).is_symlink()) return refuse(Code::invalid_argument, path);
  return target_of(*fd, path);
}

Result<Path> HostFileSystem::real_path(const Path& path) const {
  auto real = TRY(physical(path, Follow::yes));
  if (auto fd = handle(real); !fd) return refuse(fd.error().code(), path);
  return real;
}

Result<Stats> HostFileSystem::stats() const {
  Stats stats;
  std::unordered_set<std::uint64_t> seen;  // files with several names
  std::vector<Path> pending{Path()};
  while (!pending.empty()) {
    Path directory = std::move(pending.back());
    pending.pop_back();
    auto listing = TRY(list(directory));
    for (auto entry : listing) {
      auto path = TRY(directory.child(entry.name));
      if (entry.type == Type::directory) {
        ++stats.directories;
        pending.push_back(std::move(path));
      } else {
        ++stats.files;
        auto info = find(path, Follow::no);
        if (info && (info->links == 1 || seen.insert(info->inode).second)) stats.bytes += info->size;
      }
    }
  }
  return stats;
}

// ---- making and writing ----

Result<std::unique_ptr<File>> HostFileSystem::open(const Path& path, const OpenOptions& options) {
  bool writes = options.write || options.append;
  int flags = writes ? (options.read ? O_RDWR : O_WRONLY) : O_RDONLY;
  if (options.append) flags |= O_APPEND;
  if (options.create) flags |= O_CREAT;
  if (options.create && options.exclusive) flags |= O_EXCL;
  if (options.truncate && writes) flags |= O_TRUNC;
  if (options.create && options.parents == Parents::create && !path.is_root()) {
    auto made = make_directory(path.parent(), 0755, Parents::create);
    if (!made && made.error().code() == Code::already_exists) return refuse(Code::not_a_directory, path);
    if (!made) return fail(std::move(made).error());
  }
  // O_EXCL never follows a link, even a dangling one.
  Follow follow = options.create && options.exclusive ? Follow::no : options.follow;
  auto real = TRY(physical(path, follow));
  auto fd = TRY(open_host_file(root_.get(), real, flags, options.mode));
  return std::make_unique<HostFile>(std::move(fd), options);
}

Result<void> HostFileSystem::write(const Path& path, Content content, const WriteOptions& options) {
  OpenOptions how;
  how.read = false;
  how.write = how.create = true;
  how.append = options.append;
  how.truncate = !options.append;
  how.exclusive = options.overwrite == Overwrite::no;
  how.mode = options.mode;
  how.parents = options.parents;
  auto file = TRY(open(path, how));
  for (std::uint64_t at = 0; at < content.size();) {
    auto run = content.run(at);
    TRY(file->write(run));
    at += run.size();
  }
  return file->close();
}

Result<void> HostFileSystem::make_directory(const Path& path, std::uint32_t mode, Parents parents) {
  if (parents == Parents::create) {
    if (auto found = find(path)) {
      if (found->is_directory()) return {};
      return refuse(Code::already_exists, path);
    }
    auto above = make_directory(path.parent(), 0755, Parents::create);
    if (!above && above.error().code() == Code::already_exists) return refuse(Code::not_a_directory, path);
    if (!above) return above;
  }
  if (path.is_root()) return refuse(Code::already_exists, path);
  auto real = TRY(physical(path, Follow::no));
  auto parent = TRY(parent_of(real));
  if (::mkdirat(parent.get(), name_of(real).c_str(), mode & 07777) != 0) return failed(path);
  return {};
}

Result<void> HostFileSystem::make_fifo(const Path& path, std::uint32_t mode) {
  auto real = TRY(physical(path, Follow::no));
  auto parent = TRY(parent_of(real));
  if (::mkfifoat(parent.get(), name_of(real).c_str(), mode & 07777) != 0) return failed(path);
  return {};
}

Result<void> HostFileSystem::make_symlink(const Path& path, std::string_view target) {
  if (target.empty()) return refuse(Code::not_found, path);
  if (target.size() > kPathBytesMax - 1) return refuse(Code::too_large, path);
  if (target.find('\0') != std::string_view::npos) return refuse(Code::invalid_argument, path);
  auto real = TRY(physical(path, Follow::no));
  auto parent = TRY(parent_of(real));
  if (::symlinkat(std::string(target).c_str(), parent.get(), name_of(real).c_str()) != 0) return failed(path);
  return {};
}

Result<void> HostFileSystem::make_link(const Path& existing, const Path& path) {
  auto source = TRY(physical(existing, Follow::no));
  auto info = TRY(stat(existing, Follow::no));
  if (info.is_directory()) return refuse(Code::permission_denied, existing);
  auto real = TRY(physical(path, Follow::no));
  auto from = TRY(parent_of(source));
  auto to = TRY(parent_of(real));
  if (::linkat(from.get(), name_of(source).c_str(), to.get(), name_of(real).c_str(), 0) != 0)
    return failed(path);
  return {};
}

// ---- removing and moving ----

Result<void> HostFileSystem::remove_file(const Path& path) {
  auto real = TRY(physical(path, Follow::no));
  if (auto info = TRY(stat(real, Follow::no)); info.is_directory()) return refuse(Code::is_a_directory, path);
  auto parent = TRY(parent_of(real));
  if (::unlinkat(parent.get(), name_of(real).c_str(), 0) != 0) return failed(path);
  return {};
}

Result<void> HostFileSystem::remove_directory(const Path& path) {
  if (path.is_root()) return refuse(Code::invalid_argument, path);
  auto real = TRY(physical(path, Follow::no));
  auto parent = TRY(parent_of(real));
  if (::unlinkat(parent.get(), name_of(real).c_str(), AT_REMOVEDIR) != 0) return failed(path);
  return {};
}

Result<void> HostFileSystem::remove_all(const Path& path) {
  if (path.is_root()) {
    auto listing = TRY(list(path));
    for (auto entry : listing) {
      auto child = TRY(path.child(entry.name));
      TRY(remove_all(child));
    }
    return {};
  }
  auto real = TRY(physical(path, Follow::no));
  TRY(stat(real, Follow::no));
  auto parent = os::open_beneath(root_.get(), relative(real.parent()).c_str(), O_RDONLY | O_DIRECTORY);
  if (!parent) return refuse(parent.error().code(), path);
  return os::remove_tree(parent->get(), name_of(real));
}

Result<void> HostFileSystem::rename(const Path& from_path, const Path& to_path) {
  auto from = TRY(physical(from_path, Follow::no));
  TRY(stat(from, Follow::no));
  auto to = TRY(physical(to_path, Follow::no));
  if (from.is_root() || to.is_root()) return refuse(Code::invalid_argument, Path());
  if (to.is_child_of(from) && is_directory(from))
    return fail(Code::loop, fmt::format("{}: cannot move a directory into itself", from_path.str()));
  auto from_parent = TRY(parent_of(from));
  auto to_parent = TRY(parent_of(to));
  if (::renameat(from_parent.get(), name_of(from).c_str(), to_parent.get(), name_of(to).c_str()) != 0) {
    // Linux may say either for a directory that is not empty; callers see one.
    if (errno == EEXIST) errno = ENOTEMPTY;
    return failed(to_path);
  }
  return {};
}

Result<Path> HostFileSystem::copy(const Path& from, const Path& to, const CopyOptions& options) {
  return copy_between(*this, from, *this, to, options);
}

Result<Path> HostFileSystem::move(const Path& from, const Path& to, const CopyOptions& options) {
  return move_within(*this, from, to, options);
}

// ---- attributes ----

Result<void> HostFileSystem::set_mode(const Path& path, std::uint32_t mode, Follow follow) {
  auto real = TRY(physical(path, follow));
  auto fd = handle(real);
  if (!fd) return refuse(fd.error().code(), path);
  if (TRY(stat_of_fd(fd->get(), path.str())).is_symlink()) return refuse(Code::unsupported, path);
  // fchmod() refuses a descriptor of O_PATH, and chmod by name could be led away by a link that was put there
  // meanwhile; /proc/self/fd means the very file.
  if (::chmod(proc_path(*fd).c_str(), mode & 07777) != 0) return failed(path);
  return {};
}

Result<void> HostFileSystem::set_owner(const Path& path, std::optional<std::uint32_t> uid,
                                       std::optional<std::uint32_t> gid, Follow follow) {
  auto real = TRY(physical(path, follow));
  auto fd = handle(real);
  if (!fd) return refuse(fd.error().code(), path);
  if (::fchownat(fd->get(), "", uid.value_or(UINT32_MAX), gid.value_or(UINT32_MAX), AT_EMPTY_PATH) != 0)
    return failed(path);
  return {};
}

Result<void> HostFileSystem::set_times(const Path& path, const Times& times, Follow follow) {
  auto real = TRY(physical(path, follow));
  TRY(stat(real, Follow::no));
  auto parent = TRY(parent_of(real));
  auto spec = [](const std::optional<WallTime>& time) {
    // A time that is not given stays.
    timespec out{0, UTIME_OMIT};
    if (!time) return out;
    auto seconds = std::chrono::floor<std::chrono::seconds>(*time);
    out.tv_sec = seconds.time_since_epoch().count();
    out.tv_nsec = (*time - seconds).count();
    return out;
  };
  timespec both[2] = {spec(times.accessed), spec(times.modified)};
  std::string name = real.is_root() ? "." : name_of(real);
  if (::utimensat(parent.get(), name.c_str(), both, AT_SYMLINK_NOFOLLOW) != 0) return failed(path);
  return {};
}

}  // namespace atl::vfs
