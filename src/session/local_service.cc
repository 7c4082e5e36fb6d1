#include "session/local_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "session/codec.h"
#include "session/cursor.h"
#include "session/retry.h"
#include "session/run_to_end.h"
#include "session/subject.h"

namespace atl::session {

LocalService::LocalService(Dependencies dependencies, ServiceOptions options)
    : dependencies_(std::move(dependencies)),
      options_(std::move(options)),
      layer_use_(dependencies_.layers),
      table_({.store = dependencies_.store,
              .clock = dependencies_.clock,
              .observer = dependencies_.observer,
              .controller = dependencies_.controller,
              .inventory = dependencies_.inventory},
             options_),
      networks_({.executor = dependencies_.executor,
                 .table = &table_,
                 .store = dependencies_.store,
                 .clock = dependencies_.clock,
                 .outside = dependencies_.outside,
                 .dials = dependencies_.dials,
                 .secrets = dependencies_.secrets,
                 .controller = dependencies_.controller,
                 .observer = dependencies_.observer}),
      skills_(dependencies_.skills),
      states_({.executor = dependencies_.executor,
               .table = &table_,
               .layer_use = &layer_use_,
               .providers = dependencies_.providers},
              options_.snapshot_directory),
      engine_({.executor = dependencies_.executor,
               .store = dependencies_.store,
               .blobs = dependencies_.blobs,
               .registry = dependencies_.registry,
               .clock = dependencies_.clock,
               .observer = dependencies_.observer,
               .workers = dependencies_.workers,
               .controller = dependencies_.controller,
               .inventory = dependencies_.inventory},
              options_.execution),
      drafts_({.executor = dependencies_.executor,
               .registry = dependencies_.registry,
               .providers = dependencies_.providers,
               .clock = dependencies_.clock,
               .table = &table_,
               .networks = &networks_,
               .skills = &skills_},
              options_),
      lifecycle_({.executor = dependencies_.executor,
                  .table = &table_,
                  .networks = &networks_,
                  .states = &states_,
                  .layer_use = &layer_use_,
                  .registry = dependencies_.registry,
                  .volumes = dependencies_.volumes,
                  .clock = dependencies_.clock,
                  .observer = dependencies_.observer,
                  .skills = &skills_}),
      pauses_({.table = &table_,
               .lifecycle = &lifecycle_,
               .networks = &networks_,
               .states = &states_,
               .layer_use = &layer_use_,
               .clock = dependencies_.clock},
              options_),
      snapshots_({.table = &table_,
                  .lifecycle = &lifecycle_,
                  .pauses = &pauses_,
                  .states = &states_,
                  .layer_use = &layer_use_,
                  .providers = dependencies_.providers,
                  .store = dependencies_.store,
                  .clock = dependencies_.clock},
                 options_),
      forks_({.executor = dependencies_.executor,
              .table = &table_,
              .drafts = &drafts_,
              .lifecycle = &lifecycle_,
              .pauses = &pauses_,
              .states = &states_,
              .clock = dependencies_.clock}),
      handover_({.executor = dependencies_.executor,
                 .table = &table_,
                 .drafts = &drafts_,
                 .lifecycle = &lifecycle_,
                 .pauses = &pauses_,
                 .networks = &networks_,
                 .engine = &engine_,
                 .layer_use = &layer_use_,
                 .providers = dependencies_.providers,
                 .store = dependencies_.store,
                 .clock = dependencies_.clock},
                options_),
      housekeeping_({.executor = dependencies_.executor,
                     .table = &table_,
                     .lifecycle = &lifecycle_,
                     .pauses = &pauses_,
                     .snapshots = &snapshots_,
                     .states = &states_,
                     .store = dependencies_.store,
                     .blobs = dependencies_.blobs,
                     .clock = dependencies_.clock,
                     .controller = dependencies_.controller,
                     .observer = dependencies_.observer},
                    options_) {}

Task<void> LocalService::start() {
  CO_CHECK(states_.prepare());
  CO_CHECK(co_await handover_.take_back_all());
  housekeeping_.start();
  co_return Result<void>{};
}

Task<void> LocalService::shut_down(std::string reason) {
  table_.begin_ending();
  housekeeping_.stop();
  return handover_.end_all(std::move(reason));
}

// Sessions.

Task<Session> LocalService::create(Principal who, CreateRequest request) {
  std::optional<std::string> state;
  if (!request.snapshot.empty()) {
    Principal owner = who;
    if (!request.snapshot_tenant.empty()) owner.tenant = request.snapshot_tenant;
    CO_TRY(const Snapshot source, co_await snapshots_.get(std::move(owner), request.snapshot));
    if (request.provider.empty()) request.provider = source.provider;
    if (request.environment.empty()) request.environment = source.environment;
    if (request.provider != source.provider) {
      co_return fail(Error(Code::invalid_argument,
                           fmt::format("snapshot {} is of provider {}", source.snapshot_id, source.provider))
                         .with_field("provider"));
    }
    state = source.snapshot_id;
  }
  CO_TRY(LivePtr live, co_await drafts_.create(std::move(who), std::move(request)));
  if (state) live->set_snapshot(*state);
  co_return co_await lifecycle_.bring_up(std::move(live), std::move(state), Interpreters::fresh);
}

Task<Session> LocalService::get(Principal who, std::string id) {
  return table_.get(std::move(who), std::move(id));
}

Task<Page<Session>> LocalService::list(Principal who, ListRequest request) {
  return table_.list(std::move(who), std::move(request));
}

Task<Session> LocalService::update(Principal who, std::string id, UpdateRequest request) {
  CO_TRY(LivePtr found, co_await table_.live(std::move(who), std::move(id)));
  CO_CHECK(table_.apply(*found, request));
  CO_CHECK(co_await table_.save(found));
  co_return found->facts();
}

Task<Session> LocalService::pause(Principal who, std::string id, PauseRequest request) {
  return pauses_.pause(std::move(who), std::move(id), request);
}

Task<Session> LocalService::resume(Principal who, std::string id,
                                   std::optional<std::chrono::milliseconds> ttl) {
  return pauses_.resume(std::move(who), std::move(id), ttl);
}

Task<Session> LocalService::destroy(Principal who, std::string id) {
  const LivePtr found = table_.find(id);
  if (!found || found->facts().tenant != who.tenant)
    co_return co_await table_.get(std::move(who), std::move(id));
  CO_TRY(auto hold, co_await found->take_turn());
  const OnBehalf asked(*found, who.trace);
  CO_CHECK(co_await lifecycle_.stop(found, State::stopped, kByRequest));
  co_return found->facts();
}

Task<Snapshot> LocalService::snapshot(Principal who, std::string id, std::string name, TextMap attributes) {
  return snapshots_.take(std::move(who), std::move(id), std::move(name), std::move(attributes));
}

Task<Session> LocalService::restore(Principal who, std::string id, std::string snapshot_id) {
  return snapshots_.restore(std::move(who), std::move(id), std::move(snapshot_id));
}

Task<Forked> LocalService::fork(Principal who, std::string id, ForkRequest request) {
  return forks_.fork(std::move(who), std::move(id), std::move(request));
}

Task<Page<Snapshot>> LocalService::list_snapshots(Principal who, std::string id, std::uint32_t limit,
                                                  std::string cursor) {
  return snapshots_.list(std::move(who), std::move(id), limit, std::move(cursor));
}

Task<Snapshot> LocalService::get_snapshot(Principal who, std::string snapshot_id) {
  return snapshots_.get(std::move(who), std::move(snapshot_id));
}

Task<void> LocalService::remove_snapshot(Principal who, std::string snapshot_id) {
  return snapshots_.remove(std::move(who), std::move(snapshot_id));
}

Result<Session> LocalService::peek(const std::string& id) const {
  if (const LivePtr found = table_.find(id)) return found->facts();
  return fail(Code::not_found, fmt::format("no session {}", id));
}

std::vector<Session> LocalService::peek_all() const {
  std::vector<Session> sessions;
  sessions.reserve(table_.size());
  for (const LivePtr& live : table_.all()) sessions.push_back(live->facts());
  return sessions;
}

Result<Session> LocalService::peek_if(const std::function<bool(const Session&)>& wanted) const {
  for (const LivePtr& live : table_.all())
    if (wanted(live->facts())) return live->facts();
  return fail(Code::not_found, "no such session");
}

// Code.

Task<ExecutionStart> LocalService::execute(Principal who, std::string id, ExecuteRequest request) {
  CO_TRY(LivePtr found, co_await pauses_.running(who, std::move(id)));
  co_return co_await engine_.execute_code(std::move(found), std::move(who), std::move(request));
}

Task<ExecutionRecord> LocalService::run(Principal who, std::string id, ExecuteRequest request) {
  OutputWatcher watch = std::move(request.watch);
  CO_TRY(ExecutionStart start, co_await execute(std::move(who), std::move(id), std::move(request)));
  co_return co_await run_to_end(std::move(start), std::move(watch));
}

Task<std::vector<sandbox::InterpreterInfo>> LocalService::contexts(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await pauses_.running(std::move(who), std::move(id)));
  std::vector<sandbox::InterpreterInfo> infos;
  for (const auto& interpreter : found->sandbox()->interpreters()) infos.push_back(interpreter->info());
  co_return infos;
}

Task<sandbox::InterpreterInfo> LocalService::create_context(Principal who, std::string id,
                                                            ContextRequest request) {
  const trace::Context trace = who.trace;
  CO_TRY(LivePtr found, co_await pauses_.running(std::move(who), std::move(id)));
  CO_TRY(auto interpreter,
         co_await engine_.create_interpreter(found, request.language, std::move(request.cwd), trace));
  co_return interpreter->info();
}

Task<sandbox::InterpreterInfo> LocalService::prepare_environment(Principal who, std::string id,
                                                                 sandbox::Language language) {
  const trace::Context trace = who.trace;
  CO_TRY(LivePtr found, co_await pauses_.running(std::move(who), std::move(id)));
  CO_TRY(auto interpreter, co_await engine_.prepare_environment(found, language, trace));
  co_return interpreter->info();
}

Task<std::shared_ptr<sandbox::Interpreter>> LocalService::interpreter(LivePtr live,
                                                                      std::string context) const {
  for (const auto& interpreter : live->sandbox()->interpreters()) {
    if (interpreter->info().id == context) co_return interpreter;
  }
  co_return fail(Code::not_found, fmt::format("Context {} not found", context));
}

Task<void> LocalService::restart_context(Principal who, std::string id, std::string context) {
  const trace::Context trace = who.trace;
  CO_TRY(LivePtr session, co_await pauses_.running(std::move(who), std::move(id)));
  CO_TRY(auto found, co_await interpreter(session, context));
  const std::string death = found->death();
  auto call = [found] { return found->restart(); };
  auto go_on = [this] { return !table_.is_ending(); };
  About about(session, trace);
  CO_CHECK(co_await with_retries<void>(dependencies_.executor, "restart an interpreter", std::move(about),
                                       std::move(call), go_on));
  // Restarting a live interpreter leaves no note: its caller knows that the variables go.
  if (!death.empty())
    session->interpreters().note_restart(context, "the interpreter before it died: " + death);
  co_return Result<void>{};
}

Task<void> LocalService::interrupt_context(Principal who, std::string id, std::string context) {
  CO_TRY(LivePtr session, co_await pauses_.running(std::move(who), std::move(id)));
  CO_TRY(auto found, co_await interpreter(session, std::move(context)));
  co_return co_await found->interrupt();
}

Task<void> LocalService::remove_context(Principal who, std::string id, std::string context) {
  CO_TRY(LivePtr found, co_await pauses_.running(std::move(who), std::move(id)));
  co_return co_await engine_.cleanup_environment(std::move(found), std::move(context));
}

// Commands, files, ports.

Task<CommandStart> LocalService::start(Principal who, std::string id, CommandRequest request) {
  CO_TRY(LivePtr found, co_await pauses_.running(who, std::move(id)));
  co_return co_await engine_.start_command(std::move(found), std::move(who), std::move(request));
}

Task<ExecutionRecord> LocalService::run_command(Principal who, std::string id, CommandRequest request,
                                                std::string standard_input) {
  CO_TRY(LivePtr found, co_await pauses_.running(who, std::move(id)));
  co_return co_await engine_.run_command(std::move(found), std::move(who), std::move(request),
                                         std::move(standard_input));
}

Task<ExecutionRecord> LocalService::admit_tool(Principal who, std::string id, ToolCall call) {
  CO_TRY(LivePtr found, co_await pauses_.running(who, std::move(id)));
  co_return co_await engine_.admit_tool(std::move(found), std::move(who), std::move(call));
}

Task<ExecutionRecord> LocalService::finish_tool(Principal, ExecutionRecord record) {
  co_return co_await engine_.finish_tool(std::move(record));
}

Task<std::vector<std::shared_ptr<sandbox::Process>>> LocalService::processes(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await pauses_.running(std::move(who), std::move(id)));
  co_return found->sandbox()->processes();
}

Task<std::shared_ptr<sandbox::Process>> LocalService::process(Principal who, std::string id,
                                                              ProcessSelector selector) {
  CO_TRY(auto all, co_await processes(std::move(who), std::move(id)));
  // Of several with one tag the newest is meant: one that ended a moment ago may still be listed.
  for (auto& process : std::views::reverse(all)) {
    const sandbox::ProcessInfo& info = process->info();
    if (selector.pid != 0 ? info.pid == selector.pid : (!selector.tag.empty() && info.tag == selector.tag)) {
      co_return process;
    }
  }
  co_return fail(Code::not_found, selector.pid != 0
                                      ? fmt::format("process with pid {} not found", selector.pid)
                                      : fmt::format("process with tag {} not found", selector.tag));
}

Task<std::shared_ptr<sandbox::Files>> LocalService::files(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await pauses_.running(std::move(who), std::move(id)));
  co_return std::shared_ptr<sandbox::Files>(found->sandbox(), &found->sandbox()->files());
}

Task<std::unique_ptr<sandbox::ByteStream>> LocalService::connect(Principal who, std::string id,
                                                                 std::uint16_t port) {
  CO_TRY(LivePtr found, co_await pauses_.running(std::move(who), std::move(id)));
  if (!found->traits().ports) co_return fail(found->lacks("ports"));
  co_return co_await found->sandbox()->connect(port);
}

Task<std::vector<std::uint16_t>> LocalService::listening_ports(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await pauses_.running(std::move(who), std::move(id)));
  co_return co_await found->sandbox()->listening_ports();
}

Task<NetworkFacts> LocalService::network(Principal who, std::string id) {
  return networks_.network(std::move(who), std::move(id));
}

Task<NetworkFacts> LocalService::update_network(Principal who, std::string id, NetworkRequest request) {
  return networks_.update(std::move(who), std::move(id), std::move(request));
}

// Observation.

Task<sandbox::Usage> LocalService::usage(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await table_.live(std::move(who), id));
  if (!found->sandbox()) co_return fail(found->wrong_state(id));
  co_return co_await found->sandbox()->usage();
}

Task<std::vector<Sample>> LocalService::metrics(Principal who, std::string id, std::optional<WallTime> from,
                                                std::optional<WallTime> to) {
  CO_TRY(LivePtr found, co_await table_.live(std::move(who), std::move(id)));
  co_return found->samples().between(from, to);
}

Task<Page<ExecutionRecord>> LocalService::history(Principal who, HistoryRequest request) {
  store::RecordFilter filter;
  filter.tenant = who.tenant;
  if (!request.id.empty()) {
    CO_TRY(const Session session, co_await table_.get(who, request.id));
    filter.session_id = session.session_id;
  }
  for (const Status status : request.statuses) filter.statuses.emplace_back(to_string(status));
  filter.from = request.from;
  filter.to = request.to;
  filter.text = std::move(request.text);
  filter.newest_first = request.order == Order::newest_first;
  filter.limit = std::clamp<std::uint32_t>(request.limit, 1, 1000);
  CO_TRY(filter.after, position_of(request.cursor));
  CO_TRY(auto rows, co_await dependencies_.store->list_records(std::move(filter)));
  Page<ExecutionRecord> page;
  page.next_cursor = cursor_of(rows.next);
  for (const store::RecordRow& row : rows.items) page.items.push_back(from_row(row));
  co_return page;
}

Task<std::vector<Artifact>> LocalService::artifacts(Principal who, std::string id) {
  CO_TRY(const Session session, co_await table_.get(std::move(who), std::move(id)));
  CO_TRY(auto rows, co_await dependencies_.store->list_artifacts(session.session_id));
  std::vector<Artifact> artifacts;
  for (store::ArtifactRow& row : rows) {
    artifacts.push_back({std::move(row.digest), std::move(row.path), std::move(row.media_type),
                         static_cast<std::uint64_t>(row.size_bytes), row.created_at,
                         std::move(row.record_id)});
  }
  co_return artifacts;
}

Task<ArtifactContent> LocalService::open_artifact(Principal who, std::string digest) {
  if (dependencies_.blobs == nullptr) co_return fail(Code::not_found, "no such artifact");
  CO_TRY(store::ArtifactRow row, co_await dependencies_.store->get_artifact(who.tenant, digest));
  ArtifactContent content;
  content.facts = {std::move(row.digest),
                   std::move(row.path),
                   std::move(row.media_type),
                   static_cast<std::uint64_t>(row.size_bytes),
                   row.created_at,
                   std::move(row.record_id)};
  CO_TRY(content.bytes, co_await dependencies_.blobs->open_read(std::move(digest)));
  co_return std::move(content);
}

Task<policy::Verdict> LocalService::validate(Principal who, ValidateRequest request) {
  if (request.policy.empty()) {
    const registry::Environment* environment =
        dependencies_.registry->environment(options_.default_environment);
    request.policy = environment != nullptr ? environment->policy : "standard";
  }
  co_return co_await engine_.evaluate(std::move(who.tenant), std::move(request.policy),
                                      std::move(request.code), request.language);
}

std::vector<ProviderFacts> LocalService::providers() const {
  std::vector<ProviderFacts> facts;
  for (const sandbox::Provider* provider : dependencies_.providers) {
    facts.push_back({std::string(provider->name()), provider->traits(), provider->probed(), provider->pools(),
                     provider->counters(), provider->unavailable_because()});
  }
  for (const AbsentProvider& absent : dependencies_.providers.absent())
    facts.push_back({absent.name, absent.traits, {}, {}, {}, absent.reason});
  std::ranges::stable_sort(facts, {}, [](const ProviderFacts& one) {
    return std::ranges::find(kProviderNames, one.name) - std::begin(kProviderNames);
  });
  return facts;
}

}  // namespace atl::session
