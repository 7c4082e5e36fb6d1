#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/principal.h"
#include "base/clock.h"
#include "os/task.h"
#include "store/rows.h"
#include "store/store.h"

namespace atl::auth {

// A key as it is shown once: "e2b_" and 40 lowercase hexadecimal digits, the form E2B's clients accept.
std::string new_key();
// True for "e2b_" and 8 to 128 lowercase hexadecimal digits: the form E2B's clients accept.
bool is_key(std::string_view text);

// What a key is for. Both open the same; tokens stand in no list of keys.
inline constexpr const char* kKeyRole = "owner";
inline constexpr const char* kTokenRole = "token";

// The keys in force, in memory; the store holds them hashed. Belongs to the loop thread.
class Keys {
 public:
  explicit Keys(store::Store& store, Clock& clock = Clock::machine()) : store_(store), clock_(clock) {}

  // Reads the keys again: other processes (`atoll keys`) change them too.
  Task<void> reload();
  // The key's owner. Code::unauthenticated for anything else; the time taken tells nothing about stored keys.
  Result<Principal> check(std::string_view key) const;
  bool empty() const { return by_hash_.empty(); }

  struct Created {
    std::string key;  // not to be seen again
    store::KeyRow row;
  };
  // `key` empty: a new one. A key that exists already and is not revoked is left as it is.
  Task<Created> create(std::string tenant, std::string name, std::string key, std::string role = kKeyRole);
  Task<std::vector<store::KeyRow>> list();
  // Code::not_found if no unrevoked key has this id.
  Task<void> revoke(std::string key_id);

 private:
  store::Store& store_;
  Clock& clock_;
  std::map<std::string, Principal, std::less<>> by_hash_;
};

// How much one caller may ask in a while: a bucket of `burst` calls that fills at `per_second`.
struct RateLimit {
  double per_second = 0;  // 0: any number
  double burst = 0;       // 0: what five seconds of `per_second` give
};

// Each caller has a bucket of its own. What it holds is bounded: a bucket that is full again is forgotten.
class RateLimiter {
 public:
  explicit RateLimiter(RateLimit limit, Clock& clock = Clock::machine());
  // Nothing: go ahead. Otherwise how long to wait.
  std::optional<std::chrono::milliseconds> take(const std::string& caller);
  std::size_t buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    double tokens = 0;
    SteadyTime filled_at{};
  };
  double filled(const Bucket& bucket, SteadyTime now) const;
  void forget_full(SteadyTime now);

  RateLimit limit_;
  Clock& clock_;
  std::map<std::string, Bucket> buckets_;
  std::size_t forget_at_ = 1024;  // buckets
};

}  // namespace atl::auth
