#include "audit/fold.h"

#include <fmt/format.h>

namespace atl::audit {
namespace {

constexpr std::string_view kMany = "many";

std::string key_of(const Entry& entry) {
  // A caller without a key chooses the address alone; everything else it sends must not make new keys.
  if (entry.actor.key_id == kAnonymous)
    return fmt::format("?\n{}\n{}\n{}", entry.actor.address, entry.action, to_string(entry.outcome));
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", entry.actor.key_id, entry.actor.tenant, entry.actor.address,
                     entry.action, entry.object, to_string(entry.outcome));
}

}  // namespace

bool Fold::take(const Entry& entry, SteadyTime now) {
  const bool stranger = entry.actor.key_id == kAnonymous;
  std::string key = key_of(entry);
  if (const auto found = seen_.find(key); found != seen_.end()) {
    ++found->second.repeated;
    return false;
  }
  Seen seen{entry, now};
  if (stranger && strangers_ >= kStrangersMax) {
    // More addresses than are told apart: they share one place.
    seen.entry.actor.address = kMany;
    seen.entry.object = kMany;
    key = key_of(seen.entry);
    auto [shared, fresh] = seen_.try_emplace(key, std::move(seen));
    if (fresh) ++strangers_;
    ++shared->second.repeated;
    return false;
  }
  if (!stranger && seen_.size() >= kKnownMax) return true;
  if (stranger) ++strangers_;
  seen_.emplace(std::move(key), std::move(seen));
  return true;
}

std::vector<Entry> Fold::due(SteadyTime now) {
  std::vector<Entry> entries;
  for (auto at = seen_.begin(); at != seen_.end();) {
    if (now - at->second.since < window_) {
      ++at;
      continue;
    }
    Seen& seen = at->second;
    if (seen.entry.actor.key_id == kAnonymous) --strangers_;
    if (seen.repeated > 0) {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - seen.since).count();
      seen.entry.details = fmt::format(R"({{"repeated":{},"within_seconds":{}}})", seen.repeated, seconds);
      entries.push_back(std::move(seen.entry));
    }
    at = seen_.erase(at);
  }
  return entries;
}

}  // namespace atl::audit
