// Made of system calls alone, so that the same code serves interpreters that a zygote forked and those that
// were started as programs, whatever C library they have.
#include "guest/zygote/spare.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "guest/zygote/system_call.h"

namespace atl::guest {
namespace {

using Signals = unsigned long;

Signals exchange_mask(Signals wanted) {
  Signals before = 0;
  call(SYS_rt_sigprocmask, SIG_SETMASK, address_of(&wanted), address_of(&before), sizeof wanted);
  return before;
}

void stand_still_until_alone(long parent) {
  const long end = call(SYS_pidfd_open, static_cast<uint64_t>(parent), 0);
  // If the parent had ended before, its number may be another's by now; then we are somebody else's child.
  while (call(SYS_getppid) == parent) {
    if (end < 0)
      for (;;) call(SYS_exit_group, 1);
    pollfd waiting{static_cast<int>(end), POLLIN, 0};
    call(SYS_poll, address_of(&waiting), 1, ~0ULL);
  }
  if (end >= 0) call(SYS_close, static_cast<uint64_t>(end));
}

// Whatever was sent meanwhile was meant for the other one.
void forget_signals() {
  const Signals all = ~0UL;
  const long none[2] = {0, 0};
  while (call(SYS_rt_sigtimedwait, address_of(&all), 0, address_of(&none), sizeof all) > 0) {
  }
}

}  // namespace

long make_spare() {
  int* tid_address = nullptr;
  uint64_t flags = 0;  // no signal at its end
  // Where the library keeps this thread's number: it is another one in the copy.
  if (call(SYS_prctl, PR_GET_TID_ADDRESS, address_of(&tid_address)) == 0 && tid_address != nullptr)
    flags |= CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  const long parent = call(SYS_getpid);
  const Signals before = exchange_mask(~0UL);
  const long pid = call(SYS_clone, flags, 0, 0, address_of(tid_address), 0);
  if (pid == 0) {
    call(SYS_setsid);
    stand_still_until_alone(parent);
    forget_signals();
  }
  exchange_mask(before);
  return pid;
}

void end_spare(int pid) {
  // A child that nobody has waited for keeps its number, so what is signalled is the one that was looked at.
  const uint64_t look = WEXITED | WNOHANG | WNOWAIT | __WALL;
  siginfo_t unused;
  if (pid <= 1 || call(SYS_waitid, P_PID, number_of(pid), address_of(&unused), look, 0) != 0) return;
  call(SYS_kill, number_of(pid), SIGKILL);
  call(SYS_wait4, number_of(pid), 0, __WALL, 0);
}

}  // namespace atl::guest
