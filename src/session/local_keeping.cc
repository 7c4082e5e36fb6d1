// What a tenant has stored: how much it may be, and for how long.
#include <fmt/format.h>

#include "base/log.h"
#include "session/codec.h"
#include "session/local_service.h"

namespace atl::session {

Task<void> LocalService::check_snapshot_room(std::string tenant, std::uint64_t more_bytes) {
  const Keeping& keeping = options_.keeping;
  if (keeping.snapshot_count == 0 && keeping.snapshot_bytes == 0) co_return Result<void>{};
  CO_TRY(const store::Amount held, co_await parts_.store->snapshot_amount(std::move(tenant)));
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

Result<void> LocalService::check_paused_room(const Live& live) const {
  const Keeping& keeping = options_.keeping;
  std::uint64_t count = 0, bytes = 0;
  for (const auto& [id, other] : live_) {
    if (other.get() == &live || other->facts.tenant != live.facts.tenant || other->facts.hibernation.empty())
      continue;
    ++count;
    bytes += other->facts.hibernation_bytes;
  }
  if (keeping.paused_count > 0 && count >= keeping.paused_count)
    return fail(Code::no_space,
                fmt::format("{} sessions are paused on the disk, and {} may be: end or resume one", count,
                            keeping.paused_count));
  if (keeping.paused_bytes > 0 && bytes >= keeping.paused_bytes)
    return fail(Code::no_space,
                fmt::format("sessions that are paused on the disk take {} bytes, and {} may be kept: end or "
                            "resume one",
                            bytes, keeping.paused_bytes));
  return {};
}

Task<void> LocalService::remove_old_snapshots() {
  if (options_.keeping.snapshots.count() == 0) co_return Result<void>{};
  CO_TRY(const auto rows,
         co_await parts_.store->snapshots_before(parts_.clock->now() - options_.keeping.snapshots));
  for (const store::SnapshotRow& row : rows) {
    const Snapshot snapshot = from_row(row);
    if (snapshot.attributes.contains(kPartAttribute)) continue;
    Principal owner;
    owner.tenant = snapshot.tenant;
    // A session that stands on it keeps it; the next round asks again.
    auto removed = co_await remove_snapshot(std::move(owner), snapshot.snapshot_id);
    if (!removed && removed.error().code() != Code::conflict && removed.error().code() != Code::not_found)
      log::warn("an old snapshot could not be removed", {{"error", removed.error().message()}});
  }
  co_return Result<void>{};
}

bool LocalService::is_paused_for_long(const Live& live) const {
  return options_.keeping.paused.count() > 0 && !live.facts.hibernation.empty() && live.facts.hibernated_at &&
         *live.facts.hibernated_at + options_.keeping.paused <= parts_.clock->now();
}

boost::asio::awaitable<void> LocalService::end_old_pause(LivePtr live) {
  auto hold = co_await live->lifecycle.take();
  if (!hold || ending_ || live->facts.state != State::paused || !is_paused_for_long(*live)) co_return;
  if (auto ended =
          co_await stop_held(live, State::stopped, "it was paused for longer than such sessions are kept");
      !ended) {
    log::error("a session could not be ended", {{"error", ended.error().message()}});
  }
}

}  // namespace atl::session
