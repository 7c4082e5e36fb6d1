#pragma once

#include <cstdint>

namespace atl::shell {

struct Process;

// Thrown by charge(), by reads and by writes when a limit is reached, the script is canceled, or a signal
// ends the command. Caught where a command was started and nowhere else: commands let it pass
// (docs/decisions/shell-on-fibers.md).
struct Stopped {
  int status;
};

// Ends the current fiber's command: see Stopped. `reason` says which frame may catch it.
enum class StopReason : std::uint8_t { limit, canceled, signal };
// What is thrown. Frames that start commands, subshells and fibers look at the reason; everybody else lets it
// pass.
struct StoppedBy : Stopped {
  StopReason reason;
  int signal;
  Process* process;  // signal: whose
};

}  // namespace atl::shell
