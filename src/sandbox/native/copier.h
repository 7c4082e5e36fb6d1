#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/native/checkpoint.h"
#include "sandbox/native/spawner_protocol.h"

// Children of the spawner that look into interpreters and write into them: each does one job after the other,
// so that no copy waits for a process to be made. What they look at is a user's: one that it brings down
// takes a job with it and nothing else.
namespace atl::sandbox::native {

// Belongs to the spawner. The process ends when this goes away.
struct Copier {
  os::Fd pidfd;
  os::Fd socket;  // readable when the job is done, or the process is gone
};

// realtime: the first milliseconds of a job come before ordinary processes, as the spawner does.
enum class Urgency : std::uint8_t { none, realtime };
// `proc` shows this process; `enter_host` makes the host's files reachable. Of all other descriptors the
// child keeps none.
Result<Copier> start_copier(int proc, Urgency urgency, const std::function<bool()>& enter_host);

// One job at a time, to a copier that has reported its last one. Returns at once. Descriptors of the job stay
// the caller's. On failure the process has ended and the job was not begun; the caller reaps it.
Result<void> give(const Copier& copier, const CheckpointJob& job);
Result<void> give(const Copier& copier, const ReviveJob& job);

// What it says at the end, and a descriptor beside it: the file of a checkpoint that lies in memory.
struct CopierReport {
  // False: a checkpoint's files are there, in the draft of its directory; the rest follows.
  bool is_last = true;
  Reply reply;
  os::Fd beside;
};
// Never waits: call it when the socket is readable. Code::provider_failed if the process is gone.
Result<CopierReport> take_report(int socket);

}  // namespace atl::sandbox::native
