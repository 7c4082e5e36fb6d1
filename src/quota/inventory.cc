#include "quota/inventory.h"

#include <algorithm>
#include <limits>

namespace atl::quota {
namespace {

constexpr std::uint64_t kMegabyte = 1U << 20, kMost = std::numeric_limits<std::uint64_t>::max();

// How many of what is counted are one of what the quota is in.
constexpr std::uint64_t unit_of(Quota quota) {
  return quota == Quota::stored_mb ? kMegabyte : 1;
}

}  // namespace

Task<std::uint64_t> Inventory::count(Quota quota, std::string tenant) const {
  std::uint64_t sum = 0;
  for (const auto& [of, meter] : meters_) {
    if (of != quota) continue;
    CO_TRY(const std::uint64_t there, co_await meter(tenant));
    sum += there;
  }
  co_return sum;
}

Task<Reservation> Inventory::reserve(Holder holder, std::uint64_t bytes) {
  return take(Quota::stored_mb, std::move(holder), bytes, Wanted::all);
}

Task<Reservation> Inventory::reserve_one(Quota quota, Holder holder) {
  return take(quota, std::move(holder), 1, Wanted::all);
}

Task<Reservation> Inventory::reserve_up_to(Holder holder, std::uint64_t bytes) {
  return take(Quota::stored_mb, std::move(holder), bytes, Wanted::what_fits);
}

Reservation Inventory::note(const Place& place, std::uint64_t amount) {
  (*flights_)[place].reserved += amount;
  Reservation reservation(amount);
  reservation.given_back_ = std::shared_ptr<void>(nullptr, [flights = flights_, place, amount](void*) {
    Flight& flight = (*flights)[place];
    flight.reserved -= std::min(flight.reserved, amount);
    flight.released += amount;
  });
  return reservation;
}

// What others gave back while this one counted may be there and not counted: it counts as if it were, and
// before a refusal everything is counted again.
Task<Reservation> Inventory::take(Quota quota, Holder holder, std::uint64_t amount, Wanted wanted) {
  constexpr int kTriesMax = 3;
  const auto limit = controller_.limit(holder, quota);
  if (!limit) co_return Reservation(amount);
  const std::uint64_t unit = unit_of(quota), most = *limit > kMost / unit ? kMost : *limit * unit;
  const Place place{holder.tenant, quota};
  for (int tries = 1;; ++tries) {
    const std::uint64_t before = (*flights_)[place].released;
    CO_TRY(const std::uint64_t counted, co_await count(quota, holder.tenant));
    const Flight flight = (*flights_)[place];
    const std::uint64_t used = counted + flight.reserved + (flight.released - before);
    const std::uint64_t room = most - std::min(most, used);
    if (amount <= room && used <= most) co_return note(place, amount);
    if (flight.released != before && tries < kTriesMax) continue;
    if (wanted == Wanted::what_fits) co_return note(place, room);
    // In the quota's unit, and so that what is refused here is refused there.
    const std::uint64_t in_use = used / unit + (used % unit == 0 ? 0 : 1);
    const std::uint64_t more = std::max<std::uint64_t>(amount / unit, *limit + 1 - std::min(*limit, in_use));
    CO_CHECK(controller_.check(holder, quota, in_use, more));
    co_return fail(Code::internal, "a quota has room that it does not have");
  }
}

}  // namespace atl::quota
