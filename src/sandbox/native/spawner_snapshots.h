#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/snapshot.h"
#include "sandbox/native/spawner_children.h"
#include "sandbox/native/spawner_connection.h"
#include "sandbox/native/spawner_sandboxes.h"
#include "sandbox/native/spawner_standstill.h"
#include "sandbox/native/spawner_zygotes.h"

namespace atl::sandbox::native {

// Snapshots and checkpoints: a child writes, measures or removes them, beneath the roots that this spawner
// was told of and nowhere else. Each function answers its request, or begins what the child's report answers;
// a failure leaves nothing behind that was not there. The spawner's only thread.
class SpawnerSnapshots {
 public:
  // Borrows all of them.
  SpawnerSnapshots(SandboxBuilder& builder, SpawnerChildren& children, SpawnerConnection& connection,
                   SpawnerStandstill& standstill, SpawnerZygotes& zygotes)
      : builder_(builder),
        children_(children),
        connection_(connection),
        standstill_(standstill),
        zygotes_(zygotes) {}

  // Where it will be and what it is a difference to, opened before the sandbox stops: a name that is refused
  // costs it no standstill.
  Result<SnapshotFiles> open_files(const SpawnedSandbox& sandbox, const std::string& target) const;
  // The sandbox stands still, and is held so until the child has reported.
  void take(SpawnedSandbox& sandbox, const Request& request, SnapshotFiles files);
  void checkpoint(SpawnedSandbox& sandbox, const Request& request, const ask::Checkpoint& wanted,
                  SnapshotFiles files);

  void discard(const Request& request, const ask::Discard& wanted);
  void measure(const Request& request, const ask::Measure& wanted);
  void open_interpreters(const Request& request, const ask::OpenInterpreters& wanted);
  void discard_interpreters(const Request& request, const ask::DiscardInterpreters& wanted);

 private:
  SnapshotJob snapshot_job(const SpawnedSandbox& sandbox, const SnapshotFiles& files) const;
  CheckpointJob checkpoint_job(const ask::Checkpoint& wanted, SpawnedSandbox& sandbox,
                               const SnapshotFiles& files);
  // A child of a zygote by its number inside, or the copy of one that went on in its place. Null if none is
  // known.
  const SpawnedSandbox::Interpreter* find_interpreter(SpawnedSandbox& sandbox,
                                                      const ask::Checkpoint::Interpreter& interpreter);
  // Processes inside that nobody accounts for, by name.
  std::vector<std::string> unknown_processes(const SpawnedSandbox& sandbox,
                                             const ask::Checkpoint& checkpoint);

  SandboxBuilder& builder_;
  SpawnerChildren& children_;
  SpawnerConnection& connection_;
  SpawnerStandstill& standstill_;
  SpawnerZygotes& zygotes_;
};

}  // namespace atl::sandbox::native
