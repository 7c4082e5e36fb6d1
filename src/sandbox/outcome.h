#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "sandbox/limits.h"

namespace atl::sandbox {

// How a guest's program ended. Never an Error of ours: `exit 1` is a perfectly good Outcome.
enum class Ending : std::uint8_t {
  exited,         // by itself; exit_code is its own
  signaled,       // by a signal that nobody of ours sent; `signal` says which
  timed_out,      // wall or CPU time; the processes are gone
  out_of_memory,  // the kernel killed it at the memory limit
  too_many_processes,
  output_limit,  // it wrote more than it may
  killed,        // by request, or with its sandbox
  lost,          // the sandbox vanished under it; nothing more is known
};

struct Outcome {
  Ending ending = Ending::exited;
  int exit_code = 0;   // meaningful when exited
  int signal = 0;      // meaningful when signaled, and the signal we used otherwise
  std::string reason;  // which limit, and its value; who killed it. Empty for a plain exit
  Usage usage;

  bool succeeded() const { return ending == Ending::exited && exit_code == 0; }
};

std::string_view to_string(Ending ending);

// The shell's convention: own code, 128+n, 124 for time, 137 for memory and kills.
int exit_status(const Outcome& outcome);

// A time as reasons name it: "10 s", "0.250 s".
std::string seconds_of(std::chrono::milliseconds time);

}  // namespace atl::sandbox
