#include "quota/rates.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace atl::quota {
namespace {

class RatesTest : public testing::Test {
 protected:
  bool ask(const std::string& caller, const Rate& rate) {
    if (rates_.wait(caller, rate)) return false;
    rates_.take(caller, rate);
    return true;
  }
  ManualClock clock_;
  Rates rates_{clock_};
};

TEST_F(RatesTest, WhoeverMayNeverAskIsToldToWaitLong) {
  const Rate never = Rate::of(0, std::nullopt);
  EXPECT_FALSE(ask("a", never));
  clock_.advance(std::chrono::hours(1));
  EXPECT_FALSE(ask("a", never));
  EXPECT_EQ(rates_.wait("a", never)->count(), 3600);
}

TEST_F(RatesTest, ABurstThenTheRateEachForItself) {
  const Rate rate = Rate::of(10, 1000);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(ask("a", rate));
  EXPECT_FALSE(ask("a", rate));
  EXPECT_EQ(rates_.wait("a", rate)->count(), 1);
  EXPECT_TRUE(ask("b", rate));
  clock_.advance(std::chrono::milliseconds(100));
  EXPECT_TRUE(ask("a", rate));
  EXPECT_FALSE(ask("a", rate));
}

TEST_F(RatesTest, ARateAloneBringsFiveSecondsOfBurst) {
  const Rate rate = Rate::of(2, std::nullopt);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ask("a", rate));
  EXPECT_FALSE(ask("a", rate));
}

TEST_F(RatesTest, AnotherRateCountsAtOnce) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(ask("a", Rate::of(10, 100)));
  EXPECT_TRUE(ask("a", Rate::of(1, 1)));
  EXPECT_FALSE(ask("a", Rate::of(1, 1)));
  EXPECT_FALSE(ask("a", Rate::of(10, 100))) << "nobody gains by a change";
  clock_.advance(std::chrono::seconds(1));
  EXPECT_TRUE(ask("a", Rate::of(10, 100)));
}

TEST_F(RatesTest, ForgetsWhoHasBeenQuiet) {
  const Rate rate = Rate::of(1, 2);
  for (int i = 0; i < 1024; ++i) ASSERT_TRUE(ask(std::to_string(i), rate));
  clock_.advance(std::chrono::milliseconds(500));
  EXPECT_TRUE(ask("late", rate));
  EXPECT_GT(rates_.buckets(), 1024U) << "none is full yet: whoever waits is not let in early";
  clock_.advance(std::chrono::seconds(5));
  for (int i = 0; i < 1100; ++i) ASSERT_TRUE(ask("again" + std::to_string(i), rate));
  EXPECT_LT(rates_.buckets(), 1200U);
}

}  // namespace
}  // namespace atl::quota
