#include "sandbox/native/census.h"

#include <gtest/gtest.h>

namespace atl::sandbox::native {
namespace {

using namespace std::chrono_literals;
using Time = std::chrono::steady_clock::time_point;

std::chrono::milliseconds pause_of(const Rhythm& rhythm) {
  // From a common multiple of all of them.
  return std::chrono::duration_cast<std::chrono::milliseconds>(rhythm.next(Time(8s)) - Time(8s));
}

TEST(Rhythm, SlowsDownWhileNothingChanges) {
  Rhythm rhythm;
  EXPECT_EQ(pause_of(rhythm), Rhythm::kOften);
  rhythm.seen(3, false);
  EXPECT_EQ(pause_of(rhythm), Rhythm::kOften) << "the first look knows nothing of an earlier one";
  rhythm.seen(3, false);
  EXPECT_EQ(pause_of(rhythm), 2 * Rhythm::kOften);
  for (int i = 0; i < 20; ++i) rhythm.seen(3, false);
  EXPECT_EQ(pause_of(rhythm), Rhythm::kSeldom);
}

TEST(Rhythm, IsQuickWhileSomethingIsExecutedOrChanges) {
  Rhythm rhythm;
  for (int i = 0; i < 20; ++i) rhythm.seen(3, true);
  EXPECT_EQ(pause_of(rhythm), Rhythm::kOften);
  for (int i = 0; i < 20; ++i) rhythm.seen(3, false);
  rhythm.seen(4, false);
  EXPECT_EQ(pause_of(rhythm), Rhythm::kOften);
  for (int i = 0; i < 20; ++i) rhythm.seen(4, false);
  rhythm.quicken();
  EXPECT_EQ(pause_of(rhythm), Rhythm::kOften);
}

TEST(Rhythm, LooksFallTogether) {
  Rhythm often, seldom;
  for (int i = 0; i < 20; ++i) seldom.seen(3, false);
  const Time now(8s + 123ms);
  EXPECT_EQ(often.next(now), Time(8s + 150ms));
  EXPECT_EQ(seldom.next(now), Time(8s + 800ms));
  EXPECT_EQ(often.next(Time(8s + 799ms)), seldom.next(now));
  EXPECT_GT(often.next(Time(8s + 150ms)), Time(8s + 150ms)) << "never the same moment again";
}

}  // namespace
}  // namespace atl::sandbox::native
