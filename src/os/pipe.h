#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "os/fd.h"

// Ways for bytes between two processes of this machine. Every descriptor is close-on-exec.
namespace atl::os {

struct Pipe {
  Fd read, write;
};
Result<Pipe> pipe();

struct WindowSize {
  std::uint16_t columns = 80, rows = 24;
};

// A pseudo-terminal. We keep the master; whoever opens `path` as the leader of a new session gets it as its
// terminal. The terminal is gone when the master is closed.
struct Terminal {
  Fd master;
  std::string path;
};
Result<Terminal> open_terminal(WindowSize size = {});
Result<void> resize_terminal(int master, WindowSize size);

}  // namespace atl::os
