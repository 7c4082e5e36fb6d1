#include "sandbox/native/excess.h"

#include <gtest/gtest.h>

namespace atl::sandbox::native {
namespace {

constexpr std::uint64_t kSecond = 1'000'000;
using Kind = Runner::Kind;

// On the host every number is a thousand more.
TreeProcess process(pid_t inside, pid_t parent, pid_t session, std::uint64_t started_us) {
  return {.pid = inside + 1000,
          .parent = parent + 1000,
          .inside = inside,
          .session_inside = session,
          .started_us = started_us};
}

std::vector<TreeProcess> with_guest(std::vector<TreeProcess> more) {
  more.insert(more.begin(),
              TreeProcess{.pid = 1001, .parent = 5, .inside = 1, .session_inside = 1, .started_us = 0});
  return more;
}

TEST(Excess, TheLargestExecutionIsEndedAndTheInnocentOneIsNot) {
  std::vector<TreeProcess> all;
  all.push_back(process(10, 1, 10, 5 * kSecond));  // innocent
  all.push_back(process(20, 1, 20, 6 * kSecond));  // and a bomb
  for (pid_t pid = 21; pid < 30; ++pid) all.push_back(process(pid, pid - 1, 20, 6 * kSecond));
  const Runner runners[] = {{Kind::command, 10, 5 * kSecond}, {Kind::command, 20, 6 * kSecond}};
  const std::uint64_t began[] = {5 * kSecond, 6 * kSecond};
  const Excess excess = find_excess(with_guest(all), runners, began, 11, 5);
  EXPECT_EQ(excess.runners, std::vector<std::size_t>{1});
  EXPECT_FALSE(excess.background_since_us);
}

TEST(Excess, OrphansBelongToTheLatestExecutionThatHadBegun) {
  std::vector<TreeProcess> all{process(10, 1, 10, 5 * kSecond), process(20, 1, 20, 8 * kSecond)};
  for (pid_t pid = 30; pid < 36; ++pid) all.push_back(process(pid, 1, pid, 7 * kSecond));
  const Runner runners[] = {{Kind::command, 10, 5 * kSecond}, {Kind::command, 20, 8 * kSecond}};
  const std::uint64_t began[] = {5 * kSecond, 8 * kSecond};
  EXPECT_EQ(find_excess(with_guest(all), runners, began, 8, 5).runners, std::vector<std::size_t>{0});
  // They belong to an execution in between that has ended: no running execution is ended for them.
  const std::uint64_t one_more[] = {5 * kSecond, 6 * kSecond, 8 * kSecond};
  const Excess excess = find_excess(with_guest(all), runners, one_more, 8, 5);
  EXPECT_TRUE(excess.runners.empty());
  EXPECT_EQ(excess.background_since_us, 6 * kSecond);
}

TEST(Excess, WhatAnEarlierExecutionOfABusyInterpreterLeftIsInTheBackground) {
  std::vector<TreeProcess> all{process(2, 1, 2, 1 * kSecond)};
  for (pid_t pid = 30; pid < 70; ++pid) all.push_back(process(pid, 2, pid, 5 * kSecond));
  const Runner runners[] = {{Kind::busy_interpreter, 2, 9 * kSecond}};
  const std::uint64_t began[] = {5 * kSecond, 9 * kSecond};
  const Excess excess = find_excess(with_guest(all), runners, began, 40, 5);
  EXPECT_TRUE(excess.runners.empty());
  EXPECT_EQ(excess.background_since_us, 5 * kSecond);
}

TEST(Excess, OlderBackgroundStaysIfTheYoungerIsTheExcess) {
  std::vector<TreeProcess> all{process(2, 1, 2, 1 * kSecond)};
  for (pid_t pid = 10; pid < 13; ++pid) all.push_back(process(pid, 1, pid, 3 * kSecond));
  for (pid_t pid = 30; pid < 70; ++pid) all.push_back(process(pid, 2, pid, 5 * kSecond));
  const Runner runners[] = {{Kind::idle_interpreter, 2, 0}};
  const std::uint64_t began[] = {2 * kSecond, 4 * kSecond};
  EXPECT_EQ(find_excess(with_guest(all), runners, began, 43, 5).background_since_us, 4 * kSecond);
  // No execution is known to have begun: the whole background is ended.
  EXPECT_EQ(find_excess(with_guest(all), runners, {}, 43, 5).background_since_us, 0U);
}

TEST(Excess, TellsWhetherAnOlderBackgroundProcessMayHaveStartedThem) {
  std::vector<TreeProcess> all{process(2, 1, 2, 1 * kSecond), process(10, 1, 10, 3 * kSecond)};
  // An interpreter's children, and a grandchild.
  for (pid_t pid = 30; pid < 40; ++pid) all.push_back(process(pid, 2, pid, 5 * kSecond));
  all.push_back(process(40, 39, 40, 5 * kSecond));
  const Runner runners[] = {{Kind::idle_interpreter, 2, 0}};
  const std::uint64_t began[] = {2 * kSecond, 4 * kSecond};
  EXPECT_TRUE(find_excess(with_guest(all), runners, began, 12, 5).runners_started_them);
  // One that the older background process started.
  auto with_culprit = all;
  with_culprit.push_back(process(41, 10, 41, 5 * kSecond));
  EXPECT_FALSE(find_excess(with_guest(with_culprit), runners, began, 13, 5).runners_started_them);
  // One that lost its parent: anybody may have started it.
  auto with_orphan = all;
  with_orphan.push_back(process(41, 1, 41, 5 * kSecond));
  EXPECT_FALSE(find_excess(with_guest(with_orphan), runners, began, 13, 5).runners_started_them);
}

TEST(Excess, AStartInTheSameHundredthOfASecondIsNotEarlier) {
  std::vector<TreeProcess> all{process(2, 1, 2, 1 * kSecond)};
  for (pid_t pid = 30; pid < 40; ++pid) all.push_back(process(pid, 2, pid, 5 * kSecond));
  const Runner runners[] = {{Kind::busy_interpreter, 2, 5 * kSecond + 9'999}};
  EXPECT_EQ(find_excess(with_guest(all), runners, {}, 10, 5).runners, std::vector<std::size_t>{0});
}

TEST(Excess, EverythingEndsThatIsTooManyTogether) {
  std::vector<TreeProcess> all;
  for (pid_t leader = 10; leader < 40; leader += 10)
    for (pid_t pid = leader; pid < leader + 4; ++pid) all.push_back(process(pid, 1, leader, kSecond));
  const Runner runners[] = {
      {Kind::command, 10, kSecond}, {Kind::command, 20, kSecond}, {Kind::command, 30, kSecond}};
  const Excess excess = find_excess(with_guest(all), runners, {}, 12, 5);
  EXPECT_EQ(excess.runners.size(), 2U) << "the third is within its rights";
}

TEST(Excess, ATreeThatPointsAtItselfEndsTheSearch) {
  std::vector<TreeProcess> all{process(10, 11, 99, kSecond), process(11, 10, 99, kSecond)};
  EXPECT_EQ(find_excess(all, {}, {}, 2, 1).background_since_us, 0U);
}

}  // namespace
}  // namespace atl::sandbox::native
