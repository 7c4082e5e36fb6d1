#include "session/cpu_share.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace atl::session {
namespace {

using std::chrono::microseconds;

TEST(CpuShare, AloneGetsAll) {
  CpuShare share;
  const double entered = share.enter(microseconds(1000));
  EXPECT_EQ(share.leave(microseconds(1500), entered), microseconds(500));
}

TEST(CpuShare, WhatPassedWhileNobodyRanIsNobodys) {
  CpuShare share;
  share.leave(microseconds(10), share.enter(microseconds(0)));
  const double entered = share.enter(microseconds(900));
  EXPECT_EQ(share.leave(microseconds(900), entered), microseconds(0));
}

TEST(CpuShare, SideBySideItIsShared) {
  CpuShare share;
  const double first = share.enter(microseconds(0));
  const double second = share.enter(microseconds(100));
  EXPECT_EQ(share.leave(microseconds(300), second), microseconds(100));
  EXPECT_EQ(share.leave(microseconds(350), first), microseconds(250));
}

TEST(CpuShare, ASandboxThatWasReplacedStartsAtZero) {
  CpuShare share;
  const double entered = share.enter(microseconds(5000));
  EXPECT_EQ(share.leave(microseconds(10), entered), microseconds(0));
  const double next = share.enter(microseconds(10));
  EXPECT_EQ(share.leave(microseconds(30), next), microseconds(20));
}

TEST(CpuShare, WhatNobodyTellsOfIsKeptApart) {
  CpuShare share;
  share.note(microseconds(500));
  EXPECT_EQ(share.take_unclaimed(), microseconds(0)) << "its start is nobody's";
  share.note(microseconds(700));
  const double entered = share.enter(microseconds(800));
  share.note(microseconds(1800));
  const auto own = share.leave(microseconds(1900), entered);
  EXPECT_EQ(own, microseconds(1100));
  EXPECT_EQ(share.take_unclaimed(), microseconds(300));
  share.tell(own, microseconds(100));
  EXPECT_EQ(share.take_unclaimed(), microseconds(1000)) << "children that nobody waited for";
  EXPECT_EQ(share.take_unclaimed(), microseconds(0));
  share.start_anew();
  share.note(microseconds(5000));
  EXPECT_EQ(share.take_unclaimed(), microseconds(0));
}

// One of two did all the work: what it tells beyond its share is missing in the other's.
TEST(CpuShare, RecordsThatTellTheirOwnAddUp) {
  CpuShare share;
  share.note(microseconds(0));
  const double busy = share.enter(microseconds(0)), idle = share.enter(microseconds(0));
  share.tell(share.leave(microseconds(1000), busy), microseconds(1000));
  EXPECT_EQ(share.take_unclaimed(), microseconds(0));
  share.tell(share.leave(microseconds(1000), idle), microseconds(0));
  EXPECT_EQ(share.take_unclaimed(), microseconds(0));
}

// Whoever comes and goes in whatever order: together they never report more than was used.
TEST(CpuShare, TheSumIsNeverMoreThanWasUsed) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    CpuShare share;
    std::vector<double> running;
    std::int64_t used = 0, reported = 0;
    for (int step = 0; step < 100; ++step) {
      used += static_cast<std::int64_t>(random() % 1000);
      if (running.empty() || random() % 2 == 0) {
        running.push_back(share.enter(microseconds(used)));
      } else {
        const std::size_t who = random() % running.size();
        reported += share.leave(microseconds(used), running[who]).count();
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(who));
      }
    }
    EXPECT_LE(reported, used);
  }
}

}  // namespace
}  // namespace atl::session
