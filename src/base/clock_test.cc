#include "base/clock.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

TEST(Rfc3339, RefusesWhatIsNotATime) {
  for (const auto* bad :
       {"", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00Zx",
        "2026-01-01T00:00:00.1234567890Z", "-026-01-01T00:00:00Z"}) {
    EXPECT_FALSE(from_rfc3339(bad)) << bad;
  }
}

TEST(Rfc3339, RoundTripsAndKnowsOffsets) {
  const auto time = from_rfc3339("2026-11-15T10:11:12.345678+02:00").value();
  EXPECT_EQ(to_rfc3339(time), "2026-11-15T08:11:12.345678Z");
  EXPECT_EQ(from_rfc3339(to_rfc3339(time)).value(), time);
  EXPECT_EQ(to_rfc3339(from_rfc3339("1969-12-31T23:59:59Z").value()), "1969-12-31T23:59:59.000000Z");
  EXPECT_EQ(from_unix_micros(unix_micros(time)), time);
}

TEST(ManualClock, MovesBothFaces) {
  ManualClock clock;
  const auto wall = clock.now();
  const auto steady = clock.steady();
  clock.advance(std::chrono::seconds(5));
  EXPECT_EQ(clock.now() - wall, std::chrono::seconds(5));
  EXPECT_EQ(clock.steady() - steady, std::chrono::seconds(5));
}

TEST(MachineClock, GoesForward) {
  const auto before = Clock::machine().steady();
  EXPECT_LE(before, Clock::machine().steady());
  EXPECT_GT(unix_millis(Clock::machine().now()), 1'700'000'000'000);
}

}  // namespace
}  // namespace atl
