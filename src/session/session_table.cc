#include "session/session_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "session/codec.h"
#include "session/cursor.h"
#include "session/subject.h"
#include "session/tool_sandbox.h"

namespace atl::session {
namespace {

Error no_session(const std::string& id) {
  return Error(Code::not_found, fmt::format("no session {}", id));
}

store::DocumentRow network_log_row(Live& live, WallTime now) {
  store::DocumentRow row;
  row.kind = kNetworkLogKind;
  row.tenant = live.facts().tenant;
  row.id = live.facts().session_id;
  row.body = live.network_log().to_json();
  row.created_at = live.facts().created_at;
  row.updated_at = now;
  return row;
}

}  // namespace

SessionTable::SessionTable(Dependencies dependencies, const ServiceOptions& options)
    : dependencies_(dependencies), options_(options) {
  if (dependencies_.inventory == nullptr) return;
  dependencies_.inventory->add(quota::Quota::stored_mb, [this](std::string tenant) -> Task<std::uint64_t> {
    co_return bytes_on_disk(tenant);
  });
}

LivePtr SessionTable::find(const std::string& id) const {
  if (const auto found = by_session_.find(id); found != by_session_.end()) return found->second;
  if (const auto found = by_sandbox_.find(id); found != by_sandbox_.end()) return found->second;
  return nullptr;
}

Task<Session> SessionTable::stored(Principal who, std::string id) {
  auto row = co_await dependencies_.store->get_session(id);
  if (!row && row.error().code() != Code::not_found) co_return fail(std::move(row).error());
  if (!row || row->tenant != who.tenant) co_return fail(no_session(id));
  co_return from_row(*row);
}

Task<LivePtr> SessionTable::live(Principal who, std::string id) {
  if (LivePtr found = find(id)) {
    const Session& facts = found->facts();
    if (facts.tenant != who.tenant) co_return fail(no_session(id));
    const auto tool = facts.attributes.find(kToolAttribute);
    if (tool != facts.attributes.end() && who.role != tool_role(facts.session_id))
      co_return fail(Code::permission_denied,
                     fmt::format("session {} is the sandbox of a call of the tool '{}', and its alone", id,
                                 tool->second));
    co_return found;
  }
  CO_TRY(const Session ended, co_await stored(std::move(who), id));
  co_return fail(Code::conflict, fmt::format("session {} is {}{}{}", id, to_string(ended.state),
                                             ended.reason.empty() ? "" : ": ", ended.reason));
}

Task<Session> SessionTable::get(Principal who, std::string id) {
  if (const LivePtr found = find(id)) {
    if (found->facts().tenant != who.tenant) co_return fail(no_session(id));
    co_return found->facts();
  }
  co_return co_await stored(std::move(who), std::move(id));
}

Task<Page<Session>> SessionTable::list(Principal who, ListRequest request) {
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
  CO_TRY(auto rows, co_await dependencies_.store->list_sessions(std::move(filter)));
  Page<Session> page;
  page.next_cursor = cursor_of(rows.next);
  for (const store::SessionRow& row : rows.items) {
    // The store may be seconds behind about a live session.
    if (const LivePtr found = find(row.session_id)) {
      // If its end could not be stored yet, the store listed it by a state that it no longer has.
      const bool wanted = request.states.empty() || !is_final(found->state()) ||
                          std::ranges::find(request.states, found->state()) != request.states.end();
      if (wanted) page.items.push_back(found->facts());
      continue;
    }
    CO_TRY(Session session, from_row(row, Walls::skip));
    page.items.push_back(std::move(session));
  }
  co_return page;
}

void SessionTable::add(const LivePtr& live) {
  by_session_[live->facts().session_id] = live;
  by_sandbox_[live->facts().sandbox_id] = live;
}

void SessionTable::forget(const LivePtr& live) {
  if (dependencies_.controller != nullptr) dependencies_.controller->release(live->facts().session_id);
  by_session_.erase(live->facts().session_id);
  by_sandbox_.erase(live->facts().sandbox_id);
}

Result<void> SessionTable::admit(const std::string& tenant, const Live* one) const {
  // There are never more sandboxes than live sessions, so mostly nothing needs to be counted.
  const bool has_room = options_.sandboxes_max == 0 || size() < options_.sandboxes_max;
  if (options_.running_per_tenant == 0 && has_room) return {};
  std::size_t running = 0, sandboxes = 0;
  for (const LivePtr& live : all()) {
    if (live.get() == one) continue;
    const bool runs = live->counts_as_running();
    running += runs && live->facts().tenant == tenant ? 1 : 0;
    sandboxes += runs || live->sandbox() ? 1 : 0;
  }
  if (options_.running_per_tenant > 0 && running >= options_.running_per_tenant)
    return fail(Code::resource_exhausted,
                fmt::format("{} sessions run, and no more may at once: end or pause one", running));
  // A session that is paused in memory has its sandbox already.
  const bool has_sandbox = one != nullptr && one->sandbox();
  if (options_.sandboxes_max > 0 && !has_sandbox && sandboxes >= options_.sandboxes_max)
    return fail(Code::unavailable, "this machine has no room for another sandbox; try again later");
  return {};
}

// A session that is paused in memory keeps its memory and its disk, and does not run.
static quota::Claim claim_of(const Live& live, bool runs) {
  constexpr std::uint64_t kMegabyte = 1U << 20;
  const Session& facts = live.facts();
  quota::Claim claim{facts.session_id, {facts.tenant, facts.key_id}, {}};
  if (runs) claim.amounts[quota::Quota::sessions] = 1;
  if (runs || live.sandbox()) {
    claim.amounts[quota::Quota::memory_mb] = (facts.limits.memory_bytes + kMegabyte - 1) / kMegabyte;
    claim.amounts[quota::Quota::disk_mb] = (facts.limits.disk_bytes + kMegabyte - 1) / kMegabyte;
  }
  return claim;
}

void SessionTable::count(const Live& live) {
  if (dependencies_.controller == nullptr) return;
  const quota::Claim claim = claim_of(live, live.counts_as_running());
  if (is_final(live.state()) || claim.amounts.empty()) {
    dependencies_.controller->release(claim.id);
  } else {
    // Without asking whether it fits: it exists, and what exists is counted.
    dependencies_.controller->hold(claim);
  }
}

Result<void> SessionTable::admit(const LivePtr& live, Begin begin) {
  const Session& facts = live->facts();
  TRY(admit(facts.tenant, begin == Begin::created ? nullptr : live.get()));
  if (dependencies_.controller == nullptr) return {};
  const quota::Claim claim = claim_of(*live, true);
  // Its processes would go on at once.
  if (begin == Begin::resumed)
    TRY(dependencies_.controller->check(claim.holder, quota::Quota::cpu_seconds_per_day, 0, 0));
  if (!dependencies_.controller->admit(claim)) {
    // Something may have ended on a way that nobody counted: what exists decides.
    for (const LivePtr& other : all())
      if (other->facts().tenant == facts.tenant && other != live) count(*other);
    TRY(dependencies_.controller->admit(claim));
  }
  if (begin == Begin::resumed) return {};
  auto created = dependencies_.controller->admit_create(claim.holder);
  // The rate of creates refused it after the amounts were taken.
  if (!created) dependencies_.controller->release(claim.id);
  return created;
}

Task<quota::Reservation> SessionTable::reserve_stored(std::string tenant, std::string key_id,
                                                      std::uint64_t bytes) const {
  if (dependencies_.inventory == nullptr) co_return quota::Reservation(bytes);
  const quota::Holder holder{std::move(tenant), std::move(key_id)};
  co_return co_await dependencies_.inventory->reserve(holder, bytes);
}

std::uint64_t SessionTable::bytes_on_disk(std::string_view tenant) const {
  std::uint64_t bytes = 0;
  for (const LivePtr& live : all())
    if (live->facts().tenant == tenant && live->is_on_disk()) bytes += live->facts().hibernation_bytes;
  return bytes;
}

void SessionTable::enter(const LivePtr& live, State state, std::string reason) {
  const State from = live->state();
  if (!live->set_state(state, std::move(reason), options_.to_disk_after)) {
    log::error(subject_of(*live), "a session made a change that the table does not have",
               {{"from", std::string(to_string(from))}, {"to", std::string(to_string(state))}});
    return;
  }
  count(*live);
  if (dependencies_.observer != nullptr) dependencies_.observer->changed(live->facts(), from, state);
}

void SessionTable::announce(const LivePtr& live) {
  count(*live);
  if (dependencies_.observer != nullptr)
    dependencies_.observer->changed(live->facts(), live->state(), live->state());
}

Result<void> SessionTable::check_ttl(std::optional<std::chrono::milliseconds> ttl) const {
  if (!ttl || (*ttl > std::chrono::milliseconds(0) && *ttl <= options_.max_ttl)) return {};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options_.max_ttl).count();
  return fail(
      Error(Code::invalid_argument, fmt::format("a time to live is more than 0 and at most {} s", seconds))
          .with_field("ttl_seconds"));
}

Result<void> SessionTable::apply(Live& live, const UpdateRequest& request) const {
  TRY(check_ttl(request.ttl));
  if (request.env) TRY(check_env(*request.env));
  live.apply(request);
  return {};
}

Task<void> SessionTable::save(LivePtr live) {
  // Before the wait: what changes meanwhile marks it as changed again.
  live->mark_saving();
  // Only while it is in the table: a save that comes after the end must not claim anything again.
  if (by_session_.contains(live->facts().session_id)) count(*live);
  auto saved = co_await dependencies_.store->put_session(to_row(live->facts(), live->incarnation()));
  // Housekeeping tries again.
  if (!saved) live->mark_changed();
  if (saved && live->network_log().changed()) {
    store::DocumentRow row = network_log_row(*live, dependencies_.clock->now());
    saved = co_await dependencies_.store->put_document(std::move(row));
  }
  co_return saved;
}

Task<void> SessionTable::store_end(LivePtr live) {
  auto saved = co_await save(live);
  if (saved) {
    forget(live);
    co_return Result<void>{};
  }
  live->mark_changed();
  log::warn(subject_of(*live), "the end of a session could not be stored and will be tried again",
            {{"error", saved.error().message()}});
  co_return Result<void>{};
}

}  // namespace atl::session
