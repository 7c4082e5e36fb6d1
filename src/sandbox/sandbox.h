#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "os/byte_stream.h"
#include "os/task.h"
#include "sandbox/files.h"
#include "sandbox/interpreter.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/process.h"
#include "sandbox/spec.h"

namespace atl::egress {
class Proxy;
}

namespace atl::sandbox {

using atl::ByteStream;

// What of a running sandbox came along, and what did not.
struct Carried {
  std::vector<std::string> interpreters;  // that go on where they were, by id
  std::vector<std::string> left_behind;   // by name: processes, descriptors, interpreters of other languages
  std::chrono::microseconds pause{};      // how long the sandbox stood still
};

struct CheckpointOptions {
  // To go on from later, also with another daemon: all of an interpreter's memory, on the disk. Otherwise
  // what copies need that are made now.
  bool whole = false;
  // What cannot be carried makes it fail with Code::conflict, naming that; nothing is written then.
  bool strict = false;
};

// An isolated place with a filesystem and processes. Belongs to the loop thread. Its handles (Process,
// Interpreter, streams) may outlive it and then fail with Code::unavailable or report Ending::lost. They are
// shared because the sandbox lists them while callers hold them.
//
// Errors common to all calls: unavailable once it has ended, conflict while it is paused or being saved (but
// for usage, resume, snapshot and stop), unsupported for what traits() does not name, provider_failed if the
// guest breaks its protocol or does not answer. A call that is cancelled may still take effect inside.
class Sandbox {
 public:
  // Ends the sandbox if stop() did not.
  virtual ~Sandbox() = default;

  virtual const std::string& id() const = 0;
  virtual const Traits& traits() const = 0;
  // The walls in force for this sandbox, as the kernel accepted them.
  virtual const Isolation& isolation() const = 0;
  virtual const Limits& limits() const = 0;

  // Success: the program runs, its pid is known. Code::not_found for a missing program or directory,
  // Code::already_exists if a live process has the tag. On failure nothing runs.
  virtual Task<std::shared_ptr<Process>> start(ProcessSpec spec) = 0;
  // Live processes that were started through this interface, oldest first.
  virtual std::vector<std::shared_ptr<Process>> processes() = 0;
  // Owned by the sandbox, valid while it lives.
  virtual Files& files() = 0;

  // Success: it is ready for code. Code::unsupported if the language is not installed inside. On failure
  // nothing of it is left. An empty `cwd` is the sandbox's working directory.
  virtual Task<std::shared_ptr<Interpreter>> create_interpreter(Language language, std::string cwd) = 0;
  // Those that were created and not removed, dead ones included.
  virtual std::vector<std::shared_ptr<Interpreter>> interpreters() = 0;
  // Its process is gone when this returns; what it executed ended with Ending::killed. Code::not_found.
  virtual Task<void> remove_interpreter(std::string id) = 0;

  // A connection to a TCP server on the sandbox's loopback, owned by the caller.
  virtual Task<std::unique_ptr<ByteStream>> connect(std::uint16_t port) = 0;
  // TCP ports that something inside listens on, without those of the proxy endpoint.
  virtual Task<std::vector<std::uint16_t>> listening_ports() = 0;

  // The one way out: programs inside find `proxy` on their loopback, and variables that lead there
  // (proxy endpoint.h). Once; what it lets through is its own matter. Code::unsupported without the trait
  // 'network'.
  virtual Task<void> open_network(std::shared_ptr<egress::Proxy> proxy);
  // Programs that start from now on trust this authority (PEM) as well; empty: none any more. Never part of a
  // snapshot.
  virtual Task<void> trust(std::string certificate);

  // The session will end in this time, unless it is told something else later. For a sandbox that runs
  // elsewhere and has a time to live of its own there; does not wait. Others need not know.
  virtual void set_time_left(std::chrono::milliseconds) {}

  // What it holds now and has consumed since it was created, also while it is paused.
  virtual Task<Usage> usage() = 0;
  // The same number as in usage(), for those who need only that one.
  virtual Task<std::chrono::microseconds> cpu_time() {
    CO_TRY(const Usage all, co_await usage());
    co_return all.cpu_time;
  }
  // Nothing inside runs from here on, until resume(); memory stays. Calls that wait for the guest fail with
  // Code::conflict. Both are idempotent; a pause that fails leaves it running.
  virtual Task<void> pause() = 0;
  // A sandbox of an earlier daemon whose guest does not answer any more is stopped: Code::unavailable.
  virtual Task<void> resume() = 0;
  // Writes what changed since creation into the new directory `target` of the host, from which a Spec can
  // start. The directory belongs to the caller, who removes it by Provider::discard_snapshot.
  virtual Task<void> snapshot(std::string target) = 0;
  // A snapshot of the files and, beside it, of the Python interpreters that are between two executions.
  // Sandboxes that start from it (Spec::with_interpreters) go on where this one was; it goes on itself.
  virtual Task<Carried> checkpoint(std::string target, CheckpointOptions options);
  // What this one took over from a checkpoint.
  virtual const Carried& revival() const;
  // Everything inside is gone when this returns: processes, mounts, cgroups, files. Idempotent.
  virtual Task<void> stop() = 0;
  // Waits for the end of the sandbox, by stop() or otherwise, and gives the reason as a sentence.
  virtual Task<std::string> ended() = 0;
};

}  // namespace atl::sandbox
