#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "os/task.h"
#include "sandbox/outcome.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

struct PtySize {
  std::uint16_t columns = 80;
  std::uint16_t rows = 24;
};

enum class Stdin { closed, pipe };

// When the end of a process is reported. output: once every process that inherited its output has closed it,
// too, as a shell's pipeline waits. process: when the process itself has ended, with what was written until
// then, as `docker run` does it.
enum class EndsWith { output, process };

struct ProcessSpec {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH inside
  Variables env;                  // added to the sandbox's own
  std::string cwd;                // empty: the sandbox's working directory
  std::string user;               // empty: the sandbox's default user
  std::optional<PtySize> pty;     // standard streams are a terminal
  Stdin stdin_mode = Stdin::closed;
  std::string tag;  // a name to find it by, unique among live ones if not empty
  std::optional<std::chrono::milliseconds> wall_time;  // unset: no limit of its own
  std::optional<std::chrono::milliseconds> cpu_time;
  std::optional<std::uint64_t> output_bytes;  // unset: no limit; output flows with back-pressure
  EndsWith ends_with = EndsWith::output;
  // The caller's own name for it, kept by the guest, so that a daemon that was started again finds the
  // process by it. Never shown to users.
  std::string label;
};

struct ProcessInfo {
  std::uint32_t pid = 0;  // inside the sandbox
  std::string tag;
  std::vector<std::string> argv;
  Variables env;
  std::string cwd;
  std::string user;
  bool pty = false;
  WallTime started_at;
  std::string label;  // as ProcessSpec's
};

enum class Stream : std::uint8_t { out, err, pty };

struct Output {
  Stream stream;
  std::string bytes;  // at most 32 KiB, cut anywhere
};

using ProcessEvent = std::variant<Output, Outcome>;

// One listener's view of a process. Events come in order; the Outcome is the last and comes exactly once.
// A listener that does not call next() holds the process back once its buffer (256 KiB) is full, unless it
// was opened as `lossy`. Destroying it detaches and never harms the process.
class ProcessStream {
 public:
  virtual ~ProcessStream() = default;
  virtual Task<ProcessEvent> next() = 0;
};

enum class Replay { none, recent };  // recent: what the process wrote lately (64 KiB kept) comes first

// A process inside a sandbox. The handle may outlive the process and its sandbox; calls then say so.
class Process {
 public:
  virtual ~Process() = default;
  virtual const ProcessInfo& info() const = 0;
  // Attach. While nobody is attached, output is kept for replay and otherwise discarded.
  virtual std::unique_ptr<ProcessStream> attach(Replay replay) = 0;
  // Accepts all bytes or fails; waits while the pipe is full. Code::conflict if standard input is not a pipe
  // or is closed.
  virtual Task<void> write_stdin(std::string bytes) = 0;
  // After the bytes that were accepted before; a terminal is sent its end-of-file character. Code::conflict
  // as above.
  virtual Task<void> close_stdin() = 0;
  // Code::conflict if it has no terminal.
  virtual Task<void> resize(PtySize size) = 0;
  // To the process group. SIGKILL also ends what inherited its pipes: the Outcome comes without waiting for
  // them. Success means that the signal was sent; Code::not_found if the process has ended.
  virtual Task<void> signal(int number) = 0;
  // Waits for the Outcome, as often as asked; a process whose sandbox vanished has one too (Ending::lost).
  virtual Task<Outcome> wait() = 0;
};

}  // namespace atl::sandbox
