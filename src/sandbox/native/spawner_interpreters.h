#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/spawner_children.h"
#include "sandbox/native/spawner_connection.h"
#include "sandbox/native/spawner_sandboxes.h"
#include "sandbox/native/spawner_zygotes.h"

namespace atl::sandbox::native {

// Interpreters in sandboxes: forked from a zygote, or brought back from a checkpoint. Keeps the requests that
// wait for a zygote to start, or until others have been brought back; the loop takes them out again when that
// has happened. Every request is answered once. The spawner's only thread.
class SpawnerInterpreters {
 public:
  // Borrows all of them.
  SpawnerInterpreters(SandboxBuilder& builder, SpawnerChildren& children, SpawnerConnection& connection,
                      SpawnerZygotes& zygotes)
      : builder_(builder), children_(children), connection_(connection), zygotes_(zygotes) {}

  // A request for an interpreter may wait for a zygote that is starting, once.
  enum class ZygoteWait { allowed, over };
  // Answered when the child runs.
  void fork(const Request& request, SpawnedSandbox& sandbox, const ask::ForkInterpreter& wanted,
            ZygoteWait wait);
  // Answered when it has its memory and goes on. `file` has it, and is kept open until then.
  void revive(const Request& request, SpawnedSandbox& sandbox, const ask::Revive& wanted, os::Fd file,
              ZygoteWait wait);

  struct Pending {
    Request request;
    os::Fd beside;
  };
  // No zygote is starting any more: those who waited for one.
  std::vector<Pending> take_awaiting_zygote() { return std::exchange(awaiting_zygote_, {}); }
  // The next one that had to wait for its turn; none: nobody waits, or as many as may be are being revived.
  std::optional<Pending> take_next_turn();

  // A child that waits for the memory of that interpreter. The caller ends it if it gets none.
  Result<ForkedChild> fork_copy(Zygote& zygote, const SpawnedSandbox& sandbox,
                                const CheckpointedInterpreter& interpreter);
  // Begins to write the memory into `copying.forked`; its report tells when it is done.
  Result<void> write_copy(Copying copying, int file, std::uint32_t index);
  // The interpreter is one of the sandbox's from here on; gives the ends of its streams to the daemon.
  void hand_over(Reply reply, SpawnedSandbox& sandbox, ForkedChild forked);

 private:
  // Requests that may wait; more are refused at once.
  static constexpr std::size_t kWaitingMax = 1024;
  // What a zygote needs to fork into that sandbox. `users` keeps a descriptor open that the target borrows.
  Result<ForkTarget> fork_target_in(const SpawnedSandbox& sandbox, const std::string& user,
                                    const std::string& directory, os::Fd& users);

  SandboxBuilder& builder_;
  SpawnerChildren& children_;
  SpawnerConnection& connection_;
  SpawnerZygotes& zygotes_;
  std::vector<Pending> awaiting_zygote_;
  std::deque<Pending> awaiting_turn_;
};

}  // namespace atl::sandbox::native
