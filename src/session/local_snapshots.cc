// Snapshots and restore.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "base/ids.h"
#include "base/log.h"
#include "os/file.h"
#include "session/codec.h"
#include "session/local_service.h"
#include "session/retry.h"
#include "store/offload.h"

namespace atl::session {
namespace {

// What a failed attempt left would be in the way of the next one.
Task<void> snapshot_once(std::shared_ptr<sandbox::Sandbox> in, sandbox::Provider* provider, std::string path) {
  Result<void> taken = co_await in->snapshot(path);
  if (!taken) auto removed = co_await provider->discard_snapshot(path);
  co_return taken;
}

}  // namespace

std::string LocalService::snapshot_path(const std::string& snapshot_id) const {
  return options_.snapshot_directory + "/" + snapshot_id;
}

Task<void> LocalService::take_snapshot(LivePtr live, std::string snapshot_id) {
  if (!live->sandbox) co_return fail(Code::conflict, "the session has ended");
  const std::shared_ptr<sandbox::Sandbox> in = live->sandbox;
  const std::string path = snapshot_path(snapshot_id);
  auto once = [in, provider = live->provider, path]() -> Task<void> { return snapshot_once(in, provider, path); };
  auto go_on = [live, in] { return live->sandbox == in; };
  CO_CHECK(co_await with_retries<void>(parts_.executor, "take a snapshot", std::move(once), std::move(go_on)));
  auto keep = [this, snapshot_id, sandbox = live->incarnation] { return layer_use_.keep(snapshot_id, sandbox); };
  Result<void> kept = co_await store::offload<void>(disk_, std::move(keep));
  if (!kept) auto removed = co_await live->provider->discard_snapshot(path);
  co_return kept;
}

Task<Snapshot> LocalService::snapshot(Principal who, std::string id, std::string name, TextMap attributes) {
  CO_TRY(LivePtr found, co_await awake(std::move(who), std::move(id)));
  if (!found->provider->traits().snapshot || options_.snapshot_directory.empty()) {
    co_return fail(Code::unsupported,
                   fmt::format("provider {} lacks the trait 'snapshot'", found->facts.provider));
  }
  CO_TRY(auto hold, co_await found->lifecycle.take());
  CO_CHECK(co_await check_snapshot_room(found->facts.tenant, 0));
  Snapshot snapshot;
  snapshot.snapshot_id = "snp_" + random_word(20);
  snapshot.tenant = found->facts.tenant;
  snapshot.name = std::move(name);
  snapshot.session_id = found->facts.session_id;
  snapshot.sandbox_id = found->facts.sandbox_id;
  snapshot.provider = found->facts.provider;
  snapshot.environment = found->facts.environment;
  snapshot.created_at = parts_.clock->now();
  snapshot.attributes = std::move(attributes);
  const std::string path = snapshot_path(snapshot.snapshot_id);
  CO_CHECK(co_await take_snapshot(found, snapshot.snapshot_id));
  const Result<std::uint64_t> size = co_await found->provider->snapshot_bytes(path);
  snapshot.size_bytes = size.value_or(0);
  Result<void> stored = size ? Result<void>() : fail(size.error());
  if (stored) stored = co_await check_snapshot_room(snapshot.tenant, snapshot.size_bytes);
  if (stored) stored = co_await parts_.store->put_snapshot(to_row(snapshot));
  if (!stored) {
    layer_use_.end_snapshot(snapshot.snapshot_id);
    auto removed = co_await found->provider->discard_snapshot(path);
    co_return fail(std::move(stored).error());
  }
  co_return snapshot;
}

// The old sandbox ends first: both together might not fit the machine, and the id's owner must be one.
Task<Session> LocalService::restore(Principal who, std::string id, std::string snapshot_id) {
  CO_TRY(const Snapshot source, co_await get_snapshot(who, snapshot_id));
  CO_TRY(LivePtr found, co_await live(std::move(who), id));
  if (source.provider != found->facts.provider) {
    co_return fail(Code::invalid_argument, fmt::format("snapshot {} is of provider {}, the session of {}",
                                                       snapshot_id, source.provider, found->facts.provider));
  }
  CO_TRY(auto hold, co_await found->lifecycle.take());
  if (!is_live(found->facts.state)) {
    co_return fail(Code::conflict, fmt::format("session {} is {}", id, to_string(found->facts.state)));
  }
  if (found->facts.state == State::paused) CO_CHECK(admit(found->facts.tenant, found.get()));
  enter(found, State::creating, "restore");
  const std::shared_ptr<sandbox::Sandbox> old = std::exchange(found->sandbox, nullptr);
  Result<void> done = old ? co_await old->stop() : Result<void>();
  if (done) {
    layer_use_.end_sandbox(found->incarnation);
    found->incarnation = fmt::format("{}r{}", found->facts.sandbox_id, random_word(6));
    done = co_await build(found, snapshot_path(source.snapshot_id));
  }
  if (!done) {
    enter(found, State::failed, "restore: " + done.error().message());
    auto saved = co_await save(found);
    forget(found);
    co_return fail(std::move(done).error().context("restore"));
  }
  discard_states(*found, {std::exchange(found->facts.snapshot, source.snapshot_id),
                          std::exchange(found->facts.hibernation, std::string())});
  enter(found, State::running, "");
  set_end(*found, found->facts.ttl, true);
  CO_CHECK(co_await save(found));
  co_return found->facts;
}

Task<Page<Snapshot>> LocalService::list_snapshots(Principal who, std::string id, std::uint32_t limit,
                                                  std::string cursor) {
  std::optional<std::int64_t> after;
  if (!cursor.empty()) {
    std::int64_t position = 0;
    const auto [end, failed] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), position);
    if (failed != std::errc() || end != cursor.data() + cursor.size()) {
      co_return fail(
          Error(Code::invalid_argument, "not a cursor that a page before gave").with_field("cursor"));
    }
    after = position;
  }
  CO_TRY(auto rows, co_await parts_.store->list_snapshots(who.tenant, std::move(id),
                                                          std::clamp<std::uint32_t>(limit, 1, 1000), after));
  Page<Snapshot> page;
  if (rows.next) page.next_cursor = std::to_string(*rows.next);
  for (const store::SnapshotRow& row : rows.items) page.items.push_back(from_row(row));
  co_return page;
}

Task<Snapshot> LocalService::get_snapshot(Principal who, std::string snapshot_id) {
  CO_TRY(const store::SnapshotRow row,
         co_await parts_.store->get_snapshot(who.tenant, std::move(snapshot_id)));
  co_return from_row(row);
}

Task<void> LocalService::remove_snapshot(Principal who, std::string snapshot_id) {
  CO_TRY(const Snapshot snapshot, co_await get_snapshot(who, std::move(snapshot_id)));
  for (const auto& [id, live] : live_) {
    if (live->facts.snapshot == snapshot.snapshot_id) {
      co_return fail(Code::conflict,
                     fmt::format("snapshot {} is in use by session {}", snapshot.snapshot_id, id));
    }
  }
  CO_TRY(const bool removed, co_await parts_.store->remove_snapshot(who.tenant, snapshot.snapshot_id));
  if (!removed) co_return fail(Code::not_found, fmt::format("no snapshot {}", snapshot.snapshot_id));
  layer_use_.end_snapshot(snapshot.snapshot_id);
  // Of a provider that is not here today: its files may be ours anyway.
  const std::string path = snapshot_path(snapshot.snapshot_id);
  if (sandbox::Provider* provider = provider_named(snapshot.provider))
    co_return co_await provider->discard_snapshot(path);
  auto remove = [path] { return os::remove_tree(AT_FDCWD, path); };
  co_return co_await store::offload<void>(disk_, std::move(remove));
}

}  // namespace atl::session
