#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "os/fd.h"
#include "sandbox/native/checkpoint.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/spawner_events.h"
#include "sandbox/native/spawner_protocol.h"
#include "sandbox/native/zygote.h"

namespace atl::sandbox::native {

// What a snapshot or checkpoint is made in and from, held open until it is.
struct SnapshotFiles {
  Roots::Place place;
  os::Fd parent;
};

// One sandbox as the spawner knows it, from the moment its guest runs until nothing of it is left. Owned by
// SpawnedSandboxes.
struct SpawnedSandbox {
  Built built;
  Spec spec;  // its id is the name under which it is known
  // Stands still: because somebody paused it, or for as many jobs as hold it.
  bool frozen = false;
  bool paused = false;
  std::uint32_t holds = 0;
  // Comes to a standstill. What it runs decides how long that takes, so there is an end to it.
  struct Freezing {
    struct Asked {
      Request request;
      SnapshotFiles files;
    };
    std::vector<Asked> asked;  // what goes on then
    SteadyTime since;
    std::chrono::microseconds pause{50};  // until somebody looks again
  };
  std::optional<Freezing> freezing;
  // Interpreters that were forked into it, by their number inside.
  struct Interpreter {
    std::uint64_t generation = 0;  // which zygote's
    Place place;
  };
  std::map<pid_t, Interpreter> interpreters;
  // A copy that was begun before anybody asked for it: of the first interpreter of the checkpoint that this
  // sandbox is made for.
  struct Prefetched {
    CheckpointedInterpreter interpreter;
    std::optional<ForkedChild> forked;  // none while its memory is being written
    bool is_alive = false;              // it has its memory, and goes on
    dev_t device = 0;                   // of the file that has it
    ino_t file = 0;
    std::optional<Request> asked;  // who waits for it
    os::Fd beside;
  };
  std::optional<Prefetched> prefetched;
  // Requests to answer when it is gone.
  std::vector<std::uint64_t> waiting;
  // Its processes have ended, for this reason; what they leave behind is being taken away.
  std::optional<std::string> ended;
};

// Every sandbox of the spawner, by name. A sandbox stays here, at the same address, from add() until
// remove(): also after its guest has ended, because its name is taken until its parts are gone.
// The spawner's only thread.
class SpawnedSandboxes {
 public:
  // Borrows both.
  SpawnedSandboxes(SandboxBuilder& builder, SpawnerEvents& events) : builder_(builder), events_(events) {}

  // The name must be free. Watches for the end of its guest.
  SpawnedSandbox& add(const std::string& name, const Spec& spec, Built built);
  // Null if there is none, or it has ended.
  SpawnedSandbox* find(const std::string& name);
  // Also one that has ended; null if nothing of it is left.
  SpawnedSandbox* find_any(const std::string& name);
  // `from` must be there and `to` free.
  void rename(const std::string& from, const std::string& to);
  // Forgets a sandbox of which nothing is left and gives it to the caller.
  std::unique_ptr<SpawnedSandbox> remove(const std::string& name);

  // The sandbox whose guest this descriptor was, which is watched no longer. None if it was asked before.
  std::optional<std::string> take_ended(int pidfd);
  // Whose parts are taken apart under this ticket.
  void note_ticket(std::uint64_t ticket, std::string name) { by_ticket_[ticket] = std::move(name); }
  std::optional<std::string> take_ticket(std::uint64_t ticket);

  // Ends every process in it. The rest follows when the kernel has told of the end; harmless if it has ended.
  void kill(SpawnedSandbox& sandbox);
  void kill_all();

  bool is_empty() const { return all_.empty(); }
  bool has(const std::string& name) const { return all_.contains(name); }
  const auto& all() const { return all_; }
  // Interpreters that were forked from that zygote live in some sandbox, or have not been missed yet.
  bool has_children_of(std::uint64_t generation) const;

 private:
  SandboxBuilder& builder_;
  SpawnerEvents& events_;
  std::map<std::string, std::unique_ptr<SpawnedSandbox>> all_;
  std::map<int, std::string> by_pidfd_;
  std::map<std::uint64_t, std::string> by_ticket_;
};

}  // namespace atl::sandbox::native
