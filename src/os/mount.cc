#include "os/mount.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/syscall.h>

#include <cerrno>

// <sys/mount.h> and <linux/mount.h> cannot be included together on every glibc; these two are all we need of
// it.
extern "C" int mount(const char*, const char*, const char*, unsigned long, const void*) noexcept;
extern "C" int umount2(const char*, int) noexcept;

namespace atl::os {
namespace {

constexpr int kDetach = 2;  // MNT_DETACH

long call(long number, auto... arguments) {
  return ::syscall(number, arguments...);
}

}  // namespace

Result<FilesystemContext> FilesystemContext::open(const char* type) {
  const long fd = call(SYS_fsopen, type, FSOPEN_CLOEXEC);
  if (fd < 0) return fail(errno_error(errno, std::string("fsopen ") + type));
  return FilesystemContext(Fd(static_cast<int>(fd)), type);
}

std::string FilesystemContext::complaint() {
  char text[512];
  const ssize_t n = ::read(fd_.get(), text, sizeof text - 1);
  return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : std::string();
}

Result<void> FilesystemContext::set(const char* key, const std::string& value) {
  if (call(SYS_fsconfig, fd_.get(), FSCONFIG_SET_STRING, key, value.c_str(), 0) < 0) {
    const int why = errno;
    return fail(
        errno_error(why, std::string(type_) + " option " + key).with_detail(value + ": " + complaint()));
  }
  return {};
}

Result<void> FilesystemContext::set_flag(const char* key) {
  if (call(SYS_fsconfig, fd_.get(), FSCONFIG_SET_FLAG, key, nullptr, 0) < 0)
    return fail(errno_error(errno, std::string(type_) + " option " + key));
  return {};
}

Result<Fd> FilesystemContext::mount(unsigned attributes) {
  if (call(SYS_fsconfig, fd_.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) < 0) {
    const int why = errno;
    return fail(errno_error(why, std::string("create ") + type_).with_detail(complaint()));
  }
  const long mount_fd = call(SYS_fsmount, fd_.get(), FSMOUNT_CLOEXEC, attributes);
  if (mount_fd < 0) return fail(errno_error(errno, std::string("mount ") + type_));
  return Fd(static_cast<int>(mount_fd));
}

Result<Fd> clone_mount(int dir, const char* path, Subtree subtree) {
  unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH;
  if (subtree == Subtree::yes) flags |= AT_RECURSIVE;
  const long fd = call(SYS_open_tree, dir, path, flags);
  if (fd < 0) return fail(errno_error(errno, "clone mount").with_detail(path));
  return Fd(static_cast<int>(fd));
}

Result<Fd> open_mount(int dir, const char* path) {
  const int fd = ::openat(dir, path, O_PATH | O_CLOEXEC);
  if (fd < 0) return fail(errno_error(errno, "open").with_detail(path));
  return Fd(fd);
}

Result<void> attach(int mount_fd, int dir, const char* path) {
  if (call(SYS_move_mount, mount_fd, "", dir, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
    return fail(errno_error(errno, "attach mount").with_detail(path));
  return {};
}

Result<void> change_mount(int fd, const char* path, Subtree subtree, const MountChange& change) {
  mount_attr attributes{};
  attributes.attr_set = change.set;
  attributes.attr_clr = change.clear;
  attributes.propagation = change.propagation;
  if (change.user_namespace >= 0) {
    attributes.attr_set |= MOUNT_ATTR_IDMAP;
    attributes.userns_fd = static_cast<std::uint64_t>(change.user_namespace);
  }
  const unsigned flags = AT_EMPTY_PATH | (subtree == Subtree::yes ? AT_RECURSIVE : 0U);
  if (call(SYS_mount_setattr, fd, path, flags, &attributes, sizeof attributes) < 0)
    return fail(errno_error(errno, "change mount").with_detail(path));
  return {};
}

Result<void> bind(const char* from, const char* to) {
  if (::mount(from, to, nullptr, MS_BIND, nullptr) < 0)
    return fail(errno_error(errno, "bind mount").with_detail(std::string(from) + " on " + to));
  return {};
}

Result<void> detach(const char* path) {
  if (::umount2(path, kDetach) < 0) return fail(errno_error(errno, "unmount").with_detail(path));
  return {};
}

Result<void> make_all_private() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) < 0)
    return fail(errno_error(errno, "make mounts private"));
  return {};
}

Result<void> move_to_root() {
  if (::mount(".", "/", nullptr, MS_MOVE, nullptr) < 0) return fail(errno_error(errno, "move root"));
  if (::chroot(".") < 0) return fail(errno_error(errno, "chroot"));
  if (::chdir("/") < 0) return fail(errno_error(errno, "chdir"));
  return {};
}

}  // namespace atl::os
