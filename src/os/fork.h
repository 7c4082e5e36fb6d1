#pragma once

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/result.h"

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

// Calls `main` in a process that is no child of this one: this process need not reap it, and it is not killed
// with this process's children. `main` must end by _exit(). Returns in this process once the other exists;
// fails, with `step` as what was being done, if there can be none.
template <class Main>
Result<void> fork_detached(const char* step, Main main) {
  const pid_t child = fork_alone();
  if (child < 0) return fail(errno_error(errno, step));
  if (child == 0) {
    // Two generations: the grandchild loses its parent at once and belongs to init.
    if (fork_alone() != 0) ::_exit(0);
    main();
    ::_exit(1);
  }
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return {};
}

}  // namespace atl::os
