#include "sandbox/native/slot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "os/file.h"
#include "os/process.h"

namespace atl::sandbox::native {
namespace {

// Above what systemd hands to its containers (up to 0x6FFFFFFF).
constexpr std::uint32_t kFirstId = 0x7000'0000;
constexpr std::uint32_t kRangesPerBlock = 512;
constexpr std::uint32_t kBlocks = 64;

Result<os::Fd> hold(const std::string& name) {
  os::Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return fail(errno_error(errno, "socket"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) < 0)
    return fail(errno_error(errno, "hold a block of ids"));
  return socket;
}

Result<void> loopback_up() {
  const os::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return fail(errno_error(errno, "socket"));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) < 0)
    return fail(errno_error(errno, "bring the loopback up"));
  return {};
}

}  // namespace

Result<void> IdRanges::take_block() {
  for (std::uint32_t block = 0; block < kBlocks; ++block) {
    auto lock = hold(fmt::format("atoll-ids-{}", block));
    if (!lock) continue;
    locks_.push_back(std::move(*lock));
    for (std::uint32_t i = kRangesPerBlock; i-- > 0;)
      free_.push_back(kFirstId + (block * kRangesPerBlock + i) * kIdsPerSandbox);
    return {};
  }
  return fail(Code::resource_exhausted, "every range of user ids for sandboxes is in use");
}

Result<std::uint32_t> IdRanges::take() {
  if (free_.empty()) TRY(take_block());
  const std::uint32_t first = free_.back();
  free_.pop_back();
  return first;
}

void IdRanges::give_back(std::uint32_t first) {
  free_.push_back(first);
}

Result<os::Fd> make_user_namespace(int proc, std::uint32_t inside, std::uint32_t outside,
                                   std::uint32_t count) {
  const pid_t child =
      static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child < 0) return fail(errno_error(errno, "make a user namespace"));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) ::syscall(SYS_pause);
  }
  auto made = [&]() -> Result<os::Fd> {
    const std::string map = fmt::format("{} {} {}", inside, outside, count);
    TRY(os::write_control_at(proc, fmt::format("{}/uid_map", child).c_str(), map));
    TRY(os::write_control_at(proc, fmt::format("{}/gid_map", child).c_str(), map));
    return os::open_at(proc, fmt::format("{}/ns/user", child).c_str(), O_RDONLY);
  }();
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return made;
}

Result<os::Fd> make_network_namespace(int proc) {
  const os::Fd before = TRY(os::open_at(proc, "self/ns/net", O_RDONLY));
  if (::unshare(CLONE_NEWNET) < 0) return fail(errno_error(errno, "make a network namespace"));
  auto made = [&]() -> Result<os::Fd> {
    TRY(loopback_up());
    return os::open_at(proc, "self/ns/net", O_RDONLY);
  }();
  TRY(os::enter_namespace(before.get(), CLONE_NEWNET));
  return made;
}

}  // namespace atl::sandbox::native
