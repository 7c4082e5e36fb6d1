#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/clock.h"

namespace atl::auth {

struct AttemptLimits {
  std::chrono::milliseconds delay_max{2000};  // zero: refusals are never held back
  int free = 10;                              // failures in a while that cost nothing
  std::chrono::seconds forget_after{60};      // one failure is forgotten in this time
  std::size_t waiting_max = 256;              // refusals that are held back at once
  std::size_t names_max = 10'000;             // addresses and keys that are remembered
};

// Slows down guessing. Only refusals are held back: whoever shows a good credential is never delayed, from
// wherever and however often somebody guesses, so that nobody can lock anybody else out. Belongs to the loop
// thread.
class Attempts {
 public:
  explicit Attempts(AttemptLimits limits, Clock& clock = Clock::machine()) : limits_(limits), clock_(clock) {}

  // Notes a failure from this address and, if it is known whose key was being guessed, for that key. Gives
  // how long to hold the refusal back.
  std::chrono::milliseconds failed(const std::string& address, const std::string& key_id);

  // One refusal that is held back. False: so many are already that this one is answered at once, and with
  // Code::resource_exhausted, because an attacker who waits in parallel would gain by it.
  bool begin_wait();
  void end_wait() { --waiting_; }

  std::size_t remembered() const { return counts_.size(); }

 private:
  struct Count {
    double failures = 0;
    SteadyTime at{};
  };
  double note(const std::string& name);
  void forget_old();

  AttemptLimits limits_;
  Clock& clock_;
  std::map<std::string, Count> counts_;
  std::size_t waiting_ = 0;
};

}  // namespace atl::auth
