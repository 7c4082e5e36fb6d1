#pragma once

#include <sys/syscall.h>
#include <unistd.h>

namespace atl::os {

// A child with one thread, as fork() promises. The thread sanitizer's fork starts a thread of its own in the
// child, and a process with two threads can enter no user namespace: there the kernel is asked without it.
inline pid_t fork_alone() {
#if defined(__SANITIZE_THREAD__)
  return static_cast<pid_t>(::syscall(SYS_fork));
#else
  return ::fork();
#endif
}

}  // namespace atl::os
