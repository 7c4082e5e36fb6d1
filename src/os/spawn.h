#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "os/process.h"
#include "os/task.h"

// Programs of the host that we start: set-up tools and tests, never what runs inside a sandbox.
namespace atl::os {

struct SpawnOptions {
  std::string program;                   // a path; PATH is not searched
  std::vector<std::string> arguments;    // without the program's own name
  std::vector<std::string> environment;  // "NAME=value"; nothing is inherited
  std::string directory;                 // empty: ours
  // Descriptors for 0, 1 and 2; -1 is /dev/null. They stay the caller's.
  int input = -1, output = -1, error = -1;
  // Not empty: the path of a terminal (os/pipe.h) for 0, 1 and 2 instead, in a session of its own.
  std::string terminal;
};

// A child of this process. Whoever holds it reaps it: by wait(), or by pidfd_wait(pidfd).
struct Child {
  pid_t pid = 0;
  Fd pidfd;
};

// Signals have their defaults and none is blocked, no other descriptor is inherited. The child leads a
// process group of its own, so that -pid reaches what it started. A program that cannot be executed is an
// error here, not an exit status of 127.
Result<Child> spawn(const SpawnOptions& options);

// Waits on the loop until the child has ended, and reaps it. A canceled wait leaves the child alone.
Task<Exit> wait(boost::asio::any_io_executor executor, const Child& child);

}  // namespace atl::os
