#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"
#include "os/fd.h"

namespace atl::os {

// Code::not_found if there is no such process. The descriptor goes on meaning this process when its number
// has become another's.
Result<Fd> pidfd_open(pid_t pid);
// A process that has ended already is success.
Result<void> pidfd_kill(int pidfd, int signal);

struct Exit {
  int code = 0;    // when it exited
  int signal = 0;  // when a signal ended it
};
// Reaps a child; waits for it.
Result<Exit> pidfd_wait(int pidfd);

// Closes first..last. `unshare` gives this process its own descriptor table first, without copying what is
// closed.
enum class UnshareTable { no, yes };
Result<void> close_range(unsigned first, unsigned last, UnshareTable unshare);

// setns(2) for the calling thread.
Result<void> enter_namespace(int fd, int kind);
// This process's namespace of that name in /proc/self/ns ("net", "user", ...).
Result<Fd> own_namespace(const char* name);

}  // namespace atl::os
