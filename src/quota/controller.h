#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "quota/quotas.h"

namespace atl::quota {

// Who consumes.
struct Holder {
  std::string tenant;
  std::string key_id;  // may be empty: then only the tenant's quotas count
};

// What somebody holds for a while, under a name that is unique among all claims (a session's id, a record's).
struct Claim {
  std::string id;
  Holder holder;
  Amounts amounts;  // only of what is held: sessions, executions, memory_mb, disk_mb
};

// What is left of a day's budget, and how many executions use it up together.
struct CpuLeft {
  std::chrono::microseconds time{0};
  std::uint64_t executions = 0;
};

// Decides who may have how much of what. The session service asks it before it begins anything; operators can
// put one of their own in its place (docs/guides/governance.md). Belongs to the loop thread; no call waits,
// so that nothing can happen between a decision and its being counted.
class ResourceController {
 public:
  virtual ~ResourceController() = default;

  // Counts the claim if it fits all quotas of its tenant and its key; otherwise counts nothing and gives
  // auth::over_quota. A claim of that id that is there already is replaced, and only what it grows by is
  // asked for.
  virtual Result<void> admit(const Claim& claim) = 0;
  // Counts the claim as it is, without asking: what exists, exists (after a restart, or when it shrinks).
  virtual void hold(const Claim& claim) = 0;
  // Gives the claim back. Does nothing if there is none of this id.
  virtual void release(std::string_view claim_id) = 0;

  // One call of somebody's, before anything of it is done: Quota::requests_per_second and requests_burst of
  // the key, and of its tenant if `holder` names one. Counted if it fits both, otherwise in neither.
  virtual Result<void> admit_call(const Holder& holder) = 0;

  // One session more is begun now: Quota::creates_per_minute. Counted if it fits.
  virtual Result<void> admit_create(const Holder& holder) = 0;
  // Whether `more` of something that is counted elsewhere (stored_mb, volumes, templates), of which the
  // tenant has `used`, still fits; and whether a day's budget is not used up yet (`more` 0).
  virtual Result<void> check(const Holder& holder, Quota quota, std::uint64_t used,
                             std::uint64_t more) const = 0;
  // The least that the holder's tenant and key may have of it; unset: nobody bounds it.
  virtual std::optional<std::uint64_t> limit(const Holder& holder, Quota quota) const = 0;
  // CPU time that the holder may still use today, what is under way counted; unset: as much as it likes.
  virtual std::optional<CpuLeft> cpu_left(const Holder& holder) const = 0;
  // What the admitted claim has used of it until now. Counts until the claim is released; whoever releases it
  // charges what it was in the end.
  virtual void note_cpu(std::string_view claim_id, std::chrono::microseconds used) = 0;
  // Consumed for good: microseconds of CPU (Quota::cpu_seconds_per_day) or bytes (egress_bytes_per_day).
  virtual void charge(const Holder& holder, std::string_view session_id, Quota quota,
                      std::uint64_t amount) = 0;
};

}  // namespace atl::quota
