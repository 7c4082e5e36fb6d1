#include "quota/rates.h"

#include <algorithm>
#include <cmath>

namespace atl::quota {
namespace {

constexpr double kBurstSeconds = 5;
// Where nothing is ever left, an hour is as good an answer as any.
constexpr double kLongestWait = 3600;

}  // namespace

Rate Rate::of(double per_second, std::optional<double> burst) {
  if (per_second <= 0) return {0, 0};
  return {per_second, std::max(1.0, burst.value_or(per_second * kBurstSeconds))};
}

double Rates::filled(const Bucket& bucket, SteadyTime now) {
  const double passed = std::chrono::duration<double>(now - bucket.filled_at).count();
  return std::min(bucket.rate.burst, bucket.tokens + passed * bucket.rate.per_second);
}

// A full bucket says as much as none. Looked for when there are twice as many as were left the last time, so
// that a call costs the same whatever the number of callers is.
void Rates::forget_full(SteadyTime now) {
  if (buckets_.size() < forget_at_) return;
  std::erase_if(buckets_, [&](const auto& one) { return filled(one.second, now) >= one.second.rate.burst; });
  forget_at_ = std::max<std::size_t>(1024, buckets_.size() * 2);
}

Rates::Bucket& Rates::bucket(const std::string& caller, const Rate& rate) {
  const SteadyTime now = clock_.steady();
  forget_full(now);
  auto [found, fresh] = buckets_.try_emplace(caller, Bucket{rate.burst, rate, now});
  Bucket& one = found->second;
  one.rate = rate;
  one.tokens = filled(one, now);
  one.filled_at = now;
  return one;
}

std::optional<std::chrono::seconds> Rates::wait(const std::string& caller, const Rate& rate) {
  const double tokens = bucket(caller, rate).tokens;
  if (tokens >= 1) return std::nullopt;
  const double seconds = rate.per_second > 0 ? (1 - tokens) / rate.per_second : kLongestWait;
  return std::chrono::seconds(static_cast<std::int64_t>(std::max(1.0, std::ceil(seconds))));
}

void Rates::take(const std::string& caller, const Rate& rate) {
  bucket(caller, rate).tokens -= 1;
}

}  // namespace atl::quota
