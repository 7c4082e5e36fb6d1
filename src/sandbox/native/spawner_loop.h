#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "os/fd.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/spawner.h"
#include "sandbox/native/spawner_children.h"
#include "sandbox/native/spawner_connection.h"
#include "sandbox/native/spawner_events.h"
#include "sandbox/native/spawner_fork_ahead.h"
#include "sandbox/native/spawner_interpreters.h"
#include "sandbox/native/spawner_protocol.h"
#include "sandbox/native/spawner_sandboxes.h"
#include "sandbox/native/spawner_snapshots.h"
#include "sandbox/native/spawner_standstill.h"
#include "sandbox/native/spawner_volumes.h"
#include "sandbox/native/spawner_zygotes.h"

namespace atl::sandbox::native {

// Inside the spawner process: its loop, who gets which request, and how sandboxes begin and end. What takes
// part is a type of its own, each with its header: the connection to the daemon, the table of sandboxes,
// children that write, zygotes, interpreters, standstill, snapshots, volumes, forks made ahead.
//
// All requests are served one after the other, so nothing here waits for a guest or a disk. What takes time
// is begun here and finished later, when a descriptor in the loop becomes ready; after a deadline the call
// fails.
//
// One object for the life of the spawner process, on its only thread that serves requests. Every function but
// run() returns without waiting. A failure is the answer to its request and never ends the process.
class Spawner {
 public:
  // Takes over the builder and the connection to the daemon.
  Spawner(SandboxBuilder builder, os::Fd daemon, const SpawnerOptions& options);
  Spawner(const Spawner&) = delete;  // its parts refer to each other
  Spawner& operator=(const Spawner&) = delete;

  // Where a daemon that was started again finds this spawner.
  void listen(os::Fd listener, os::Fd run_directory);
  // Tells the daemon that started it that everything is prepared.
  void announce();
  // Serves until the daemon has gone and nothing is left to keep, or a daemon asked for the end. Returns
  // once, when every sandbox is gone.
  void run();

 private:
  using ZygoteWait = SpawnerInterpreters::ZygoteWait;

  // What the loop calls when a descriptor is ready. Each handles one event and tolerates that what it was
  // about is gone.
  void handle(const SpawnerEvents::Event& event);
  void on_daemon();
  // The guest of a sandbox has ended: its processes are gone, and its parts go back to the pool.
  void on_end(int pidfd);
  void on_parts_gone();
  void on_images();
  void on_zygote(int socket);
  void on_report(int report);
  // Those that waited for their turn to be revived, as many as there is room for.
  void revive_next();

  // Does what is asked, or begins to. Every request is answered exactly once, now or later. `beside` is the
  // descriptor that came with it.
  void serve(const Request& request, os::Fd beside = {}, ZygoteWait wait = ZygoteWait::allowed);
  void serve_sandbox(SpawnedSandbox& sandbox, const Request& request, os::Fd beside, ZygoteWait wait);
  void hello(const Request& request);
  // Answers when the sandbox runs. Waits in making_ if its disk image is not ready.
  void create(const Request& request, const Spec& spec);
  void finish_create(const Request& request, const Spec& spec, Disk disk);
  // Gives the ends of the new sandbox to the daemon; if they cannot be given, the sandbox ends.
  void hand_out(const Request& request, const Spec& spec, SpawnedSandbox& sandbox);
  // One that waits for its disk image. None: none of that name does.
  std::optional<Request> stop_making(const std::string& name);
  void adopt(const Request& request, SpawnedSandbox& sandbox);
  void rename(const Request& request, const ask::Rename& wanted);
  // freeze, snapshot, checkpoint: goes on when the sandbox stands still.
  void stand_still(const Request& request, SpawnedSandbox& sandbox);
  void go_on_still(SpawnedSandbox& sandbox, SpawnerStandstill::Asked asked);
  void thaw(const Request& request, SpawnedSandbox& sandbox);
  // Answers when everything of the sandbox is gone; Code::not_found if there is none.
  void destroy(const Request& request);
  // Nothing of the sandbox is left: answers everybody who waited for that, and forgets its name.
  void tell_end(const std::string& name);
  // Ends every sandbox; the request of this token is answered when the last is gone.
  void begin_shut_down(std::uint64_t token);
  // Also by a sandbox that is being made or taken apart.
  bool is_taken(const std::string& name) const;

  // Sandboxes stay for the time that the options give a daemon to come back.
  void lose_daemon();
  bool should_end() const;
  // When something is due that nothing else wakes the loop for; none: never. Changes nothing.
  std::optional<SteadyTime> next_deadline() const;
  // Does what is due: ends sandboxes that nobody came back for, gives up what took too long.
  void expire(SteadyTime now);
  void expire_orphans(SteadyTime now);
  void expire_making(SteadyTime now);
  bool keeps_paused(SteadyTime now) const;

  SpawnerOptions options_;
  SandboxBuilder builder_;
  SpawnerEvents events_;
  SpawnerConnection connection_;
  SpawnedSandboxes sandboxes_;
  SpawnerChildren children_;
  SpawnerZygotes zygotes_;
  SpawnerStandstill standstill_;
  SpawnerSnapshots snapshots_;
  SpawnerVolumes volumes_;
  SpawnerInterpreters interpreters_;
  SpawnerForkAhead ahead_;

  // Sandboxes whose disk images are being made, by ticket.
  struct Making {
    Request request;
    ImageSize size;
    SteadyTime since;
  };
  std::map<std::uint64_t, Making> making_;
  std::uint64_t tickets_ = 0;
  std::uint32_t maker_losses_ = 0;
  std::optional<std::uint64_t> shutting_down_;
  std::optional<SteadyTime> orphan_since_;
  SteadyTime orphan_check_{};  // when orphans that are paused are looked at again
};

}  // namespace atl::sandbox::native
