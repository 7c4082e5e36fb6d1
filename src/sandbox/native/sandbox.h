#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/event.h"
#include "os/fd.h"
#include "sandbox/guest_connection.h"
#include "sandbox/guest_outcome.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/checkpoint_file.h"
#include "sandbox/native/client.h"
#include "sandbox/native/native.h"
#include "sandbox/sandbox.h"

namespace atl::sandbox::native {

struct Excess;

// What the spawner handed over for one sandbox.
struct SpawnResult {
  Spec spec;
  std::string group;
  Isolation isolation;
  os::Fd stream, pidfd, upper;
  pid_t pid = 0;  // of the guest, in the host's numbers
  bool frozen = false;
};
// Takes over the descriptors of a create or adopt; those that are missing stay closed.
SpawnResult spawn_result(SpawnerClient::Answer answer, Spec spec);

// What is known of a live sandbox on the daemon's side, shared by its handle, its processes' ends and the
// provider. Belongs to the loop thread. Outlives the sandbox: `ended` says why there is none any more, and
// from then on the descriptors are closed.
class NativeState : public std::enable_shared_from_this<NativeState> {
 public:
  NativeState(boost::asio::any_io_executor executor, std::shared_ptr<SpawnerClient> spawner,
              std::shared_ptr<const CgroupTree> cgroups, SpawnResult spawned);
  // Waits for the guest's greeting. On failure there is no connection, and the caller destroys the sandbox.
  Task<void> greet();

  // What the sandbox has used so far, as far as this machine counts; after its end, what was known last.
  Usage usage() const;
  // Adds what the kernel knows to how a process ended.
  void complete_outcome(const ProcessInfo& info, Outcome& outcome);
  // Ends what is more than the allowed number of processes, in executions and in the background; says how
  // many tasks there are. Called now and then while something runs.
  std::uint64_t count_processes();
  // Ends every process, or where there is none what a busy interpreter runs, and says why.
  void end_executions(Ending ending, const std::string& reason);
  bool is_busy() const {
    return connection && (!connection->processes().empty() || !connection->interpreters().empty());
  }
  // Something is inside that could start processes: more than the guest.
  bool is_in_use() const;
  // Something was asked for that is not over.
  bool is_executing() const { return connection && connection->is_executing(); }
  // Ends what is under way with this reason, wakes those who wait for the end, and closes the descriptors.
  // The first reason stays.
  void has_ended(std::string why);
  // Whom to tell when something begins or ends in it.
  void on_activity(std::function<void(const std::shared_ptr<NativeState>&)> on_activity) {
    on_activity_ = std::move(on_activity);
  }
  void note_activity() {
    if (on_activity_) on_activity_(shared_from_this());
  }

  const std::shared_ptr<SpawnerClient> spawner;
  const std::shared_ptr<const CgroupTree> cgroups;
  SpawnResult spawned;
  // Null before greet(), and while a sandbox that was adopted paused has not been resumed.
  std::shared_ptr<GuestConnection> connection;
  std::string name;  // under which the spawner knows it
  os::Event changed;
  std::optional<std::string> ended;
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();

 private:
  std::uint32_t held_processes() const;
  std::vector<pid_t> process_numbers() const;
  void end_excess(std::uint32_t held);
  void sweep(const Excess& excess);
  // What the kernel counted for the group; where it does not, what /proc says about the tree.
  GroupUsage measured() const;
  std::function<void(const std::shared_ptr<NativeState>&)> on_activity_;
  GuestOutcome outcomes_;
  bool is_sweeping_ = false;
  std::optional<std::chrono::steady_clock::time_point> swept_at_;
  mutable std::uint32_t processes_peak_ = 0;
  mutable std::uint64_t memory_peak_ = 0;  // where the kernel does not keep it
  os::Fd proc_;  // of the host; open where the kernel does not count, or to see who is who
  boost::asio::any_io_executor executor_;
};

// The handle that a session holds: it owns the sandbox, which ends with it unless stop() was called. Belongs
// to the loop thread. After the sandbox has ended every call fails with Code::unavailable.
class NativeSandbox final : public Sandbox {
 public:
  explicit NativeSandbox(std::shared_ptr<NativeState> state);
  ~NativeSandbox() override;

  bool is_alive() const { return !state_->ended && state_->connection && state_->connection->is_open(); }
  // A pooled sandbox becomes the one that `spec` asks for.
  void assign(Spec spec);
  const std::shared_ptr<NativeState>& state() const { return state_; }

  const std::string& id() const override { return state_->spawned.spec.id; }
  const Traits& traits() const override { return native_traits(); }
  const Isolation& isolation() const override { return state_->spawned.isolation; }
  const Limits& limits() const override { return state_->spawned.spec.limits; }
  Task<std::shared_ptr<Process>> start(ProcessSpec spec) override;
  std::vector<std::shared_ptr<Process>> processes() override;
  Files& files() override;
  Task<std::shared_ptr<Interpreter>> create_interpreter(Language language, std::string cwd) override;
  std::vector<std::shared_ptr<Interpreter>> interpreters() override;
  Task<void> remove_interpreter(std::string id) override;
  Task<std::unique_ptr<ByteStream>> connect(std::uint16_t port) override;
  Task<std::vector<std::uint16_t>> listening_ports() override;
  Task<void> open_network(std::shared_ptr<egress::Proxy> proxy) override;
  Task<void> trust(std::string certificate) override;
  Task<Usage> usage() override;
  Task<std::chrono::microseconds> cpu_time() override;
  Task<void> pause() override;
  Task<void> resume() override;
  Task<void> snapshot(std::string target) override;
  Task<Carried> checkpoint(std::string target, CheckpointOptions options) override;
  const Carried& revival() const override { return revival_; }
  // Brings the interpreters to life that another one's checkpoint() took; what cannot be is told by
  // revival().
  Task<void> receive_interpreters();
  Task<void> stop() override;
  Task<std::string> ended() override;

 private:
  // A request about this sandbox whose answer is only that it was done.
  Task<void> ask_spawner(Ask what);
  // Code::conflict while there is no connection: the sandbox was paused when this daemon adopted it.
  Result<void> check_connection() const;
  Task<void> receive_interpreter(const os::Fd& file, std::uint32_t number,
                                 CheckpointedInterpreter interpreter);
  Carried revival_;
  std::shared_ptr<NativeState> state_;
};

}  // namespace atl::sandbox::native
