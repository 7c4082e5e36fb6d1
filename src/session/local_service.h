#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "egress/proxy.h"
#include "registry/registry.h"
#include "sandbox/provider.h"
#include "session/execution_engine.h"
#include "session/layer_use.h"
#include "session/live.h"
#include "session/observer.h"
#include "session/service.h"
#include "store/blobs.h"
#include "store/store.h"
#include "volume/volumes.h"

namespace atl::session {

// What one tenant may have stored, and for how long. Zero: no bound. Nothing of one tenant ever goes because
// of another's.
struct Keeping {
  std::uint64_t snapshot_count = 0, snapshot_bytes = 0;
  std::chrono::milliseconds snapshots{0};
  std::uint64_t paused_count = 0, paused_bytes = 0;  // sessions on the disk
  std::chrono::milliseconds paused{0};
  std::uint64_t artifact_bytes = 0;
};

struct ServiceOptions {
  std::string default_provider = "native";
  std::string default_environment = "host";
  std::chrono::milliseconds default_ttl = std::chrono::hours(1);
  std::chrono::milliseconds max_ttl = std::chrono::hours(24 * 30);
  // Unused for this long and running nothing: what a session's own end would do is done. Zero: never.
  std::chrono::milliseconds idle_after{0};
  // Paused in memory for this long: it goes to the disk if nothing of it would be lost. Zero: never.
  std::chrono::milliseconds to_disk_after{0};
  std::chrono::milliseconds keep_ended = std::chrono::hours(24 * 7);  // ended sessions stay readable
  std::chrono::milliseconds keep_records = std::chrono::hours(24 * 30);
  std::int64_t record_bytes_max = 1LL << 30;
  // Sessions of one tenant that may run at once: one more is Code::resource_exhausted. Zero: no bound.
  std::uint32_t running_per_tenant = 0;
  // Sandboxes that may stand on this machine, also paused in memory: one more is Code::unavailable. Zero: no
  // bound.
  std::uint32_t sandboxes_max = 0;
  registry::Ceilings ceilings;  // beyond them a request is refused; what nobody asked for is cut
  Keeping keeping;
  std::string snapshot_directory;  // empty: no snapshots, no forks
  Ports ports = Ports::open;       // closed: those of every session are, whatever it asked for
  std::chrono::milliseconds sample_every{5000};
  ExecutionEngine::Options execution;
};

// Sessions of this machine. Construct, then start() once before anything else; shut_down() before the end.
class LocalService final : public Service {
 public:
  struct Parts {
    boost::asio::any_io_executor executor;
    store::Store* store = nullptr;
    store::Blobs* blobs = nullptr;
    const registry::Registry* registry = nullptr;
    std::vector<sandbox::Provider*> providers;
    Clock* clock = nullptr;
    Observer* observer = nullptr;
    boost::asio::thread_pool* workers = nullptr;  // for what computes long; null: on the loop
    layer::Store* layers = nullptr;               // null: environments have no layers of a store
    volume::Volumes* volumes = nullptr;           // null: no session can mount one
    egress::DialBudget* dials = nullptr;          // null: connections to the world are not counted
    egress::Outside outside;                      // without a resolver: no session gets a network
    // A tenant's secrets, for header rules that name them. Unset: there are none.
    std::function<std::shared_ptr<egress::Secrets>(const std::string& tenant)> secrets;
  };
  LocalService(Parts parts, ServiceOptions options);
  ~LocalService() override;

  // Brings the store and the kernel's truth together after whatever happened before: sandboxes that still run
  // and that a session owns are taken back, sessions without their sandbox become lost, sandboxes without a
  // session end, unfinished records become interrupted. Then time to live and idle policy are in force.
  Task<void> start();
  // Ends every session as stopped, all at once, with this reason.
  Task<void> shut_down(std::string reason);

  Task<Session> create(Principal who, CreateRequest request) override;
  Task<Session> get(Principal who, std::string id) override;
  Task<Page<Session>> list(Principal who, ListRequest request) override;
  Task<Session> update(Principal who, std::string id, UpdateRequest request) override;
  Task<Session> pause(Principal who, std::string id, PauseRequest request) override;
  Task<Session> resume(Principal who, std::string id, std::optional<std::chrono::milliseconds> ttl) override;
  Task<Session> destroy(Principal who, std::string id) override;
  Task<Snapshot> snapshot(Principal who, std::string id, std::string name, TextMap attributes) override;
  Task<Session> restore(Principal who, std::string id, std::string snapshot_id) override;
  Task<Forked> fork(Principal who, std::string id, ForkRequest request) override;
  Task<Page<Snapshot>> list_snapshots(Principal who, std::string id, std::uint32_t limit,
                                      std::string cursor) override;
  Task<Snapshot> get_snapshot(Principal who, std::string snapshot_id) override;
  Task<void> remove_snapshot(Principal who, std::string snapshot_id) override;

  Result<Session> peek(const std::string& id) const override;
  std::vector<Session> peek_all() const override;
  Result<Session> peek_if(const std::function<bool(const Session&)>& wanted) const override;

  Task<ExecutionStart> execute(Principal who, std::string id, ExecuteRequest request) override;
  Task<ExecutionRecord> run(Principal who, std::string id, ExecuteRequest request) override;
  Task<std::vector<sandbox::KernelInfo>> contexts(Principal who, std::string id) override;
  Task<sandbox::KernelInfo> create_context(Principal who, std::string id, ContextRequest request) override;
  Task<sandbox::KernelInfo> prepare_environment(Principal who, std::string id,
                                                sandbox::Language language) override;
  Task<void> restart_context(Principal who, std::string id, std::string context) override;
  Task<void> interrupt_context(Principal who, std::string id, std::string context) override;
  Task<void> remove_context(Principal who, std::string id, std::string context) override;

  Task<CommandStart> start(Principal who, std::string id, CommandRequest request) override;
  Task<ExecutionRecord> run_command(Principal who, std::string id, CommandRequest request,
                                    std::string standard_input) override;
  Task<std::vector<std::shared_ptr<sandbox::Process>>> processes(Principal who, std::string id) override;
  Task<std::shared_ptr<sandbox::Process>> process(Principal who, std::string id,
                                                  ProcessSelector selector) override;
  Task<std::shared_ptr<sandbox::Files>> files(Principal who, std::string id) override;
  Task<std::unique_ptr<sandbox::ByteStream>> connect(Principal who, std::string id,
                                                     std::uint16_t port) override;
  Task<std::vector<std::uint16_t>> listening_ports(Principal who, std::string id) override;

  Task<NetworkFacts> network(Principal who, std::string id) override;
  Task<NetworkFacts> update_network(Principal who, std::string id, NetworkRequest request) override;

  Task<sandbox::Usage> usage(Principal who, std::string id) override;
  Task<std::vector<Sample>> metrics(Principal who, std::string id, std::optional<WallTime> from,
                                    std::optional<WallTime> to) override;
  Task<Page<ExecutionRecord>> history(Principal who, HistoryRequest request) override;
  Task<std::vector<Artifact>> artifacts(Principal who, std::string id) override;
  Task<ArtifactContent> open_artifact(Principal who, std::string digest) override;
  Task<policy::Verdict> validate(Principal who, ValidateRequest request) override;
  std::vector<ProviderFacts> providers() const override;
  const registry::Registry& registry() const override { return *parts_.registry; }
  const registry::Ceilings& ceilings() const override { return options_.ceilings; }

 private:
  using LivePtr = std::shared_ptr<Live>;
  enum class Kernels : std::uint8_t { fresh, carried };

  // Looking up.
  LivePtr find(const std::string& id) const;
  Task<Session> stored(const Principal& who, std::string id);
  // The live session of that id, or why there is none (not_found, or conflict naming the state).
  Task<LivePtr> live(Principal who, std::string id);
  // The same, running: one that is paused is resumed if it asks for that.
  Task<LivePtr> awake(Principal who, std::string id);
  Task<std::shared_ptr<sandbox::Kernel>> kernel(Principal who, std::string id, std::string context);

  // Changing.
  void enter(const LivePtr& live, State state, std::string reason);
  Task<void> save(LivePtr live);
  void touch(const LivePtr& live);
  void set_end(Live& live, std::chrono::milliseconds ttl, bool extend_only);
  Result<void> apply(Live& live, const UpdateRequest& request);
  // Secrets that no other session has.
  static void give_secrets(Session& facts);
  // What a session of an earlier version, or of other settings, lacks. True if something changed.
  bool complete_secrets(Session& facts) const;
  // Whether one more session of the tenant may run; `one` is it, if it is known already. Nothing may be
  // awaited between this and the change that makes it count.
  Result<void> admit(const std::string& tenant, const Live* one) const;
  // Whoever calls these has the session's turn.
  Task<void> pause_held(LivePtr live, PauseRequest request);
  Task<void> pause_sandbox(LivePtr live);
  Task<void> resume_held(LivePtr live);
  // The way out of a sandbox that was taken back, once its guest can be asked.
  Task<void> reopen_network(LivePtr live);
  Task<sandbox::Carried> take_state(LivePtr live, std::string name, sandbox::CheckpointOptions options);
  Task<void> hibernate_held(LivePtr live, PauseRequest request, std::string reason);
  // Paused in memory, which ends with this service: as much of it as the disk can hold goes on with the next
  // one.
  Task<void> keep_paused(LivePtr live);
  // Paused in memory for long: onto the disk, whole, or it stays where it is.
  boost::asio::awaitable<void> move_to_disk(LivePtr live);
  Task<void> wake_held(LivePtr live);
  // Directories that only this session stands on, once it does not any more.
  void discard_states(const Live& live, std::vector<std::string> names);
  Task<void> end_for_good(LivePtr live, std::string reason);
  Task<void> stop_held(LivePtr live, State end, std::string reason);
  // Of a session in its final state: forgotten once it is stored.
  Task<void> store_end(LivePtr live);
  void forget(const LivePtr& live);
  boost::asio::awaitable<void> watch_end(LivePtr live, std::shared_ptr<sandbox::Sandbox> sandbox);

  // Creating.
  Task<LivePtr> draft(const Principal& who, CreateRequest request);
  Task<void> build(LivePtr live, std::optional<std::string> snapshot_path, Kernels kernels = Kernels::fresh);
  // Which kernels of its sandbox are the default ones that its facts name; those that are not there are lost, and the next one
  // in their language will say so.
  static void find_default_kernels(Live& live, const std::string& why_lost);
  // What every session has in its sandbox: a place for output, and its way out.
  Task<void> furnish(LivePtr live);
  Task<Session> bring_up(LivePtr live, std::optional<std::string> snapshot_path, Kernels kernels = Kernels::fresh);
  Task<std::vector<Result<Session>>> bring_up_all(std::vector<LivePtr> copies, std::string state, Kernels kernels);
  // A draft that is a copy of `source`.
  Result<LivePtr> draft_copy(const Principal& who, const Live& source, const UpdateRequest& changes);
  // What a stored state takes on the disk.
  Task<std::uint64_t> size_of_state(std::string name);
  // Stored things. Code::no_space, with what there is, what may be and what to do, if one more would not be
  // kept.
  Task<void> check_snapshot_room(std::string tenant, std::uint64_t more_bytes);
  Result<void> check_paused_room(const Live& live) const;
  // What is kept for long enough goes, from the disk too.
  Task<void> remove_old_snapshots();
  boost::asio::awaitable<void> end_old_pause(LivePtr live);
  bool is_paused_for_long(const Live& live) const;
  // Directories of the volumes that the session names.
  Task<std::vector<sandbox::HostMount>> volume_mounts(const Session& facts);
  sandbox::Provider* provider_named(const std::string& name) const;
  std::string snapshot_path(const std::string& snapshot_id) const;
  // The state of the session's sandbox in the directory of `snapshot_id`; a failure leaves nothing there.
  Task<void> take_snapshot(LivePtr live, std::string snapshot_id);

  // Network: the proxy of a session whose sandbox stands, as its facts ask for it.
  Task<void> check_proxy(const egress::RuleTexts& texts);
  Task<void> open_network(LivePtr live, std::shared_ptr<const egress::Rules> rules);
  Task<void> save_network_log(LivePtr live);

  // Time.
  boost::asio::awaitable<void> keep_time();
  boost::asio::awaitable<void> expire(LivePtr live, std::string reason);
  boost::asio::awaitable<void> take_sample(LivePtr live);
  boost::asio::awaitable<void> clean_up();
  // Gives the records of commands that still run.
  Task<std::vector<std::string>> adopt_all();
  // What a sandbox of an earlier service still runs and has lost.
  Task<void> take_back(LivePtr live, std::vector<std::string>& still_running);
  // The wall clock was set: what people are told about ends follows it, the ends themselves do not.
  void follow_wall_clock(WallTime now, SteadyTime steady);

  Parts parts_;
  LayerUse layer_use_;
  ServiceOptions options_;
  ExecutionEngine engine_;
  std::unordered_map<std::string, LivePtr> live_;        // by session_id
  std::unordered_map<std::string, LivePtr> by_sandbox_;  // by sandbox_id
  boost::asio::steady_timer clockwork_;
  SteadyTime blobs_due_until_{};  // artifacts may lie there that nobody names
  SteadyTime next_clean_up_{};
  WallTime started_wall_{};
  SteadyTime started_steady_{};
  Duration wall_ahead_{};  // the wall clock's lead over the steady one, when last looked at
  std::set<std::string> forking_;  // states that copies are being made of
  bool ending_ = false;
  boost::asio::thread_pool disk_{1};  // removing and measuring directories
};

}  // namespace atl::session
