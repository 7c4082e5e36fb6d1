#include "sandbox/native/loop_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>

#include "base/error.h"

namespace atl::sandbox::native {
namespace {

constexpr unsigned kLoopMajor = 7;
constexpr int kAttempts = 64;

std::string path_of(const std::string& nodes, int number) {
  return fmt::format("{}/loop{}", nodes, number);
}

bool make_node(const std::string& path, int number) {
  const dev_t device = makedev(kLoopMajor, static_cast<unsigned>(number));
  return ::mknod(path.c_str(), S_IFBLK | 0600, device) == 0 || errno == EEXIST;
}

}  // namespace

std::string loop_node(const std::string& nodes, int number) {
  std::string path = path_of(nodes, number);
  (void)make_node(path, number);
  return path;
}

// Another process may take the number between asking for it and using it: try again with the next.
Result<LoopDevice> attach_loop(int control, int file, const std::string& nodes) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int number = ::ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0) return fail(errno_error(errno, "find a loop device"));
    LoopDevice loop{.device = os::Fd(), .path = path_of(nodes, number)};
    if (!make_node(loop.path, number)) return fail(errno_error(errno, "make a device node"));
    loop.device = os::Fd(::open(loop.path.c_str(), O_RDWR | O_CLOEXEC));
    if (!loop.device.is_open()) return fail(errno_error(errno, "open a loop device"));
    loop_config config{};
    config.fd = static_cast<std::uint32_t>(file);
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
    if (::ioctl(loop.device.get(), LOOP_CONFIGURE, &config) == 0) return loop;
    if (errno != EBUSY) return fail(errno_error(errno, "set up a loop device"));
  }
  return fail(Code::resource_exhausted, "no loop device is free");
}

}  // namespace atl::sandbox::native
