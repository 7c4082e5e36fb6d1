#pragma once

#include <cstdint>

#include "sandbox/limits.h"
#include "sandbox/outcome.h"

namespace atl::sandbox {

// Adds to how a process ended what the kernel counted for its whole sandbox. One for each sandbox; belongs to
// the loop thread.
class GuestOutcome {
 public:
  // `oom_kills` is how often the kernel has killed something in the sandbox for want of memory so far.
  void start(std::uint64_t oom_kills) { oom_kills_seen_ = oom_kills; }
  // A process that was killed while that number grew ended for want of memory, of which `memory_bytes` were
  // allowed. Its usage gets the sandbox's memory, disk, processes and bytes read and written.
  void complete(Outcome& outcome, std::uint64_t oom_kills, std::uint64_t memory_bytes, const Usage& now);

 private:
  std::uint64_t oom_kills_seen_ = 0;
};

}  // namespace atl::sandbox
