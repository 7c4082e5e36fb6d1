#include "sandbox/native/image.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mount.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "os/file.h"
#include "os/mount.h"
#include "sandbox/native/loop_device.h"
#include "sandbox/native/mke2fs.h"

namespace atl::sandbox::native {
namespace {

// A sparse image may be larger than the disk is: most stay nearly empty. Not without end: its tables are
// real.
constexpr std::uint64_t kTimesTheDisk = 4;

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

}  // namespace

ImageSize image_class(std::uint64_t bytes, std::uint64_t inodes) {
  constexpr std::uint64_t least = 1 << 20, inodes_least = 1024, bytes_per_inode = 512;
  bytes = std::max(bytes, least);
  const std::uint64_t step = std::max(std::bit_floor(bytes) / 4, least);
  ImageSize size;
  size.bytes = (bytes + step - 1) / step * step;
  size.inodes = std::min(std::bit_ceil(std::max(inodes, inodes_least)), size.bytes / bytes_per_inode);
  return size;
}

ImagePlace ImagePlace::open(const std::string& directory) {
  ImagePlace place;
  if (auto control = os::open("/dev/loop-control", O_RDWR)) place.control = std::move(*control);
  (void)os::make_directories(directory, 0700);
  if (auto dir = os::open(directory.c_str(), O_RDONLY | O_DIRECTORY)) place.directory = std::move(*dir);
  return place;
}

Result<os::Fd> nameless_file(const ImagePlace& place, std::uint64_t bytes) {
  const os::Space space = TRY(os::filesystem_space(place.directory.get()));
  if (bytes / kTimesTheDisk > space.bytes)
    return fail(Error(Code::invalid_argument,
                      fmt::format("a disk of {} bytes cannot be had: the one of this machine has {}", bytes,
                                  space.bytes))
                    .with_field("limits.disk_bytes"));
  os::Fd file(::openat(place.directory.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.is_open()) return fail(errno_error(errno, "make a disk image"));
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) < 0)
    return fail(errno_error(errno, "size a disk image"));
  return file;
}

// On the host's view, behind everybody else.
Result<os::Fd> start_format(int file, std::uint64_t inodes, int host_mounts) {
  const auto prepare = [host_mounts] {
    const sched_param normal{};
    ::sched_setscheduler(0, SCHED_OTHER, &normal);
    ::setpriority(PRIO_PROCESS, 0, 10);
    return os::enter_namespace(host_mounts, CLONE_NEWNS).has_value();
  };
  return os::pidfd_open(TRY(start_mke2fs(file, inodes, Journal::no, prepare)));
}

Result<void> format_ended(const os::Exit& exit) {
  if (exit.signal == 0 && exit.code == 0) return {};
  return fail(Code::unsupported, "a disk image could not be formatted: install e2fsprogs");
}

Result<os::Fd> mount_copy(const ImagePlace& place, int original, std::uint64_t bytes,
                          const std::string& nodes) {
  const os::Fd file = TRY(nameless_file(place, bytes));
  TRY(copy_data(original, file.get(), static_cast<off_t>(bytes)));
  const LoopDevice loop = TRY(attach_loop(place.control.get(), file.get(), nodes));
  os::FilesystemContext ext4 = TRY(os::FilesystemContext::open("ext4"));
  TRY(ext4.set("source", loop.path));
  return ext4.mount(MOUNT_ATTR_NODEV);
}

Result<os::Fd> make_image(const ImagePlace& place, ImageSize size, const std::string& nodes,
                          int host_mounts) {
  const os::Fd original = TRY(nameless_file(place, size.bytes));
  const os::Fd formatter = TRY(start_format(original.get(), size.inodes, host_mounts));
  const os::Exit exit = TRY(os::pidfd_wait(formatter.get()));
  TRY(format_ended(exit));
  return mount_copy(place, original.get(), size.bytes, nodes);
}

}  // namespace atl::sandbox::native
