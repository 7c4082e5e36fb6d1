#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"

namespace atl::quota {

// How often somebody may ask: a bucket of `burst` calls that fills at `per_second`.
struct Rate {
  double per_second = 0;  // 0: never
  double burst = 0;

  // Without a burst: what five seconds give.
  static Rate of(double per_second, std::optional<double> burst);
};

// The buckets of all who ask. What it holds is bounded: a bucket that is full again is forgotten. Belongs to
// the loop thread; the clock must outlive it.
class Rates {
 public:
  explicit Rates(Clock& clock) : clock_(clock) {}

  // Nothing: a call is left. Otherwise in which time one will be, at least a second. Takes nothing.
  std::optional<std::chrono::seconds> wait(const std::string& caller, const Rate& rate);
  // One that wait() found to be left. Also where none is: then the next waits longer.
  void take(const std::string& caller, const Rate& rate);

  std::size_t buckets() const { return buckets_.size(); }

 private:
  struct Bucket {
    double tokens = 0;
    Rate rate;
    SteadyTime filled_at{};
  };
  // The caller's, filled up to now by the rate that it has now.
  Bucket& bucket(const std::string& caller, const Rate& rate);
  static double filled(const Bucket& bucket, SteadyTime now);
  void forget_full(SteadyTime now);

  Clock& clock_;
  std::map<std::string, Bucket> buckets_;
  std::size_t forget_at_ = 1024;  // buckets
};

}  // namespace atl::quota
