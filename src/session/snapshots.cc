#include "session/snapshots.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ids.h"
#include "base/log.h"
#include "session/codec.h"
#include "session/cursor.h"

namespace atl::session {

Task<void> Snapshots::check_room(std::string tenant, std::uint64_t more_bytes) const {
  const Keeping& keeping = options_.keeping;
  if (keeping.snapshot_count == 0 && keeping.snapshot_bytes == 0) co_return Result<void>{};
  CO_TRY(const store::Amount held, co_await dependencies_.store->snapshot_amount(std::move(tenant)));
  const auto count = static_cast<std::uint64_t>(held.count), bytes = static_cast<std::uint64_t>(held.bytes);
  if (keeping.snapshot_count > 0 && count >= keeping.snapshot_count)
    co_return fail(Code::no_space,
                   fmt::format("there are {} snapshots, and {} may be kept: remove some first", count,
                               keeping.snapshot_count));
  if (keeping.snapshot_bytes > 0 && bytes + more_bytes > keeping.snapshot_bytes)
    co_return fail(Code::no_space,
                   fmt::format("snapshots take {} bytes, this one {} more, and {} may be kept: remove some "
                               "first",
                               bytes, more_bytes, keeping.snapshot_bytes));
  co_return Result<void>{};
}

Task<Snapshot> Snapshots::take(Principal who, std::string id, std::string name, TextMap attributes) {
  SavedStates& states = *dependencies_.states;
  CO_TRY(LivePtr found, co_await dependencies_.pauses->running(std::move(who), std::move(id)));
  if (!found->traits().snapshot || !states.is_enabled()) co_return fail(found->lacks("snapshot"));
  CO_TRY(auto hold, co_await found->take_turn());
  const Session& facts = found->facts();
  CO_CHECK(co_await check_room(facts.tenant, 0));
  // Before the work: whether anything fits at all.
  CO_CHECK(co_await dependencies_.table->reserve_stored(facts.tenant, facts.key_id, 1));
  Snapshot snapshot;
  snapshot.snapshot_id = "snp_" + random_word(20);
  snapshot.tenant = facts.tenant;
  snapshot.name = std::move(name);
  snapshot.session_id = facts.session_id;
  snapshot.sandbox_id = facts.sandbox_id;
  snapshot.provider = facts.provider;
  snapshot.environment = facts.environment;
  snapshot.created_at = dependencies_.clock->now();
  snapshot.attributes = std::move(attributes);
  CO_CHECK(co_await states.take_snapshot(found, snapshot.snapshot_id));
  const Result<std::uint64_t> size =
      co_await found->provider()->snapshot_bytes(states.path(snapshot.snapshot_id));
  snapshot.size_bytes = size.value_or(0);
  Result<void> stored = size ? Result<void>() : fail(size.error());
  if (stored) stored = co_await check_room(snapshot.tenant, snapshot.size_bytes);
  Result<quota::Reservation> room = quota::Reservation();
  if (stored)
    room = co_await dependencies_.table->reserve_stored(facts.tenant, facts.key_id, snapshot.size_bytes);
  if (!room) stored = fail(room.error());
  if (stored) stored = co_await dependencies_.store->put_snapshot(to_row(snapshot));
  if (!stored) {
    auto removed = co_await states.remove(snapshot.snapshot_id, found->provider());
    co_return fail(std::move(stored).error());
  }
  co_return snapshot;
}

// The old sandbox ends first: the machine may not have room for both, and only one sandbox may have the
// session's id.
Task<Session> Snapshots::restore(Principal who, std::string id, std::string snapshot_id) {
  SessionTable& table = *dependencies_.table;
  CO_TRY(const Snapshot source, co_await get(who, snapshot_id));
  CO_TRY(LivePtr found, co_await table.live(std::move(who), id));
  if (source.provider != found->facts().provider) {
    co_return fail(Code::invalid_argument,
                   fmt::format("snapshot {} is of provider {}, the session of {}", snapshot_id,
                               source.provider, found->facts().provider));
  }
  CO_TRY(auto hold, co_await found->take_turn());
  if (!is_live(found->state())) co_return fail(found->wrong_state(id));
  // One that is an image of an engine may have been removed there: known before anything ends.
  if (found->traits().images)
    CO_CHECK(co_await found->provider()->snapshot_bytes(dependencies_.states->path(source.snapshot_id)));
  if (found->state() == State::paused) CO_CHECK(table.admit(found, SessionTable::Begin::resumed));
  table.enter(found, State::creating, "restore");
  const std::shared_ptr<sandbox::Sandbox> old = found->detach();
  Result<void> done = old ? co_await old->stop() : Result<void>();
  if (done) {
    dependencies_.layer_use->end_sandbox(found->incarnation());
    found->set_incarnation(fmt::format("{}r{}", found->facts().sandbox_id, random_word(6)));
    done = co_await dependencies_.lifecycle->build(found, source.snapshot_id, Interpreters::fresh);
  }
  if (!done) {
    table.enter(found, State::failed, "restore: " + done.error().message());
    auto saved = co_await table.save(found);
    table.forget(found);
    co_return fail(std::move(done).error().context("restore"));
  }
  const std::string older = found->set_snapshot(source.snapshot_id), hibernation = found->clear_hibernation();
  dependencies_.states->discard(*found, {older, hibernation});
  table.enter(found, State::running, "");
  found->set_end(found->facts().ttl, true);
  CO_CHECK(co_await table.save(found));
  co_return found->facts();
}

Task<Page<Snapshot>> Snapshots::list(Principal who, std::string id, std::uint32_t limit,
                                     std::string cursor) const {
  CO_TRY(const auto after, position_of(cursor));
  CO_TRY(auto rows, co_await dependencies_.store->list_snapshots(
                        who.tenant, std::move(id), std::clamp<std::uint32_t>(limit, 1, 1000), after));
  Page<Snapshot> page;
  page.next_cursor = cursor_of(rows.next);
  for (const store::SnapshotRow& row : rows.items) page.items.push_back(from_row(row));
  co_return page;
}

Task<Snapshot> Snapshots::get(Principal who, std::string snapshot_id) const {
  CO_TRY(const store::SnapshotRow row,
         co_await dependencies_.store->get_snapshot(who.tenant, std::move(snapshot_id)));
  co_return from_row(row);
}

Task<void> Snapshots::remove(Principal who, std::string snapshot_id) {
  CO_TRY(const Snapshot snapshot, co_await get(who, std::move(snapshot_id)));
  for (const LivePtr& live : dependencies_.table->all()) {
    if (live->facts().snapshot == snapshot.snapshot_id) {
      co_return fail(Code::conflict, fmt::format("snapshot {} is in use by session {}", snapshot.snapshot_id,
                                                 live->facts().session_id));
    }
  }
  CO_TRY(const bool removed, co_await dependencies_.store->remove_snapshot(who.tenant, snapshot.snapshot_id));
  if (!removed) co_return fail(Code::not_found, fmt::format("no snapshot {}", snapshot.snapshot_id));
  // The provider may not be configured today; its files may still be ours to remove.
  sandbox::Provider* const provider = find_provider(dependencies_.providers, snapshot.provider);
  co_return co_await dependencies_.states->remove(snapshot.snapshot_id, provider);
}

Task<void> Snapshots::remove_old() {
  const auto age = options_.keeping.snapshots;
  if (age.count() == 0) co_return Result<void>{};
  CO_TRY(const auto rows, co_await dependencies_.store->snapshots_before(dependencies_.clock->now() - age));
  for (const store::SnapshotRow& row : rows) {
    const Snapshot snapshot = from_row(row);
    if (snapshot.attributes.contains(kPartAttribute)) continue;
    Principal owner;
    owner.tenant = snapshot.tenant;
    // A session that stands on it keeps it; the next round tries again.
    auto removed = co_await remove(std::move(owner), snapshot.snapshot_id);
    if (!removed && removed.error().code() != Code::conflict && removed.error().code() != Code::not_found)
      log::warn("an old snapshot could not be removed", {{"error", removed.error().message()}});
  }
  co_return Result<void>{};
}

}  // namespace atl::session
