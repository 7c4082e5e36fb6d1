#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl {

using Duration = std::chrono::nanoseconds;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// Time as a parameter, so that tests decide what time it is. The default is the machine's clock.
class Clock {
 public:
  virtual ~Clock() = default;
  // May jump, forwards and backwards, when somebody sets the machine's clock.
  virtual WallTime now() const = 0;  // for records and for people
  // Never goes backwards; its zero means nothing.
  virtual SteadyTime steady() const = 0;  // for measuring and for deadlines

  static Clock& machine();
};

// A clock that stands still until moved. Both faces move together.
// For tests. Not safe from several threads while it is moved.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(WallTime start = WallTime(std::chrono::seconds(1'700'000'000))) : wall_(start) {}
  WallTime now() const override { return wall_; }
  SteadyTime steady() const override { return steady_; }
  void advance(Duration by) { wall_ += by, steady_ += by; }

 private:
  WallTime wall_;
  SteadyTime steady_{};
};

// RFC 3339 in UTC: "2026-11-15T09:08:07.123456Z". Microseconds, always six digits.
std::string to_rfc3339(WallTime time);
// Accepts any offset and zero to nine fractional digits.
// Code::invalid_argument for any other text.
Result<WallTime> from_rfc3339(std::string_view text);

inline std::int64_t unix_millis(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}
inline std::int64_t unix_micros(WallTime time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}
inline WallTime from_unix_micros(std::int64_t micros) {
  return WallTime(std::chrono::microseconds(micros));
}

}  // namespace atl
