#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace atl::session {

// The kernel counts CPU time by sandbox, not by execution. What a sandbox used while several executions ran
// side by side is shared out evenly among them, so that together they report what was used and not a multiple
// of it. Works like a clock that runs the slower the more look at it: each reads it when it begins and when
// it ends.
class CpuShare {
 public:
  using Micros = std::chrono::microseconds;

  // `used`: what the sandbox has used so far. Gives the reading to hand to leave().
  double enter(Micros used) {
    advance(used);
    ++running_;
    return clock_;
  }
  // What this one used since its enter().
  Micros leave(Micros used, double entered) {
    advance(used);
    running_ = std::max(running_, 1U) - 1;
    return Micros(static_cast<std::int64_t>(std::max(clock_ - entered, 0.0)));
  }
  // What one has used since its enter(), while it goes on.
  Micros read(Micros used, double entered) {
    advance(used);
    return Micros(static_cast<std::int64_t>(std::max(clock_ - entered, 0.0)));
  }
  // It ended and nobody could read what was used.
  void leave() { running_ = std::max(running_, 1U) - 1; }

 private:
  // A sandbox that was replaced starts counting at zero again.
  void advance(Micros used) {
    if (running_ > 0 && used > seen_) clock_ += static_cast<double>((used - seen_).count()) / running_;
    seen_ = used;
  }

  Micros seen_{0};
  double clock_ = 0;
  std::uint32_t running_ = 0;
};

}  // namespace atl::session
