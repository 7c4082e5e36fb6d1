#include "session/local_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <charconv>
#include <ranges>

#include "base/log.h"
#include "session/codec.h"
#include "session/retry.h"

namespace atl::session {

LocalService::LocalService(Parts parts, ServiceOptions options)
    : parts_(std::move(parts)),
      layer_use_(parts_.layers),
      options_(std::move(options)),
      engine_({parts_.executor, parts_.store, parts_.blobs, parts_.registry, parts_.clock, parts_.observer,
               parts_.workers},
              options_.execution),
      clockwork_(parts_.executor) {}

LocalService::~LocalService() {
  disk_.join();
}

LocalService::LivePtr LocalService::find(const std::string& id) const {
  if (const auto found = live_.find(id); found != live_.end()) return found->second;
  if (const auto found = by_sandbox_.find(id); found != by_sandbox_.end()) return found->second;
  return nullptr;
}

// Another tenant's session and no session at all get the same answer.
Task<Session> LocalService::stored(const Principal& who, std::string id) {
  const std::string tenant = who.tenant;
  auto row = co_await parts_.store->get_session(id);
  if (!row && row.error().code() != Code::not_found) co_return fail(std::move(row).error());
  if (!row || row->tenant != tenant) co_return fail(Code::not_found, fmt::format("no session {}", id));
  co_return from_row(*row);
}

Task<LocalService::LivePtr> LocalService::live(Principal who, std::string id) {
  if (LivePtr found = find(id)) {
    if (found->facts.tenant != who.tenant) co_return fail(Code::not_found, fmt::format("no session {}", id));
    co_return found;
  }
  CO_TRY(const Session ended, co_await stored(who, id));
  co_return fail(Code::conflict, fmt::format("session {} is {}{}{}", id, to_string(ended.state),
                                             ended.reason.empty() ? "" : ": ", ended.reason));
}

Task<LocalService::LivePtr> LocalService::awake(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await live(who, id));
  if (found->facts.pausing && !found->facts.auto_resume)
    co_return fail(Code::conflict, fmt::format("session {} is being paused", id));
  if ((found->facts.state == State::paused || found->facts.pausing) && found->facts.auto_resume) {
    CO_TRY(auto hold, co_await found->lifecycle.take());
    if (found->facts.state == State::paused) CO_CHECK(co_await resume_held(found));
  }
  if (found->facts.state != State::running || !found->sandbox) {
    co_return fail(Code::conflict, fmt::format("session {} is {}", id, to_string(found->facts.state)));
  }
  touch(found);
  co_return found;
}

void LocalService::touch(const LivePtr& live) {
  live->facts.last_used_at = parts_.clock->now();
  live->last_used = parts_.clock->steady();
  if (live->facts.extend_on_use) set_end(*live, live->facts.ttl, false);
  live->unsaved = true;
}

void LocalService::set_end(Live& live, std::chrono::milliseconds ttl, bool extend_only) {
  const SteadyTime end = parts_.clock->steady() + ttl;
  if (extend_only && live.ends_at && *live.ends_at >= end) return;
  live.facts.ttl = ttl;
  if (live.facts.state == State::paused) return;
  live.ends_at = end;
  live.facts.expires_at = parts_.clock->now() + ttl;
}

void LocalService::enter(const LivePtr& live, State state, std::string reason) {
  const State from = live->facts.state;
  if (!may_become(from, state)) {
    log::error("a session made a change that the table does not have",
               {{"session", live->facts.session_id},
                {"from", std::string(to_string(from))},
                {"to", std::string(to_string(state))}});
    return;
  }
  live->facts.state = state;
  live->facts.reason = std::move(reason);
  if (state == State::paused) live->facts.expires_at.reset(), live->ends_at.reset();
  live->to_disk_at.reset();
  if (state == State::paused && options_.to_disk_after.count() > 0)
    live->to_disk_at = parts_.clock->steady() + options_.to_disk_after;
  if (is_final(state)) live->facts.ended_at = parts_.clock->now();
  if (parts_.observer != nullptr) parts_.observer->changed(live->facts, from, state);
}

Task<void> LocalService::save(LivePtr live) {
  live->unsaved = false;
  live->saved_at = parts_.clock->steady();
  auto saved = co_await parts_.store->put_session(to_row(live->facts, live->incarnation));
  if (!saved) live->unsaved = true;
  if (saved && live->network_log->changed()) saved = co_await save_network_log(live);
  co_return saved;
}

void LocalService::forget(const LivePtr& live) {
  live_.erase(live->facts.session_id);
  by_sandbox_.erase(live->facts.sandbox_id);
}

Task<Session> LocalService::get(Principal who, std::string id) {
  if (const LivePtr found = find(id)) {
    if (found->facts.tenant != who.tenant) co_return fail(Code::not_found, fmt::format("no session {}", id));
    co_return found->facts;
  }
  co_return co_await stored(who, std::move(id));
}

Result<Session> LocalService::peek(const std::string& id) const {
  if (const LivePtr found = find(id)) return found->facts;
  return fail(Code::not_found, fmt::format("no session {}", id));
}

std::vector<Session> LocalService::peek_all() const {
  std::vector<Session> sessions;
  sessions.reserve(live_.size());
  for (const auto& [id, live] : live_) sessions.push_back(live->facts);
  return sessions;
}

Result<Session> LocalService::peek_if(const std::function<bool(const Session&)>& wanted) const {
  for (const auto& [id, live] : live_)
    if (wanted(live->facts)) return live->facts;
  return fail(Code::not_found, "no such session");
}

namespace {

Result<std::optional<std::int64_t>> position_of(const std::string& cursor) {
  if (cursor.empty()) return std::optional<std::int64_t>();
  std::int64_t position = 0;
  const auto [end, failed] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), position);
  if (failed != std::errc() || end != cursor.data() + cursor.size() || position < 0) {
    return fail(Error(Code::invalid_argument, "not a cursor that a page before gave").with_field("cursor"));
  }
  return std::optional(position);
}

std::string cursor_of(const std::optional<std::int64_t>& position) {
  return position ? std::to_string(*position) : std::string();
}

}  // namespace

Task<Page<Session>> LocalService::list(Principal who, ListRequest request) {
  store::SessionFilter filter;
  filter.tenant = who.tenant;
  for (const State state : request.states) filter.states.emplace_back(to_string(state));
  filter.metadata.assign(request.metadata.begin(), request.metadata.end());
  filter.attributes.assign(request.attributes.begin(), request.attributes.end());
  filter.provider = std::move(request.provider);
  filter.environment = std::move(request.environment);
  filter.created_after = request.created_after;
  filter.newest_first = request.order == Order::newest_first;
  filter.limit = std::clamp<std::uint32_t>(request.limit, 1, 1000);
  CO_TRY(filter.after, position_of(request.cursor));
  CO_TRY(auto rows, co_await parts_.store->list_sessions(std::move(filter)));
  Page<Session> page;
  page.next_cursor = cursor_of(rows.next);
  for (const store::SessionRow& row : rows.items) {
    // Memory is fresher than the store about what is used often.
    if (const LivePtr found = find(row.session_id)) {
      // One whose end could not be stored yet may not be what was asked for any more.
      const bool wanted = request.states.empty() || !is_final(found->facts.state) ||
                          std::ranges::find(request.states, found->facts.state) != request.states.end();
      if (wanted) page.items.push_back(found->facts);
      continue;
    }
    CO_TRY(Session session, from_row(row, Walls::skip));
    page.items.push_back(std::move(session));
  }
  co_return page;
}

Result<void> LocalService::check_ttl(std::optional<std::chrono::milliseconds> ttl) const {
  if (!ttl || (*ttl > std::chrono::milliseconds(0) && *ttl <= options_.max_ttl)) return {};
  return fail(Error(Code::invalid_argument,
                    fmt::format("a time to live is more than 0 and at most {} s",
                                std::chrono::duration_cast<std::chrono::seconds>(options_.max_ttl).count()))
                  .with_field("ttl_seconds"));
}

Result<void> LocalService::apply(Live& live, const UpdateRequest& request) {
  TRY(check_ttl(request.ttl));
  Session& facts = live.facts;
  if (request.metadata) facts.metadata = *request.metadata;
  if (request.attributes) facts.attributes = *request.attributes;
  if (request.env) facts.env = *request.env;
  if (request.extend_on_use) facts.extend_on_use = *request.extend_on_use;
  if (request.on_expiry) facts.on_expiry = *request.on_expiry;
  if (request.auto_resume) facts.auto_resume = *request.auto_resume;
  if (request.ttl) set_end(live, *request.ttl, request.extend_only);
  return {};
}

Task<Session> LocalService::update(Principal who, std::string id, UpdateRequest request) {
  CO_TRY(LivePtr found, co_await live(who, id));
  CO_CHECK(apply(*found, request));
  CO_CHECK(co_await save(found));
  co_return found->facts;
}

// Code.

Task<ExecutionStart> LocalService::execute(Principal who, std::string id, ExecuteRequest request) {
  CO_TRY(LivePtr found, co_await awake(who, std::move(id)));
  co_return co_await engine_.execute_code(std::move(found), std::move(who), std::move(request));
}

Task<ExecutionRecord> LocalService::run(Principal who, std::string id, ExecuteRequest request) {
  CO_TRY(ExecutionStart start, co_await execute(std::move(who), std::move(id), std::move(request)));
  if (auto* denied = std::get_if<Denied>(&start)) co_return std::move(denied->record);
  if (auto* ended = std::get_if<Ended>(&start)) co_return std::move(ended->record);
  const auto execution = std::get<std::unique_ptr<Execution>>(std::move(start));
  while (true) {
    CO_TRY(Event event, co_await execution->next());
    if (auto* finished = std::get_if<Finished>(&event)) co_return std::move(finished->record);
  }
}

Task<std::vector<sandbox::KernelInfo>> LocalService::contexts(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  std::vector<sandbox::KernelInfo> infos;
  for (const auto& kernel : found->sandbox->kernels()) infos.push_back(kernel->info());
  co_return infos;
}

Task<sandbox::KernelInfo> LocalService::create_context(Principal who, std::string id,
                                                       ContextRequest request) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  CO_TRY(auto kernel, co_await engine_.create_kernel(found, request.language, std::move(request.cwd)));
  co_return kernel->info();
}

Task<sandbox::KernelInfo> LocalService::prepare_environment(Principal who, std::string id,
                                                            sandbox::Language language) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  CO_TRY(auto kernel, co_await engine_.prepare_environment(found, language));
  co_return kernel->info();
}

Task<std::shared_ptr<sandbox::Kernel>> LocalService::kernel(Principal who, std::string id,
                                                            std::string context) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  for (const auto& kernel : found->sandbox->kernels()) {
    if (kernel->info().id == context) co_return kernel;
  }
  co_return fail(Code::not_found, fmt::format("Context {} not found", context));
}

Task<void> LocalService::restart_context(Principal who, std::string id, std::string context) {
  CO_TRY(LivePtr session, co_await awake(who, id));
  CO_TRY(auto found, co_await kernel(std::move(who), std::move(id), context));
  const std::string death = found->death();
  auto call = [found] { return found->restart(); };
  auto go_on = [this] { return !ending_; };
  CO_CHECK(co_await with_retries<void>(parts_.executor, "restart a kernel", std::move(call), go_on));
  // Whoever restarts a living one knows what goes with it.
  if (!death.empty()) session->restarted_kernels[context] = "the interpreter before it died: " + death;
  co_return Result<void>{};
}

Task<void> LocalService::interrupt_context(Principal who, std::string id, std::string context) {
  CO_TRY(auto found, co_await kernel(std::move(who), std::move(id), std::move(context)));
  co_return co_await found->interrupt();
}

Task<void> LocalService::remove_context(Principal who, std::string id, std::string context) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  co_return co_await engine_.cleanup_environment(std::move(found), std::move(context));
}

// Commands, files, ports.

Task<CommandStart> LocalService::start(Principal who, std::string id, CommandRequest request) {
  CO_TRY(LivePtr found, co_await awake(who, std::move(id)));
  co_return co_await engine_.start_command(std::move(found), std::move(who), std::move(request));
}

Task<ExecutionRecord> LocalService::run_command(Principal who, std::string id, CommandRequest request,
                                                std::string standard_input) {
  CO_TRY(LivePtr found, co_await awake(who, std::move(id)));
  co_return co_await engine_.run_command(std::move(found), std::move(who), std::move(request),
                                         std::move(standard_input));
}

Task<std::vector<std::shared_ptr<sandbox::Process>>> LocalService::processes(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  co_return found->sandbox->processes();
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
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  co_return std::shared_ptr<sandbox::Files>(found->sandbox, &found->sandbox->files());
}

Task<std::unique_ptr<sandbox::ByteStream>> LocalService::connect(Principal who, std::string id,
                                                                 std::uint16_t port) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  if (!found->provider->traits().ports) {
    co_return fail(Code::unsupported,
                   fmt::format("provider {} lacks the trait 'ports'", found->facts.provider));
  }
  co_return co_await found->sandbox->connect(port);
}

Task<std::vector<std::uint16_t>> LocalService::listening_ports(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  co_return co_await found->sandbox->listening_ports();
}

// Observation.

Task<sandbox::Usage> LocalService::usage(Principal who, std::string id) {
  CO_TRY(LivePtr found, co_await live(std::move(who), id));
  if (!found->sandbox)
    co_return fail(Code::conflict, fmt::format("session {} is {}", id, to_string(found->facts.state)));
  co_return co_await found->sandbox->usage();
}

Task<std::vector<Sample>> LocalService::metrics(Principal who, std::string id, std::optional<WallTime> from,
                                                std::optional<WallTime> to) {
  CO_TRY(LivePtr found, co_await live(std::move(who), std::move(id)));
  std::vector<Sample> samples;
  for (const Sample& sample : found->samples) {
    if (from && sample.at < *from) continue;
    if (to && sample.at > *to) continue;
    samples.push_back(sample);
  }
  co_return samples;
}

Task<Page<ExecutionRecord>> LocalService::history(Principal who, HistoryRequest request) {
  store::RecordFilter filter;
  filter.tenant = who.tenant;
  if (!request.id.empty()) {
    CO_TRY(const Session session, co_await get(who, request.id));
    filter.session_id = session.session_id;
  }
  for (const Status status : request.statuses) filter.statuses.emplace_back(to_string(status));
  filter.from = request.from;
  filter.to = request.to;
  filter.text = std::move(request.text);
  filter.newest_first = request.order == Order::newest_first;
  filter.limit = std::clamp<std::uint32_t>(request.limit, 1, 1000);
  CO_TRY(filter.after, position_of(request.cursor));
  CO_TRY(auto rows, co_await parts_.store->list_records(std::move(filter)));
  Page<ExecutionRecord> page;
  page.next_cursor = cursor_of(rows.next);
  for (const store::RecordRow& row : rows.items) page.items.push_back(from_row(row));
  co_return page;
}

Task<std::vector<Artifact>> LocalService::artifacts(Principal who, std::string id) {
  CO_TRY(const Session session, co_await get(std::move(who), std::move(id)));
  CO_TRY(auto rows, co_await parts_.store->list_artifacts(session.session_id));
  std::vector<Artifact> artifacts;
  for (store::ArtifactRow& row : rows) {
    artifacts.push_back({std::move(row.digest), std::move(row.path), std::move(row.media_type),
                         static_cast<std::uint64_t>(row.size_bytes), row.created_at,
                         std::move(row.record_id)});
  }
  co_return artifacts;
}

Task<ArtifactContent> LocalService::open_artifact(Principal who, std::string digest) {
  if (parts_.blobs == nullptr) co_return fail(Code::not_found, "no such artifact");
  CO_TRY(store::ArtifactRow row, co_await parts_.store->get_artifact(who.tenant, digest));
  ArtifactContent content;
  content.facts = {std::move(row.digest),
                   std::move(row.path),
                   std::move(row.media_type),
                   static_cast<std::uint64_t>(row.size_bytes),
                   row.created_at,
                   std::move(row.record_id)};
  CO_TRY(content.bytes, co_await parts_.blobs->open_read(std::move(digest)));
  co_return std::move(content);
}

Task<policy::Verdict> LocalService::validate(Principal, ValidateRequest request) {
  if (request.policy.empty()) {
    const registry::Environment* environment = parts_.registry->environment(options_.default_environment);
    request.policy = environment != nullptr ? environment->policy : "standard";
  }
  co_return co_await engine_.evaluate(std::move(request.policy), std::move(request.code), request.language);
}

std::vector<ProviderFacts> LocalService::providers() const {
  std::vector<ProviderFacts> facts;
  for (const sandbox::Provider* provider : parts_.providers) {
    facts.push_back(
        {std::string(provider->name()), provider->traits(), provider->probed(), provider->pools()});
  }
  return facts;
}

}  // namespace atl::session
