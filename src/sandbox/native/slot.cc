#include "sandbox/native/slot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <net/if.h>
#include <netinet/in.h>
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
#include <optional>
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
  if (!socket.is_open()) return fail(errno_error(errno, "open a socket that holds a block of ids"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) < 0)
    return fail(errno_error(errno, "hold a block of ids"));
  return socket;
}

// The address that /etc/hosts gives the sandbox's own name. It would be answered anyway; it is there because
// glibc resolves no name to IPv4 where it sees no address but 127.0.0.1 (AI_ADDRCONFIG, on by default).
Result<void> add_own_address(int socket) {
  ifreq request{};
  std::strcpy(request.ifr_name, "lo:0");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(0x7f000101);
  std::memcpy(&request.ifr_addr, &address, sizeof(address));
  if (::ioctl(socket, SIOCSIFADDR, &request) < 0)
    return fail(errno_error(errno, "give the loopback its second address"));
  return {};
}

Result<void> loopback_up() {
  const os::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return fail(errno_error(errno, "open a socket for the loopback"));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) < 0)
    return fail(errno_error(errno, "bring the loopback up"));
  return add_own_address(socket.get());
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

namespace {

// As the kernel wants it: a line is within one line of the map of the namespace above, and an ordinary user's
// own id is a line of its own there (rootless.cc).
std::string lines_of(const IdMap& map) {
  if (map.first > 0 || map.count == 1) return fmt::format("{} {} {}", map.inside, map.first, map.count);
  return fmt::format("{} 0 1\n{} 1 {}", map.inside, map.inside + 1, map.count - 1);
}

// Holds its namespace until it is killed. Runs in the spawner's memory, so it touches none of it.
int hold_namespace(void*) {
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  for (;;) ::syscall(SYS_pause);
}

}  // namespace

namespace {

constexpr int kShared = CLONE_VM | CLONE_FILES;

struct Holder {
  std::uint32_t owner = 0;
  char* stack_top = nullptr;
  int pid = -1;
  int error = 0;
};

// Becomes the owner, keeps its power, and leaves behind a process in a namespace that the owner made.
int make_holder(void* argument) {
  Holder& holder = *static_cast<Holder*>(argument);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct power[2]{};
  const bool ready =
      ::syscall(SYS_setresuid, -1, holder.owner, -1) == 0 && ::syscall(SYS_capget, &header, power) == 0;
  for (__user_cap_data_struct& half : power) half.effective = half.permitted;
  // The holder's parent is the spawner, who reaps it.
  if (ready && ::syscall(SYS_capset, &header, power) == 0)
    holder.pid =
        ::clone(hold_namespace, holder.stack_top, CLONE_NEWUSER | CLONE_PARENT | kShared | SIGCHLD, nullptr);
  if (holder.pid < 0) holder.error = errno;
  return 0;
}

void reap(int child) {
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Maps the ids of a holder's namespace, opens it and ends the holder.
Result<os::Fd> take_namespace(int proc, int child, const IdMap& users, const IdMap& groups) {
  auto made = [&]() -> Result<os::Fd> {
    constexpr const char* step = "make a user namespace";
    TRY_CONTEXT(step, os::write_control_at(proc, fmt::format("{}/uid_map", child).c_str(), lines_of(users)));
    TRY_CONTEXT(step, os::write_control_at(proc, fmt::format("{}/gid_map", child).c_str(), lines_of(groups)));
    return TRY_CONTEXT(step, os::open_at(proc, fmt::format("{}/ns/user", child).c_str(), O_RDONLY));
  }();
  ::kill(child, SIGKILL);
  reap(child);
  return made;
}

}  // namespace

// Memory and descriptors are shared and not copied: with a thousand sandboxes the spawner has thousands of
// them.
Result<os::Fd> make_user_namespace(int proc, const IdMap& users, const IdMap& groups) {
  alignas(16) char stack[16 << 10];
  const int child = ::clone(hold_namespace, stack + sizeof stack, CLONE_NEWUSER | kShared | SIGCHLD, nullptr);
  if (child < 0) return fail(errno_error(errno, "make a user namespace"));
  return take_namespace(proc, child, users, groups);
}

Result<os::Fd> make_counted_namespace(int proc, const IdMap& map) {
  alignas(16) char stack[16 << 10];
  alignas(16) char holders_stack[16 << 10];
  Holder holder{.owner = map.first, .stack_top = holders_stack + sizeof holders_stack};
  const int maker = ::clone(make_holder, stack + sizeof stack, CLONE_VFORK | kShared | SIGCHLD, &holder);
  if (maker < 0) return fail(errno_error(errno, "make a user namespace"));
  reap(maker);
  if (holder.pid < 0) return fail(errno_error(holder.error, "make a user namespace"));
  return take_namespace(proc, holder.pid, map, map);
}

std::string network_traces(int proc) {
  std::string traces;
  const auto add = [&](const char* name) {
    const auto text = os::read_file_at(proc, fmt::format("thread-self/net/{}", name).c_str());
    traces += text ? *text : fmt::format("no {}\n", name);
    return text.has_value();
  };
  for (const char* name : {"dev", "snmp", "netstat", "sockstat", "unix"})
    if (!add(name)) return {};
  // Not there where the machine has no IPv6.
  for (const char* name : {"snmp6", "sockstat6"}) (void)add(name);
  return traces;
}

namespace {

struct NetworkJob {
  int proc = -1;
  std::optional<Result<os::Fd>> made;
};

int make_network(void* argument) {
  NetworkJob& job = *static_cast<NetworkJob*>(argument);
  const auto made = [&]() -> Result<os::Fd> {
    if (::unshare(CLONE_NEWNET) < 0) return fail(errno_error(errno, "make a network namespace"));
    TRY(loopback_up());
    return TRY_CONTEXT("make a network namespace", os::open_at(job.proc, "self/ns/net", O_RDONLY));
  };
  job.made.emplace(made());
  return 0;
}

}  // namespace

// In a child, because without power over the namespace one is in there is no way back into it. It shares
// memory and descriptors, so that what it opens is open here.
Result<os::Fd> make_network_namespace(int proc) {
  alignas(16) char stack[64 << 10];
  NetworkJob job{proc, std::nullopt};
  const int child =
      ::clone(make_network, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &job);
  if (child < 0) return fail(errno_error(errno, "make a network namespace"));
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!job.made) return fail(Code::provider_failed, "a network namespace was not made");
  return std::move(*job.made);
}

}  // namespace atl::sandbox::native
