#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "egress/proxy.h"
#include "os/fair_pool.h"
#include "registry/registry.h"
#include "sandbox/provider.h"
#include "session/drafts.h"
#include "session/execution_engine.h"
#include "session/forks.h"
#include "session/handover.h"
#include "session/housekeeping.h"
#include "session/layer_use.h"
#include "session/observer.h"
#include "session/pauses.h"
#include "session/saved_states.h"
#include "session/service.h"
#include "session/service_options.h"
#include "session/session_lifecycle.h"
#include "session/session_networks.h"
#include "session/session_table.h"
#include "session/snapshots.h"
#include "store/blobs.h"
#include "store/store.h"
#include "volume/volumes.h"

namespace atl::session {

// The session service of this machine: puts the parts together and hands each call to the part that answers
// it. It keeps nothing of its own but the options.
//
// Belongs to the loop thread. Construct, then start() once before anything else; shut_down() before the end.
// Everything in Dependencies must outlive it.
class LocalService final : public Service {
 public:
  struct Dependencies {
    boost::asio::any_io_executor executor;
    store::Store* store = nullptr;
    store::Blobs* blobs = nullptr;  // null: no artifacts are kept
    const registry::Registry* registry = nullptr;
    Providers providers;
    Clock* clock = nullptr;
    Observer* observer = nullptr;            // may be null
    os::FairPool* workers = nullptr;         // for long computations; null: on the loop
    layer::Store* layers = nullptr;          // null: environments have no layers of a store
    volume::Volumes* volumes = nullptr;      // null: no session can mount one
    const skill::Library* skills = nullptr;  // null: there are none
    egress::DialBudget* dials = nullptr;     // null: connections to the world are not counted
    egress::Outside outside;                 // without a resolver: no session gets a network
    // A tenant's secrets, for header rules that name them. Unset: there are none.
    std::function<std::shared_ptr<egress::Secrets>(const std::string& tenant)> secrets;
    quota::ResourceController* controller = nullptr;  // null: only the bounds of the options hold
    quota::Inventory* inventory = nullptr;            // null: what is stored has no quota
  };
  LocalService(Dependencies dependencies, ServiceOptions options);

  // Brings the store and the sandboxes that still exist into agreement, whatever happened before
  // (handover.h). From then on time to live and idle policy are in force.
  Task<void> start();
  // Ends every session as stopped, all at once, with this reason; those that are paused go on with the next
  // service if they can be kept on the disk.
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
  Task<std::vector<sandbox::InterpreterInfo>> contexts(Principal who, std::string id) override;
  Task<sandbox::InterpreterInfo> create_context(Principal who, std::string id,
                                                ContextRequest request) override;
  Task<sandbox::InterpreterInfo> prepare_environment(Principal who, std::string id,
                                                     sandbox::Language language) override;
  Task<void> restart_context(Principal who, std::string id, std::string context) override;
  Task<void> interrupt_context(Principal who, std::string id, std::string context) override;
  Task<void> remove_context(Principal who, std::string id, std::string context) override;

  Task<CommandStart> start(Principal who, std::string id, CommandRequest request) override;
  Task<ExecutionRecord> run_command(Principal who, std::string id, CommandRequest request,
                                    std::string standard_input) override;
  Task<ExecutionRecord> admit_tool(Principal who, std::string id, ToolCall call) override;
  Task<ExecutionRecord> finish_tool(Principal who, ExecutionRecord record) override;
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
  const registry::Registry& registry() const override { return *dependencies_.registry; }
  const registry::Ceilings& ceilings() const override { return options_.ceilings; }

 private:
  // An interpreter of a running session. Code::not_found if it has none of this id.
  Task<std::shared_ptr<sandbox::Interpreter>> interpreter(LivePtr live, std::string context) const;

  // In the order in which they need each other.
  Dependencies dependencies_;
  ServiceOptions options_;
  LayerUse layer_use_;
  SessionTable table_;
  SessionNetworks networks_;
  SessionSkills skills_;
  SavedStates states_;
  ExecutionEngine engine_;
  Drafts drafts_;
  SessionLifecycle lifecycle_;
  Pauses pauses_;
  Snapshots snapshots_;
  Forks forks_;
  Handover handover_;
  Housekeeping housekeeping_;
};

}  // namespace atl::session
