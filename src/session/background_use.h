#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/clock.h"

namespace atl::session {

// When to look next at what a session's sandbox uses between executions, and how much of that was more than
// its owner has. Belongs to its Live and to the loop thread.
class BackgroundUse {
 public:
  static constexpr std::chrono::milliseconds kOften{100};
  static constexpr std::chrono::milliseconds kSeldom{800};

  // True if a look is due now and none is under way; the caller says seen() or skip() when it is over.
  bool take_due(SteadyTime now) {
    if (is_looking_ || now < next_) return false;
    return is_looking_ = true;
  }
  // The next look is after `pause`.
  void skip(SteadyTime now, Duration pause) {
    is_looking_ = false;
    next_ = now + pause;
  }
  // Twice as seldom each time nothing is used.
  void seen(SteadyTime now, std::chrono::microseconds used) {
    pause_ = used.count() > 0 ? kOften : std::min(pause_ * 2, kSeldom);
    skip(now, pause_);
  }
  // An execution ended, and may have left something that goes on.
  void set_due() {
    pause_ = kOften;
    next_ = {};
  }

  // What was used although nothing was left; gives the sum.
  std::chrono::microseconds add_over(std::chrono::microseconds used) { return over_ += used; }
  void clear_over() { over_ = std::chrono::microseconds(0); }

  // Something was to be ended for good and goes on: why it should have.
  void set_unstoppable(std::string reason) {
    unstoppable_ = std::move(reason);
    set_due();
  }
  const std::string& unstoppable() const { return unstoppable_; }

 private:
  bool is_looking_ = false;
  SteadyTime next_{};
  std::chrono::milliseconds pause_ = kOften;
  std::chrono::microseconds over_{0};
  std::string unstoppable_;
};

}  // namespace atl::session
