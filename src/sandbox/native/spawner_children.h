#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "os/fd.h"
#include "sandbox/native/checkpoint.h"
#include "sandbox/native/copier.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/spawner_events.h"
#include "sandbox/native/spawner_protocol.h"
#include "sandbox/native/zygote.h"

namespace atl::sandbox::native {

// Something that a child of the spawner works on.
struct Copying {
  os::Fd pidfd, report;
  Verb verb = Verb::snapshot;
  std::uint64_t token = 0;
  std::string name;
  std::string target;                            // checkpoint: its directory; open_volume: the volume's
  std::optional<CheckpointedInterpreter> first;  // checkpoint: the first of its interpreters
  bool holds = false;                            // the sandbox stands still for it
  bool stops = false;                            // it brings the sandbox to a standstill, by signals
  bool by_copier = false;                        // which does the next job when it has reported
  SteadyTime since = Clock::machine().steady();
  std::optional<ForkedChild> forked;  // revive: who is to come to life
  bool is_prefetched = false;         // revive: nobody has asked yet
};

// The spawner's children that do what would take time: write and remove snapshots, take and bring back the
// memory of interpreters, mount volumes. Owns their descriptors and what is known of their jobs until they
// have reported. Starting one never waits for it; when its report is readable the loop asks for it here. The
// spawner's only thread.
class SpawnerChildren {
 public:
  // Borrows both.
  SpawnerChildren(SandboxBuilder& builder, SpawnerEvents& events) : builder_(builder), events_(events) {}

  // More revivals at once would only wait for each other.
  static constexpr std::size_t kRevivalsMax = 4;
  // Children that write at the same time; beyond these the caller is told at once.
  static constexpr std::size_t kCopyingMax = 64;

  // `work` in a child, on the host's filesystem; what it returns is the report. On failure nothing was
  // begun: Code::resource_exhausted if too many work already.
  Result<void> run(Copying copying, const std::function<Result<AnyAnswer>()>& work);
  // The same by a copier, one that waits or a new one. Descriptors of the job stay the caller's.
  Result<void> give(Copying copying, const CheckpointJob& job);
  Result<void> give(Copying copying, const ReviveJob& job);
  // A child that the caller has started, with its `pidfd` and `report`.
  void add(Copying copying);

  // Null if no child reports there.
  const Copying* find(int report) const;
  // It has reported, or ended without: its job is the caller's, and a copier that has reported waits for the
  // next one.
  Copying finish(int report, bool has_reported);

  // So that the next live fork does not wait for a process to be made.
  void ensure_copier();
  // Waits in the loop for the end of a child and then collects its exit status.
  void reap(os::Fd pidfd);
  void on_reaped(int pidfd);
  // Ends the copiers that wait and collects them.
  void end_copiers();

  // A sandbox has another name from here on.
  void rename(const std::string& from, const std::string& to);
  bool is_full() const { return copying_.size() >= kCopyingMax; }
  // No child is at work, and all that were have been collected.
  bool is_idle() const { return copying_.empty() && reaping_.empty(); }
  bool is_reviving_enough() const;
  bool is_opening_volume(const std::string& directory) const;

 private:
  template <class Job>
  Result<void> give_to_copier(Copying copying, const Job& job);
  Result<Copier> make_copier();

  SandboxBuilder& builder_;
  SpawnerEvents& events_;
  std::map<int, Copying> copying_;  // by the descriptor of their report
  std::map<int, os::Fd> reaping_;   // children that have reported
  std::vector<Copier> copiers_;     // those that wait
};

}  // namespace atl::sandbox::native
