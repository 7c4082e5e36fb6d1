#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/spawner_children.h"
#include "sandbox/native/spawner_connection.h"
#include "sandbox/native/spawner_events.h"
#include "sandbox/native/spawner_sandboxes.h"
#include "sandbox/native/zygote.h"

namespace atl::sandbox::native {

// The zygotes of the spawner, of every kind. Of each kind the last is the one in use or the next one; older
// ones stay while interpreters of theirs live, which only they can copy. One that dies is replaced; a kind
// that failed several times rests before the next try. Owns them; the spawner's only thread.
class SpawnerZygotes {
 public:
  // Borrows all of them.
  SpawnerZygotes(SandboxBuilder& builder, const ZygoteOptions& options, SpawnerEvents& events,
                 SpawnedSandboxes& sandboxes, SpawnerChildren& children, SpawnerConnection& connection)
      : builder_(builder),
        options_(options),
        events_(events),
        sandboxes_(sandboxes),
        children_(children),
        connection_(connection) {}

  // Which zygotes fork interpreters for such a sandbox.
  ZygoteKind kind_of(const Spec& spec) const;
  // The last of its kind; null if there is none in that state.
  Zygote* last(const ZygoteKind& kind, std::optional<Zygote::State> state) const;
  // Null if that one is gone, or not ready.
  Zygote* of(std::uint64_t generation);
  // One whose children can take that interpreter. Null: none can, or one is on its way, which `is_coming`
  // says. Only if it was true before a new one is started.
  Zygote* fitting(const CheckpointedInterpreter& interpreter, const ZygoteKind& kind, bool& is_coming);
  // Another zygote of this kind, if there is none that is young. After a few that failed the next one is
  // tried some time later. Returns at once; the zygote is ready later.
  void ensure(const ZygoteKind& kind);
  bool is_any_starting() const;
  // Something is to be heard of the zygote with this socket.
  void on_readable(int socket);

  void note_failure(const ZygoteKind& kind, std::uint32_t failures, std::string why);
  // One of this kind forked an interpreter: what failed before does not count any more.
  void note_success(const ZygoteKind& kind);
  // Why none of this kind is ready; empty: nothing is known.
  std::string reason(const ZygoteKind& kind) const;
  // Tells the daemon if it has changed that interpreters cannot be forked for the sandboxes that are here.
  void tell();
  // A sandbox is gone: what was missed for it alone is missed no longer.
  void on_sandbox_gone();
  // Why not, for an answer to the daemon, which then knows it; empty: they can be, or never could.
  std::string away_now() { return told_away_ = away(); }

  // When the first of the kinds that failed is tried again; none: there is nothing to try.
  std::optional<SteadyTime> next_try() const { return due_; }
  void try_again(SteadyTime now);
  // Ends all of them.
  void clear() { all_.clear(); }

 private:
  static constexpr std::size_t kMax = 32;
  // How many of a kind failed since one forked an interpreter, why, and when the last of them did.
  struct Failure {
    std::uint32_t count = 0;
    std::string reason;
    SteadyTime last{};
    std::optional<SteadyTime> due;  // when the next one is tried, if nobody asks before
  };
  Result<std::unique_ptr<Zygote>> start(const ZygoteKind& kind, std::uint64_t layout);
  // Ends a zygote that has no living children, to make room. False: there is none.
  bool drop_idle();
  // Whether this machine has zygotes at all.
  bool can_be() const;
  // Whether a sandbox is there whose interpreters it would fork.
  bool is_wanted(const ZygoteKind& kind) const;
  // After so many failures the next one is tried by itself, later and later unless it is the plain one.
  void plan(const ZygoteKind& kind, Failure& failure);
  void wake_by(SteadyTime when);
  // Whose interpreters those are, in words; empty: those of plain sandboxes.
  std::string whose(const ZygoteKind& kind) const;
  std::string away() const;

  SandboxBuilder& builder_;
  const ZygoteOptions& options_;
  SpawnerEvents& events_;
  SpawnedSandboxes& sandboxes_;
  SpawnerChildren& children_;
  SpawnerConnection& connection_;
  std::vector<std::unique_ptr<Zygote>> all_;
  std::uint64_t generations_ = 0;
  std::map<ZygoteKind, Failure> failed_;
  std::optional<SteadyTime> due_;
  std::string told_away_;  // to the daemon
};

}  // namespace atl::sandbox::native
