#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "audit/log.h"
#include "session/audited/trail.h"
#include "session/service.h"

namespace atl::session::audited {

// The session service as dialects and commands see it: every call that changes or reveals something leaves an
// entry in the audit log (docs/formats/audit.md lists the actions). What it answers is what the service
// inside answers; a change for whose entry there is no room fails with Code::no_space and is not begun.
//
// Belongs to the loop thread. The service inside must outlive it.
class AuditedService final : public Service {
 public:
  AuditedService(boost::asio::any_io_executor executor, Service& inner, std::shared_ptr<audit::Log> log);

  // After a start: an entry for each session that an earlier run of the service left running.
  void tell_adopted();

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

  Result<Session> peek(const std::string& id) const override { return inner_.peek(id); }
  std::vector<Session> peek_all() const override { return inner_.peek_all(); }
  Result<Session> peek_if(const std::function<bool(const Session&)>& wanted) const override {
    return inner_.peek_if(wanted);
  }

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
  Task<ExecutionRecord> finish_tool(Principal who, ExecutionRecord record) override {
    return inner_.finish_tool(std::move(who), std::move(record));
  }
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
  std::vector<ProviderFacts> providers() const override { return inner_.providers(); }
  const registry::Registry& registry() const override { return inner_.registry(); }
  const registry::Ceilings& ceilings() const override { return inner_.ceilings(); }

 private:
  Trail trail(const Principal& who) const { return {log_, actor_of(who)}; }
  // Dialects name a session by either of its ids; entries always have the session_id.
  std::string session_id_of(const std::string& id);
  void remember(const Session& session);

  boost::asio::any_io_executor executor_;
  Service& inner_;
  std::shared_ptr<audit::Log> log_;
  std::unordered_map<std::string, std::string> session_ids_;  // by sandbox_id; bounded
};

}  // namespace atl::session::audited
