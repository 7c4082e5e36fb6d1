#pragma once

#include <array>
#include <optional>
#include <string>

#include "auth/permission.h"
#include "session/service.h"

namespace atl::session {

// Every call of the session service that is made in somebody's name.
enum class Call : std::uint8_t {
  create,
  get,
  list,
  update,
  pause,
  resume,
  destroy,
  snapshot,
  restore,
  fork,
  list_snapshots,
  get_snapshot,
  remove_snapshot,
  execute,
  run,
  contexts,
  create_context,
  prepare_environment,
  restart_context,
  interrupt_context,
  remove_context,
  start,
  run_command,
  admit_tool,
  processes,
  process,
  files,
  connect,
  listening_ports,
  network,
  update_network,
  usage,
  metrics,
  history,
  artifacts,
  open_artifact,
  validate,
  count_,
};

// The permissions of which a caller needs one, whatever dialect it speaks. A call that has none here does not
// compile.
auth::PermissionSet needed_for(Call call);

// The session service as dialects see it: asks for every call whether the caller's permissions and scopes
// allow it before it hands the call on, so that a route whose own rule is too wide opens nothing. Does not
// own the service behind it. Belongs to the loop thread.
//
// Beyond the errors of Service: Code::permission_denied that names the missing permission. A session outside
// of the caller's scopes is Code::not_found. A caller who may not use a session's data plane does not see its
// secrets.
class AuthorizedService final : public Service {
 public:
  explicit AuthorizedService(Service& inner) : inner_(inner) {}

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
  // Ends what admit_tool began.
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
  // Nothing: go on.
  std::optional<Error> refuse(const Principal& who, Call call) const;
  std::optional<Error> refuse(const Principal& who, Call call, const std::string& id) const;
  // Whether the caller's scopes cover the session of this id. What has ended is known by its id alone.
  bool covers(const Principal& who, const std::string& id) const;
  static bool covers(const auth::Scopes& scopes, const Session& session);
  // Refuses what would give a narrowed key more than it has; fills in the environment that it is bound to.
  // `request` must outlive the call.
  Task<void> narrow(Principal who, CreateRequest& request);

  Service& inner_;
};

}  // namespace atl::session
