#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "guest/program/guest.h"

namespace atl::guest {

// A process that the host started, and the near ends of its streams.
struct Process : Channel {
  pid_t pid = 0;
  bool pty = false;
  bool reaped = false;
  bool cut = false;          // killed for good: do not wait for others who hold its pipes
  bool ends_alone = false;   // its end does not wait for others who hold its pipes
  bool interpreter = false;  // goes on when what it started is swept away
  bool input_ended = false;  // the host will send no more input
  // A child of it that goes on in its place when it dies, and when that started: a number alone may become
  // another's.
  pid_t spare = 0;
  uint64_t spare_start_time = 0;
  bool passing = false;  // it died, and the spare goes on as soon as its last words are told
  int status = 0;
  uint64_t user_us = 0, system_us = 0;
  uint32_t credit = 0;  // bytes of output the host still takes
  size_t tail_out = SIZE_MAX, tail_err = SIZE_MAX, tail_control = SIZE_MAX;
  int64_t started_at = 0;
  Source in, out, err, control, control_out;
  Bytes input, control_input;
  Bytes request;  // as the host sent it, to tell again after the stream was replaced
  Process* next_process = nullptr;
};

// The guest's ends of a new process's streams; -1 where there is none.
struct Ends {
  bool pty = false;
  int in = -1, out = -1, err = -1, control = -1;
};

// Makes the process a channel. Takes over the descriptors.
void add_process(Process* process, uint32_t channel, const Ends& ends);
// Does nothing for a process that has ended.
void signal_process(Process* process, int number, SignalScope scope);
// The first of the processes that the host started, in no order.
const Process* first_process();
// Signals everything in the session of `leader` and, while it lives, its descendants; not `except`, nor what
// is below it. With SIGKILL it returns when they are gone, or after two seconds.
void signal_tree(pid_t leader, bool reaped, int number, pid_t except = 0);

struct Parentage {
  pid_t parent = 0;
  uint64_t start_time = 0;  // in ticks since the machine started
};
// False if there is no such process or it has ended.
bool find_parentage(pid_t pid, Parentage* found);

}  // namespace atl::guest
