#include "auth/keys.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/ids.h"

namespace atl::auth {
namespace {

constexpr std::string_view kPrefix = "e2b_";
constexpr std::size_t kKeyBytes = 20;
constexpr std::size_t kShownLetters = 8;
constexpr double kBurstSeconds = 5;

}  // namespace

std::string new_key() {
  return std::string(kPrefix) + random_hex(kKeyBytes);
}

bool is_key(std::string_view text) {
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  return text.size() >= 8 && text.size() <= 128 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

Task<void> Keys::reload() {
  CO_TRY(auto rows, co_await store_.list_keys());
  by_hash_.clear();
  for (const store::KeyRow& row : rows) {
    if (!row.revoked_at) by_hash_.emplace(row.hash, Principal{row.key_id, row.tenant});
  }
  co_return Result<void>{};
}

// Only hashes are looked up and compared: how long a comparison of hashes takes says nothing about a key, and
// the last word is a comparison in constant time all the same.
Result<Principal> Keys::check(std::string_view key) const {
  const std::string hash = sha256_hex(key);
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end() || !equal_in_constant_time(found->first, hash)) {
    return fail(Code::unauthenticated, "missing or wrong API key");
  }
  return found->second;
}

Task<Keys::Created> Keys::create(std::string tenant, std::string name, std::string key, std::string role) {
  if (key.empty()) key = new_key();
  if (!is_key(key)) {
    co_return fail(Code::invalid_argument,
                   "an API key is \"e2b_\" and 8 to 128 lowercase hexadecimal digits");
  }
  store::KeyRow row{.key_id = "key_" + random_word(16),
                    .tenant = std::move(tenant),
                    .role = std::move(role),
                    .name = std::move(name),
                    .hash = sha256_hex(key),
                    .prefix = key.substr(0, kPrefix.size() + kShownLetters),
                    .created_at = clock_.now()};
  CO_TRY(auto rows, co_await store_.list_keys());
  const auto known = std::ranges::find(rows, row.hash, &store::KeyRow::hash);
  if (known != rows.end()) {
    if (known->revoked_at) co_return fail(Code::conflict, "this API key was revoked; use another");
    Created created{std::move(key), *known};
    co_return created;
  }
  CO_CHECK(co_await store_.put_key(row));
  store::AuditRow entry{row.created_at, row.tenant, row.key_id, "key.create", row.key_id, row.name};
  CO_CHECK(co_await store_.audit(std::move(entry)));
  by_hash_.emplace(row.hash, Principal{row.key_id, row.tenant});
  Created created{std::move(key), std::move(row)};
  co_return created;
}

Task<std::vector<store::KeyRow>> Keys::list() {
  return store_.list_keys();
}

Task<void> Keys::revoke(std::string key_id) {
  const WallTime now = clock_.now();
  CO_TRY(const bool revoked, co_await store_.revoke_key(key_id, now));
  if (!revoked) co_return fail(Code::not_found, "no key " + key_id + " in force");
  store::AuditRow row{now, "", key_id, "key.revoke", key_id, ""};
  CO_CHECK(co_await store_.audit(std::move(row)));
  std::erase_if(by_hash_, [&](const auto& entry) { return entry.second.key_id == key_id; });
  co_return Result<void>{};
}

RateLimiter::RateLimiter(RateLimit limit, Clock& clock) : limit_(limit), clock_(clock) {
  if (limit_.burst <= 0) limit_.burst = std::max(1.0, limit_.per_second * kBurstSeconds);
}

double RateLimiter::filled(const Bucket& bucket, SteadyTime now) const {
  const double passed = std::chrono::duration<double>(now - bucket.filled_at).count();
  return std::min(limit_.burst, bucket.tokens + passed * limit_.per_second);
}

// A full bucket says as much as none. Looked for when there are twice as many as were left the last time, so
// that a call costs the same whatever the number of callers is.
void RateLimiter::forget_full(SteadyTime now) {
  if (buckets_.size() < forget_at_) return;
  std::erase_if(buckets_, [&](const auto& one) { return filled(one.second, now) >= limit_.burst; });
  forget_at_ = std::max<std::size_t>(1024, buckets_.size() * 2);
}

std::optional<std::chrono::milliseconds> RateLimiter::take(const std::string& caller) {
  if (limit_.per_second <= 0) return std::nullopt;
  const SteadyTime now = clock_.steady();
  forget_full(now);
  auto [found, fresh] = buckets_.try_emplace(caller, Bucket{limit_.burst, now});
  Bucket& bucket = found->second;
  bucket.tokens = filled(bucket, now);
  bucket.filled_at = now;
  if (bucket.tokens >= 1) {
    bucket.tokens -= 1;
    return std::nullopt;
  }
  const double wait_seconds = (1 - bucket.tokens) / limit_.per_second;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(wait_seconds * 1000)));
}

}  // namespace atl::auth
