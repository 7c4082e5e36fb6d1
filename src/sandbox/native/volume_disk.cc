#include "sandbox/native/volume_disk.h"

#include <fcntl.h>
#include <linux/loop.h>
#include <linux/mount.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "os/file.h"
#include "os/mount.h"
#include "sandbox/native/loop_device.h"
#include "sandbox/native/mke2fs.h"

namespace atl::sandbox::native {
namespace {

constexpr const char* kImage = "disk.ext4";
constexpr const char* kDraft = "disk.new";

Result<void> format(int file, std::uint64_t inodes) {
  const pid_t child = TRY(start_mke2fs(file, inodes, Journal::yes, [] { return true; }));
  int status = 1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMke2fs)
    return fail(Code::unsupported, "a volume's disk needs mke2fs: install e2fsprogs");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(Code::unsupported,
                "a volume's disk could not be formatted: mke2fs refused its size or its inodes");
  return {};
}

Result<os::Fd> make_image(int directory, const VolumeDiskJob& job) {
  ::unlinkat(directory, kDraft, 0);
  os::Fd file(::openat(directory, kDraft, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return fail(errno_error(errno, "make a volume's disk"));
  if (::ftruncate(file.get(), static_cast<off_t>(job.bytes)) < 0)
    return fail(errno_error(errno, "size a volume's disk"));
  TRY(format(file.get(), job.inodes));
  if (::fsync(file.get()) < 0 || ::renameat(directory, kDraft, directory, kImage) < 0 ||
      ::fsync(directory) < 0)
    return fail(errno_error(errno, "store a volume's disk"));
  return file;
}

std::vector<int> loops_with_files() {
  std::vector<int> numbers;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/block", failed)) {
    int number = 0;
    const std::string name = entry.path().filename().string();
    if (std::sscanf(name.c_str(), "loop%d", &number) != 1) continue;
    if (std::filesystem::exists(entry.path() / "loop" / "backing_file", failed)) numbers.push_back(number);
  }
  return numbers;
}

// The node of the loop device that has this file already; empty if none has.
std::string loop_of(const struct stat& file, const std::vector<int>& numbers, const std::string& nodes) {
  for (const int number : numbers) {
    const std::string path = loop_node(nodes, number);
    const os::Fd device(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    loop_info64 info{};
    if (!device.is_open() || ::ioctl(device.get(), LOOP_GET_STATUS64, &info) < 0) continue;
    if (info.lo_device == file.st_dev && info.lo_inode == file.st_ino) return path;
  }
  return {};
}

}  // namespace

Result<VolumeImage> open_volume_image(const VolumeDiskJob& job) {
  const os::Fd directory =
      TRY_CONTEXT("directory of a volume", os::open_at(job.directory.get(), ".", O_RDONLY | O_DIRECTORY));
  VolumeImage image{os::Fd(::openat(directory.get(), kImage, O_RDWR | O_NOFOLLOW | O_CLOEXEC)), {}};
  if (!image.file.is_open() && errno != ENOENT) return fail(errno_error(errno, "open a volume's disk"));
  if (!image.file.is_open()) image.file = TRY(make_image(directory.get(), job));
  struct stat info {};
  if (::fstat(image.file.get(), &info) < 0) return fail(errno_error(errno, "look at a volume's disk"));
  if (!S_ISREG(info.st_mode) || info.st_uid != 0 || info.st_nlink != 1 || (info.st_mode & 077) != 0)
    return fail(Code::permission_denied, "a volume's disk is not root's alone");
  while (::flock(image.file.get(), LOCK_EX) < 0)
    if (errno != EINTR) return fail(errno_error(errno, "lock a volume's disk"));
  image.loops = loops_with_files();
  return image;
}

Result<os::Fd> mount_volume_image(const VolumeDiskJob& job, const VolumeImage& image) {
  struct stat info {};
  if (::fstat(image.file.get(), &info) < 0) return fail(errno_error(errno, "look at a volume's disk"));
  LoopDevice loop{.device = os::Fd(), .path = loop_of(info, image.loops, job.nodes)};
  if (loop.path.empty()) loop = TRY(attach_loop(job.loop_control, image.file.get(), job.nodes));
  os::FilesystemContext ext4 = TRY(os::FilesystemContext::open("ext4"));
  TRY(ext4.set("source", loop.path));
  // Tables are made as they are needed, and what is removed inside is given back to the host's disk.
  for (const char* flag : {"noinit_itable", "discard"}) TRY(ext4.set_flag(flag));
  return ext4.mount(MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID);
}

}  // namespace atl::sandbox::native
