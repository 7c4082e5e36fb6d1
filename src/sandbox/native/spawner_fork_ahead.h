#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "os/fd.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/spawner_children.h"
#include "sandbox/native/spawner_interpreters.h"
#include "sandbox/native/spawner_sandboxes.h"
#include "sandbox/native/spawner_zygotes.h"

namespace atl::sandbox::native {

// The first copy of a live fork, begun while the checkpoint is still being written: its sandbox, and in it a
// child that waits for the memory of the first interpreter. At most one; nothing of it is seen by anybody
// until it is asked for, and where it cannot be made, whoever asks will be told why by the ordinary way. The
// spawner's only thread.
class SpawnerForkAhead {
 public:
  // Serves a request that was taken here and cannot be served here after all.
  using Serve = std::function<void(const Request& request, os::Fd beside)>;
  // Borrows all but the last.
  SpawnerForkAhead(SandboxBuilder& builder, SpawnedSandboxes& sandboxes, SpawnerChildren& children,
                   SpawnerZygotes& zygotes, SpawnerInterpreters& interpreters, Serve serve)
      : builder_(builder),
        sandboxes_(sandboxes),
        children_(children),
        zygotes_(zygotes),
        interpreters_(interpreters),
        serve_(std::move(serve)) {}

  // The files of this checkpoint are there, in the draft of its directory: makes the sandbox, and drops what
  // was made ahead before.
  void prepare(const Copying& checkpoint);
  // The memory is there, too: the child gets that of the first of `carried`.
  void write(const std::string& target, const std::vector<std::string>& carried, int file);
  // The child has it, or `reply` has an error.
  void finish(Copying copying, Reply reply);

  // The sandbox that was made ahead, under its new name, if it is what `spec` asks for; otherwise null.
  SpawnedSandbox* take(const std::string& name, const Spec& spec);
  // True if that interpreter was made ahead in that sandbox: it was answered, or will be, and `file` is
  // taken.
  bool take_interpreter(SpawnedSandbox& sandbox, const Request& request, const ask::Revive& wanted,
                        os::Fd& file);

  // Ends the sandbox made for that checkpoint, or for any.
  void drop(const std::optional<std::string>& target = std::nullopt);
  // The same without ending it: every sandbox is being ended.
  void forget() { prepared_.reset(); }
  // When it is dropped because nobody came for it.
  std::optional<SteadyTime> expires() const;
  void expire(SteadyTime now);

 private:
  void fork_child(SpawnedSandbox& sandbox, const CheckpointedInterpreter& interpreter);
  static void drop_child(SpawnedSandbox& sandbox);

  SandboxBuilder& builder_;
  SpawnedSandboxes& sandboxes_;
  SpawnerChildren& children_;
  SpawnerZygotes& zygotes_;
  SpawnerInterpreters& interpreters_;
  Serve serve_;
  struct Prepared {
    std::string name;
    Spec spec;  // that it serves
    SteadyTime since;
  };
  std::optional<Prepared> prepared_;
  std::uint64_t count_ = 0;
};

}  // namespace atl::sandbox::native
