#pragma once

#include <bitset>

#include "shell/fiber.h"
#include "shell/signals.h"
#include "shell/stopped.h"

namespace atl::shell {

// What the script sees as a process: the shell, a subshell, a pipeline stage, a job. No process of the host
// belongs to it. Shared by the shell that started it, by its job and by whoever waits; Machine keeps only a
// weak reference.
struct Process {
  int pid = 0;
  int parent = 0;
  // The fiber it runs on; null before it runs and after it ended. Not owned.
  Fiber* fiber = nullptr;
  bool done = false;
  int status = 0;
  int killed_by = 0;  // ended by this signal
  // The process that waits for this one on the same fiber: a shell for its subshell, timeout for its command.
  Process* caller = nullptr;
  bool struck = false;  // a signal came from another fiber: it also ends what this process waits for
  std::bitset<signal_max + 1> pending;
  std::bitset<signal_max + 1> handled;  // a trap is set
  std::bitset<signal_max + 1> ignored;
  // Woken when it ends.
  WaitQueue waiters;
};

}  // namespace atl::shell
