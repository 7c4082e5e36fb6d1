#include "os/process.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <string>

#include "os/file.h"

namespace atl::os {

Result<Fd> pidfd_open(pid_t pid) {
  const long fd = ::syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) return fail(errno_error(errno, "pidfd_open"));
  return Fd(static_cast<int>(fd));
}

Result<void> pidfd_kill(int pidfd, int signal) {
  if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) < 0 && errno != ESRCH)
    return fail(errno_error(errno, "signal a process"));
  return {};
}

Result<Exit> pidfd_wait(int pidfd) {
  siginfo_t info{};
  while (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED) < 0) {
    if (errno == EAGAIN) {  // a loop that waited on it made it non-blocking
      pollfd ended{pidfd, POLLIN, 0};
      ::poll(&ended, 1, -1);
    } else if (errno != EINTR) {
      return fail(errno_error(errno, "wait for a process"));
    }
  }
  if (info.si_code == CLD_EXITED) return Exit{.code = info.si_status};
  return Exit{.signal = info.si_status};
}

Result<void> close_range(unsigned first, unsigned last, UnshareTable unshare) {
  const unsigned flags = unshare == UnshareTable::yes ? CLOSE_RANGE_UNSHARE : 0U;
  if (::syscall(SYS_close_range, first, last, flags) < 0) return fail(errno_error(errno, "close_range"));
  return {};
}

Result<void> enter_namespace(int fd, int kind) {
  if (::setns(fd, kind) < 0) return fail(errno_error(errno, "enter a namespace"));
  return {};
}

Result<Fd> own_namespace(const char* name) {
  return open((std::string("/proc/self/ns/") + name).c_str(), O_RDONLY);
}

}  // namespace atl::os
