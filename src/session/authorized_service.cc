#include "session/authorized_service.h"

#include <fmt/format.h>

#include "auth/denial.h"

namespace atl::session {
namespace {

using auth::Permission;
using auth::PermissionSet;

// By the order of Call. Snapshots of templates belong to whoever may make templates.
constexpr std::array<PermissionSet, static_cast<std::size_t>(Call::count_)> kNeeded = {{
    /* create */ {Permission::sessions_write},
    /* get */ {Permission::sessions_read},
    /* list */ {Permission::sessions_read},
    /* update */ {Permission::sessions_write},
    /* pause */ {Permission::sessions_write},
    /* resume */ {Permission::sessions_write},
    /* destroy */ {Permission::sessions_write},
    /* snapshot */ {Permission::snapshots, Permission::templates},
    /* restore */ {Permission::sessions_write},
    /* fork */ {Permission::sessions_write},
    /* list_snapshots */ {Permission::sessions_read, Permission::snapshots, Permission::templates},
    /* get_snapshot */ {Permission::sessions_read, Permission::snapshots, Permission::templates},
    /* remove_snapshot */ {Permission::snapshots, Permission::templates},
    /* execute */ {Permission::execute},
    /* run */ {Permission::execute},
    /* contexts */ {Permission::execute, Permission::sessions_read},
    /* create_context */ {Permission::execute},
    /* prepare_environment */ {Permission::execute},
    /* restart_context */ {Permission::execute},
    /* interrupt_context */ {Permission::execute},
    /* remove_context */ {Permission::execute},
    /* start */ {Permission::execute, Permission::terminal},
    /* run_command */ {Permission::execute},
    /* admit_tool */ {Permission::tools_run},
    /* processes */ {Permission::sessions_read, Permission::execute},
    /* process */ {Permission::execute, Permission::terminal},
    /* files */ {Permission::files_read, Permission::files_write},
    /* connect */ {Permission::ports},
    /* listening_ports */ {Permission::sessions_read, Permission::ports},
    /* network */ {Permission::sessions_read},
    /* update_network */ {Permission::sessions_write},
    /* usage */ {Permission::sessions_read},
    /* metrics */ {Permission::sessions_read},
    /* history */ {Permission::history_read},
    /* artifacts */ {Permission::history_read},
    /* open_artifact */ {Permission::history_read},
    /* validate */ {Permission::catalog_read},
}};
constexpr bool is_total() {
  for (const PermissionSet& needed : kNeeded)
    if (needed.empty()) return false;
  return true;
}
static_assert(is_total(), "every call names the permission that it needs");

Error not_here(const std::string& id) {
  return Error(Code::not_found, fmt::format("no session {}", id));
}

template <class T>
Task<T> refused(Error error) {
  co_return fail(std::move(error));
}

bool names_secret(const egress::RuleTexts& rules) {
  const auto names = [](const std::string& text) { return text.find("${secrets.") != std::string::npos; };
  for (const auto& [domain, headers] : rules.inject)
    for (const auto& [name, value] : headers)
      if (names(value)) return true;
  return false;
}

// The secret opens everything inside a sandbox, the traffic token its ports and interpreters: a caller is
// shown neither if it opens more than the caller's own rights do.
void hide_secrets(const Principal& who, Session& session) {
  if (!who.permissions.contains(auth::kDataPlanePermissions)) session.secret.clear();
  if (!who.may(Permission::ports) || !who.may(Permission::execute)) session.traffic_token.clear();
}

Task<Session> shown(Principal who, Task<Session> task) {
  CO_TRY(Session session, co_await std::move(task));
  hide_secrets(who, session);
  co_return session;
}

}  // namespace

auth::PermissionSet needed_for(Call call) {
  return kNeeded[static_cast<std::size_t>(call)];
}

std::optional<Error> AuthorizedService::refuse(const Principal& who, Call call) const {
  const PermissionSet needed = needed_for(call);
  if (who.permissions.has_any(needed)) return std::nullopt;
  return auth::missing_permission(needed.first());
}

bool AuthorizedService::covers(const auth::Scopes& scopes, const Session& session) {
  if (!scopes.environment.empty() && scopes.environment != session.environment) return false;
  return scopes.sessions.empty() || scopes.sessions.contains(session.session_id) ||
         scopes.sessions.contains(session.sandbox_id);
}

bool AuthorizedService::covers(const Principal& who, const std::string& id) const {
  if (who.scopes == nullptr || who.scopes->empty()) return true;
  if (who.scopes->environment.empty() && who.scopes->sessions.contains(id)) return true;
  const auto session = inner_.peek(id);
  return session && session->tenant == who.tenant && covers(*who.scopes, *session);
}

std::optional<Error> AuthorizedService::refuse(const Principal& who, Call call, const std::string& id) const {
  if (auto refusal = refuse(who, call)) return refusal;
  if (!covers(who, id)) return not_here(id);
  return std::nullopt;
}

Task<Session> AuthorizedService::create(Principal who, CreateRequest request) {
  if (auto no = refuse(who, Call::create)) co_return fail(std::move(*no));
  if (names_secret(request.egress) && !who.may(Permission::secrets_use))
    co_return fail(auth::missing_permission(Permission::secrets_use));
  // A volume that is mounted is as open as one that is asked for by its routes.
  if (!request.volumes.empty() && !who.may(Permission::volumes))
    co_return fail(auth::missing_permission(Permission::volumes));
  if (who.scopes != nullptr) CO_CHECK(co_await narrow(who, request));
  const Principal caller = who;
  CO_TRY(Session session, co_await inner_.create(std::move(who), std::move(request)));
  hide_secrets(caller, session);
  co_return session;
}

// A session that a narrowed key makes begins with nothing that the key could not reach otherwise.
Task<void> AuthorizedService::narrow(Principal who, CreateRequest& request) {
  const auto kept = who.scopes;
  const auth::Scopes& scopes = *kept;
  if (!scopes.sessions.empty())
    co_return fail(Code::permission_denied, "this key is bound to sessions that exist");
  if (scopes.environment.empty()) co_return Result<void>();
  const auto elsewhere = [&](const char* field) {
    return fail(Error(Code::permission_denied,
                      fmt::format("this key is bound to the environment {}", scopes.environment))
                    .with_field(field));
  };
  if (request.environment.empty() && request.snapshot.empty()) request.environment = scopes.environment;
  if (request.environment != scopes.environment) co_return elsewhere("environment");
  // Sessions of other environments may keep their files there too.
  if (!request.storage.empty()) co_return elsewhere("storage");
  if (request.snapshot.empty() || !request.snapshot_tenant.empty()) co_return Result<void>();
  CO_TRY(const Snapshot source, co_await inner_.get_snapshot(std::move(who), request.snapshot));
  if (source.environment != scopes.environment)
    co_return fail(Code::not_found, fmt::format("no snapshot {}", request.snapshot));
  co_return Result<void>();
}

Task<Session> AuthorizedService::get(Principal who, std::string id) {
  if (auto no = refuse(who, Call::get, id)) return refused<Session>(std::move(*no));
  Principal caller = who;
  return shown(std::move(caller), inner_.get(std::move(who), std::move(id)));
}

Task<Page<Session>> AuthorizedService::list(Principal who, ListRequest request) {
  if (auto no = refuse(who, Call::list)) co_return fail(std::move(*no));
  const auto scopes = who.scopes;
  if (scopes != nullptr && !scopes->environment.empty()) {
    if (!request.environment.empty() && request.environment != scopes->environment) co_return Page<Session>{};
    request.environment = scopes->environment;
  }
  const Principal caller = who;
  CO_TRY(Page<Session> page, co_await inner_.list(std::move(who), std::move(request)));
  if (scopes != nullptr)
    std::erase_if(page.items, [&](const Session& session) { return !covers(*scopes, session); });
  for (Session& session : page.items) hide_secrets(caller, session);
  co_return page;
}

Task<Session> AuthorizedService::update(Principal who, std::string id, UpdateRequest request) {
  if (auto no = refuse(who, Call::update, id)) return refused<Session>(std::move(*no));
  Principal caller = who;
  return shown(std::move(caller), inner_.update(std::move(who), std::move(id), std::move(request)));
}

Task<Session> AuthorizedService::pause(Principal who, std::string id, PauseRequest request) {
  if (auto no = refuse(who, Call::pause, id)) return refused<Session>(std::move(*no));
  Principal caller = who;
  return shown(std::move(caller), inner_.pause(std::move(who), std::move(id), request));
}

Task<Session> AuthorizedService::resume(Principal who, std::string id,
                                        std::optional<std::chrono::milliseconds> ttl) {
  if (auto no = refuse(who, Call::resume, id)) return refused<Session>(std::move(*no));
  Principal caller = who;
  return shown(std::move(caller), inner_.resume(std::move(who), std::move(id), ttl));
}

Task<Session> AuthorizedService::destroy(Principal who, std::string id) {
  if (auto no = refuse(who, Call::destroy, id)) return refused<Session>(std::move(*no));
  Principal caller = who;
  return shown(std::move(caller), inner_.destroy(std::move(who), std::move(id)));
}

Task<Snapshot> AuthorizedService::snapshot(Principal who, std::string id, std::string name,
                                           TextMap attributes) {
  if (auto no = refuse(who, Call::snapshot, id)) return refused<Snapshot>(std::move(*no));
  return inner_.snapshot(std::move(who), std::move(id), std::move(name), std::move(attributes));
}

Task<Session> AuthorizedService::restore(Principal who, std::string id, std::string snapshot_id) {
  if (auto no = refuse(who, Call::restore, id)) co_return fail(std::move(*no));
  // The snapshot must be in the caller's scopes as well.
  if (who.scopes != nullptr) CO_CHECK(co_await get_snapshot(who, snapshot_id));
  const Principal caller = who;
  CO_TRY(Session session, co_await inner_.restore(std::move(who), std::move(id), std::move(snapshot_id)));
  hide_secrets(caller, session);
  co_return session;
}

Task<Forked> AuthorizedService::fork(Principal who, std::string id, ForkRequest request) {
  if (auto no = refuse(who, Call::fork, id)) co_return fail(std::move(*no));
  if (who.scopes != nullptr && !who.scopes->sessions.empty())
    co_return fail(Code::permission_denied, "this key is bound to sessions that exist");
  const Principal caller = who;
  CO_TRY(Forked forked, co_await inner_.fork(std::move(who), std::move(id), std::move(request)));
  for (auto& session : forked.sessions)
    if (session) hide_secrets(caller, *session);
  co_return forked;
}

Task<Page<Snapshot>> AuthorizedService::list_snapshots(Principal who, std::string id, std::uint32_t limit,
                                                       std::string cursor) {
  if (auto no = refuse(who, Call::list_snapshots)) co_return fail(std::move(*no));
  if (!id.empty() && !covers(who, id)) co_return fail(not_here(id));
  const Principal caller = who;
  CO_TRY(Page<Snapshot> page,
         co_await inner_.list_snapshots(std::move(who), std::move(id), limit, std::move(cursor)));
  if (caller.scopes != nullptr)
    std::erase_if(page.items, [&](const Snapshot& one) { return !covers(caller, one.session_id); });
  co_return page;
}

Task<Snapshot> AuthorizedService::get_snapshot(Principal who, std::string snapshot_id) {
  if (auto no = refuse(who, Call::get_snapshot)) co_return fail(std::move(*no));
  const Principal caller = who;
  CO_TRY(Snapshot snapshot, co_await inner_.get_snapshot(std::move(who), snapshot_id));
  if (!covers(caller, snapshot.session_id))
    co_return fail(Code::not_found, fmt::format("no snapshot {}", snapshot_id));
  co_return snapshot;
}

Task<void> AuthorizedService::remove_snapshot(Principal who, std::string snapshot_id) {
  if (auto no = refuse(who, Call::remove_snapshot)) co_return fail(std::move(*no));
  if (who.scopes != nullptr) CO_CHECK(co_await get_snapshot(who, snapshot_id));
  co_return co_await inner_.remove_snapshot(std::move(who), std::move(snapshot_id));
}

// Code.

Task<ExecutionStart> AuthorizedService::execute(Principal who, std::string id, ExecuteRequest request) {
  if (auto no = refuse(who, Call::execute, id)) return refused<ExecutionStart>(std::move(*no));
  return inner_.execute(std::move(who), std::move(id), std::move(request));
}

Task<ExecutionRecord> AuthorizedService::run(Principal who, std::string id, ExecuteRequest request) {
  if (auto no = refuse(who, Call::run, id)) return refused<ExecutionRecord>(std::move(*no));
  return inner_.run(std::move(who), std::move(id), std::move(request));
}

Task<std::vector<sandbox::InterpreterInfo>> AuthorizedService::contexts(Principal who, std::string id) {
  if (auto no = refuse(who, Call::contexts, id))
    return refused<std::vector<sandbox::InterpreterInfo>>(std::move(*no));
  return inner_.contexts(std::move(who), std::move(id));
}

Task<sandbox::InterpreterInfo> AuthorizedService::create_context(Principal who, std::string id,
                                                                 ContextRequest request) {
  if (auto no = refuse(who, Call::create_context, id))
    return refused<sandbox::InterpreterInfo>(std::move(*no));
  return inner_.create_context(std::move(who), std::move(id), std::move(request));
}

Task<sandbox::InterpreterInfo> AuthorizedService::prepare_environment(Principal who, std::string id,
                                                                      sandbox::Language language) {
  if (auto no = refuse(who, Call::prepare_environment, id))
    return refused<sandbox::InterpreterInfo>(std::move(*no));
  return inner_.prepare_environment(std::move(who), std::move(id), language);
}

Task<void> AuthorizedService::restart_context(Principal who, std::string id, std::string context) {
  if (auto no = refuse(who, Call::restart_context, id)) return refused<void>(std::move(*no));
  return inner_.restart_context(std::move(who), std::move(id), std::move(context));
}

Task<void> AuthorizedService::interrupt_context(Principal who, std::string id, std::string context) {
  if (auto no = refuse(who, Call::interrupt_context, id)) return refused<void>(std::move(*no));
  return inner_.interrupt_context(std::move(who), std::move(id), std::move(context));
}

Task<void> AuthorizedService::remove_context(Principal who, std::string id, std::string context) {
  if (auto no = refuse(who, Call::remove_context, id)) return refused<void>(std::move(*no));
  return inner_.remove_context(std::move(who), std::move(id), std::move(context));
}

// Commands, files, ports.

// A terminal is a right of its own; everything else that starts needs the right to execute.
Task<CommandStart> AuthorizedService::start(Principal who, std::string id, CommandRequest request) {
  if (auto no = refuse(who, Call::start, id)) return refused<CommandStart>(std::move(*no));
  const Permission needed = request.pty ? Permission::terminal : Permission::execute;
  if (!who.may(needed)) return refused<CommandStart>(auth::missing_permission(needed));
  return inner_.start(std::move(who), std::move(id), std::move(request));
}

Task<ExecutionRecord> AuthorizedService::run_command(Principal who, std::string id, CommandRequest request,
                                                     std::string standard_input) {
  if (auto no = refuse(who, Call::run_command, id)) return refused<ExecutionRecord>(std::move(*no));
  return inner_.run_command(std::move(who), std::move(id), std::move(request), std::move(standard_input));
}

Task<ExecutionRecord> AuthorizedService::admit_tool(Principal who, std::string id, ToolCall call) {
  if (auto no = refuse(who, Call::admit_tool, id)) return refused<ExecutionRecord>(std::move(*no));
  return inner_.admit_tool(std::move(who), std::move(id), std::move(call));
}

Task<std::vector<std::shared_ptr<sandbox::Process>>> AuthorizedService::processes(Principal who,
                                                                                  std::string id) {
  if (auto no = refuse(who, Call::processes, id))
    return refused<std::vector<std::shared_ptr<sandbox::Process>>>(std::move(*no));
  return inner_.processes(std::move(who), std::move(id));
}

Task<std::shared_ptr<sandbox::Process>> AuthorizedService::process(Principal who, std::string id,
                                                                   ProcessSelector selector) {
  if (auto no = refuse(who, Call::process, id))
    return refused<std::shared_ptr<sandbox::Process>>(std::move(*no));
  return inner_.process(std::move(who), std::move(id), std::move(selector));
}

Task<std::shared_ptr<sandbox::Files>> AuthorizedService::files(Principal who, std::string id) {
  if (auto no = refuse(who, Call::files, id)) return refused<std::shared_ptr<sandbox::Files>>(std::move(*no));
  return inner_.files(std::move(who), std::move(id));
}

Task<std::unique_ptr<sandbox::ByteStream>> AuthorizedService::connect(Principal who, std::string id,
                                                                      std::uint16_t port) {
  if (auto no = refuse(who, Call::connect, id))
    return refused<std::unique_ptr<sandbox::ByteStream>>(std::move(*no));
  return inner_.connect(std::move(who), std::move(id), port);
}

Task<std::vector<std::uint16_t>> AuthorizedService::listening_ports(Principal who, std::string id) {
  if (auto no = refuse(who, Call::listening_ports, id))
    return refused<std::vector<std::uint16_t>>(std::move(*no));
  return inner_.listening_ports(std::move(who), std::move(id));
}

Task<NetworkFacts> AuthorizedService::network(Principal who, std::string id) {
  if (auto no = refuse(who, Call::network, id)) return refused<NetworkFacts>(std::move(*no));
  return inner_.network(std::move(who), std::move(id));
}

Task<NetworkFacts> AuthorizedService::update_network(Principal who, std::string id, NetworkRequest request) {
  if (auto no = refuse(who, Call::update_network, id)) return refused<NetworkFacts>(std::move(*no));
  if (names_secret(request.rules) && !who.may(Permission::secrets_use))
    return refused<NetworkFacts>(auth::missing_permission(Permission::secrets_use));
  return inner_.update_network(std::move(who), std::move(id), std::move(request));
}

// Observation.

Task<sandbox::Usage> AuthorizedService::usage(Principal who, std::string id) {
  if (auto no = refuse(who, Call::usage, id)) return refused<sandbox::Usage>(std::move(*no));
  return inner_.usage(std::move(who), std::move(id));
}

Task<std::vector<Sample>> AuthorizedService::metrics(Principal who, std::string id,
                                                     std::optional<WallTime> from,
                                                     std::optional<WallTime> to) {
  if (auto no = refuse(who, Call::metrics, id)) return refused<std::vector<Sample>>(std::move(*no));
  return inner_.metrics(std::move(who), std::move(id), from, to);
}

Task<Page<ExecutionRecord>> AuthorizedService::history(Principal who, HistoryRequest request) {
  if (auto no = refuse(who, Call::history)) co_return fail(std::move(*no));
  if (!request.id.empty() && !covers(who, request.id)) co_return fail(not_here(request.id));
  const Principal caller = who;
  CO_TRY(Page<ExecutionRecord> page, co_await inner_.history(std::move(who), std::move(request)));
  if (caller.scopes != nullptr)
    std::erase_if(page.items, [&](const ExecutionRecord& one) { return !covers(caller, one.session_id); });
  co_return page;
}

Task<std::vector<Artifact>> AuthorizedService::artifacts(Principal who, std::string id) {
  if (auto no = refuse(who, Call::artifacts, id)) return refused<std::vector<Artifact>>(std::move(*no));
  return inner_.artifacts(std::move(who), std::move(id));
}

// An artifact is found by its content, which several sessions may have left: whoever is bound to some
// sessions sees it if one of them has it, whoever is bound to an environment sees none.
Task<ArtifactContent> AuthorizedService::open_artifact(Principal who, std::string digest) {
  if (auto no = refuse(who, Call::open_artifact)) co_return fail(std::move(*no));
  if (who.scopes != nullptr && !who.scopes->empty()) {
    bool found = false;
    if (who.scopes->environment.empty()) {
      for (const std::string& id : who.scopes->sessions) {
        auto left = co_await inner_.artifacts(who, id);
        if (!left) continue;
        for (const Artifact& one : *left) found = found || one.digest == digest;
      }
    }
    if (!found) co_return fail(Code::not_found, "no such artifact");
  }
  co_return co_await inner_.open_artifact(std::move(who), std::move(digest));
}

Task<policy::Verdict> AuthorizedService::validate(Principal who, ValidateRequest request) {
  if (auto no = refuse(who, Call::validate)) return refused<policy::Verdict>(std::move(*no));
  return inner_.validate(std::move(who), std::move(request));
}

}  // namespace atl::session
