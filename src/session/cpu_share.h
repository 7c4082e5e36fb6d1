#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace atl::session {

// The kernel counts CPU time by sandbox, not by execution. What a sandbox used while several executions ran
// side by side is shared out evenly among them, so that together they report what was used and not a multiple
// of it. Works like a clock that runs the slower the more look at it: each reads it when it begins and when
// it ends. What was used while none ran, or what a record did not tell of its share, is kept apart: somebody
// has to answer for what programs left in the background.
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
  // The record of one that left tells `told` instead of its share: the children that a command did not wait
  // for are not in it, and what others used is.
  void tell(Micros share, Micros told) { unclaimed_ += share - told; }

  // What the sandbox has used so far, for the looks in between.
  void note(Micros used) { advance(used); }
  // What no record tells of since the last call. Where records told more than there was, that is made up for
  // first.
  Micros take_unclaimed() {
    const Micros found = std::max(unclaimed_, Micros(0));
    unclaimed_ -= found;
    return found;
  }
  // There is another sandbox: what it used before it is looked at first is its start and not counted.
  void start_anew() { known_ = false; }
  std::uint32_t running() const { return running_; }

 private:
  // A sandbox that was replaced starts counting at zero again.
  void advance(Micros used) {
    if (known_ && used > seen_) {
      if (running_ > 0)
        clock_ += static_cast<double>((used - seen_).count()) / running_;
      else
        unclaimed_ += used - seen_;
    }
    seen_ = used;
    known_ = true;
  }

  bool known_ = false;
  Micros seen_{0}, unclaimed_{0};
  double clock_ = 0;
  std::uint32_t running_ = 0;
};

}  // namespace atl::session
