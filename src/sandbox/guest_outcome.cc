#include "sandbox/guest_outcome.h"

#include <fmt/format.h>

#include <csignal>

namespace atl::sandbox {

void GuestOutcome::complete(Outcome& outcome, std::uint64_t oom_kills, std::uint64_t memory_bytes,
                            const Usage& now) {
  // The out-of-memory killer leaves no other trace than SIGKILL. A shell reports it as 137, and a guest that
  // was hit takes the stream with it.
  const bool killed = (outcome.ending == Ending::signaled && outcome.signal == SIGKILL) ||
                      (outcome.ending == Ending::exited && outcome.exit_code == 128 + SIGKILL) ||
                      outcome.ending == Ending::lost;
  if (killed && oom_kills > oom_kills_seen_) {
    outcome.ending = Ending::out_of_memory;
    outcome.signal = SIGKILL;
    outcome.reason = fmt::format("memory limit of {} bytes", memory_bytes);
  }
  oom_kills_seen_ = oom_kills;
  outcome.usage.memory_bytes = now.memory_bytes;
  outcome.usage.memory_peak_bytes = now.memory_peak_bytes;
  outcome.usage.memory_cache_bytes = now.memory_cache_bytes;
  outcome.usage.disk_bytes = now.disk_bytes;
  outcome.usage.disk_limit_bytes = now.disk_limit_bytes;
  outcome.usage.inodes = now.inodes;
  outcome.usage.processes_peak = now.processes_peak;
  outcome.usage.read_bytes = now.read_bytes;
  outcome.usage.written_bytes = now.written_bytes;
}

}  // namespace atl::sandbox
