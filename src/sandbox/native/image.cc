#include "sandbox/native/image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "os/file.h"
#include "os/fork.h"
#include "os/mount.h"
#include "os/process.h"

namespace atl::sandbox::native {
namespace {

constexpr unsigned kLoopMajor = 7;

Result<os::Fd> nameless_file(int directory, std::uint64_t bytes) {
  os::Fd file(::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.is_open()) return fail(errno_error(errno, "make a disk image"));
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) < 0)
    return fail(errno_error(errno, "size a disk image"));
  return file;
}

// mke2fs is not ours: it runs in a child, on the host's view, with nothing but the image open.
Result<void> format(int file, std::uint64_t inodes, int host_mounts) {
  const pid_t child = os::fork_alone();
  if (child < 0) return fail(errno_error(errno, "fork"));
  if (child == 0) {
    const sched_param normal{};
    ::sched_setscheduler(0, SCHED_OTHER, &normal);
    if (!os::enter_namespace(host_mounts, CLONE_NEWNS)) ::_exit(1);
    ::dup2(file, 0);
    (void)os::close_range(3, ~0U, os::UnshareTable::no);
    const std::string count = std::to_string(inodes);
    const char* const arguments[] = {"mke2fs",
                                     "-q",
                                     "-F",
                                     "-t",
                                     "ext4",
                                     "-m",
                                     "0",
                                     "-O",
                                     "^has_journal,^resize_inode",
                                     "-E",
                                     "lazy_itable_init=1,nodiscard,root_owner=0:0",
                                     "-N",
                                     count.c_str(),
                                     "/proc/self/fd/0",
                                     nullptr};
    const char* const environment[] = {"PATH=/usr/sbin:/sbin:/usr/bin:/bin", nullptr};
    for (const char* path : {"/usr/sbin/mke2fs", "/sbin/mke2fs"})
      ::execve(path, const_cast<char* const*>(arguments), const_cast<char* const*>(environment));
    ::_exit(127);
  }
  int status = 1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(Code::unsupported, "a disk image could not be formatted: install e2fsprogs");
  return {};
}

Result<void> copy_data(int from, int to, off_t size) {
  for (off_t at = 0; at < size;) {
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0) break;
    const off_t end = ::lseek(from, data, SEEK_HOLE);
    ::lseek(to, data, SEEK_SET);
    for (off_t position = data; position < end;)
      if (::sendfile(to, from, &position, static_cast<std::size_t>(end - position)) <= 0)
        return fail(errno_error(errno, "copy a disk image"));
    at = end;
  }
  return {};
}

// Another process may take the number between asking for it and using it: try again with the next.
Result<os::Fd> attach_loop(int control, int file, const std::string& nodes, std::string& path) {
  for (int attempt = 0; attempt < 64; ++attempt) {
    const int number = ::ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0) return fail(errno_error(errno, "find a loop device"));
    path = fmt::format("{}/loop{}", nodes, number);
    if (::mknod(path.c_str(), S_IFBLK | 0600, makedev(kLoopMajor, static_cast<unsigned>(number))) < 0 &&
        errno != EEXIST)
      return fail(errno_error(errno, "make a device node"));
    os::Fd device(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!device.is_open()) return fail(errno_error(errno, "open a loop device"));
    loop_config config{};
    config.fd = static_cast<std::uint32_t>(file);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(device.get(), LOOP_CONFIGURE, &config) == 0) return device;
    if (errno != EBUSY) return fail(errno_error(errno, "set up a loop device"));
  }
  return fail(Code::resource_exhausted, "no loop device is free");
}

}  // namespace

Images Images::open(const std::string& directory) {
  Images images;
  if (auto control = os::open("/dev/loop-control", O_RDWR)) images.control_ = std::move(*control);
  (void)os::make_directories(directory, 0700);
  if (auto dir = os::open(directory.c_str(), O_RDONLY | O_DIRECTORY)) images.directory_ = std::move(*dir);
  return images;
}

Result<int> Images::template_of(std::uint64_t bytes, std::uint64_t inodes, int host_mounts) {
  const std::pair key(bytes, inodes);
  if (const auto found = templates_.find(key); found != templates_.end()) return found->second.get();
  os::Fd file = TRY(nameless_file(directory_.get(), bytes));
  TRY(format(file.get(), inodes, host_mounts));
  const int borrowed = file.get();
  templates_.emplace(key, std::move(file));
  return borrowed;
}

Result<os::Fd> Images::make(std::uint64_t bytes, std::uint64_t inodes, const std::string& nodes,
                            int host_mounts) {
  const int original = TRY(template_of(bytes, inodes, host_mounts));
  const os::Fd file = TRY(nameless_file(directory_.get(), bytes));
  TRY(copy_data(original, file.get(), static_cast<off_t>(bytes)));
  std::string path;
  const os::Fd device = TRY(attach_loop(control_.get(), file.get(), nodes, path));
  os::FilesystemContext ext4 = TRY(os::FilesystemContext::open("ext4"));
  TRY(ext4.set("source", path));
  return ext4.mount(MOUNT_ATTR_NODEV);
}

}  // namespace atl::sandbox::native
