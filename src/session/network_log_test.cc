#include "session/network_log.h"

#include <gtest/gtest.h>

namespace atl::session {
namespace {

WallTime at(int seconds) {
  return WallTime(std::chrono::seconds(seconds));
}
egress::Attempt attempt(std::string host, bool allowed = false) {
  return {std::move(host), 443, allowed, "because"};
}

TEST(NetworkLog, CountsWhatWasDecidedAlike) {
  NetworkLog log;
  log.add(attempt("a.com"), at(1));
  log.add(attempt("b.com"), at(2));
  log.add(attempt("a.com"), at(3));
  log.add(attempt("a.com", true), at(4));
  const auto lines = log.decisions();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].allowed);
  EXPECT_EQ(lines[1].host, "a.com");
  EXPECT_EQ(lines[1].count, 2U);
  EXPECT_EQ(lines[1].first_at, at(1));
  EXPECT_EQ(lines[1].last_at, at(3));
  EXPECT_EQ(lines[2].host, "b.com");
}

TEST(NetworkLog, IsBounded) {
  NetworkLog log;
  for (int i = 0; i < 5000; ++i) log.add(attempt(std::to_string(i) + ".com"), at(i));
  EXPECT_EQ(log.decisions().size(), NetworkLog::kLinesMax);
  EXPECT_EQ(log.forgotten(), 4000U);
  EXPECT_EQ(log.decisions().front().host, "4999.com");
  log.add(attempt("0.com"), at(9000));
  EXPECT_EQ(log.decisions().front().count, 1U);
}

TEST(NetworkLog, SurvivesBeingStored) {
  NetworkLog log;
  EXPECT_FALSE(log.changed());
  for (int i = 0; i < 1200; ++i) log.add(attempt(std::to_string(i) + ".com", i % 2 == 0), at(i));
  EXPECT_TRUE(log.changed());
  NetworkLog again;
  again.read_json(log.to_json());
  EXPECT_FALSE(log.changed());
  EXPECT_EQ(again.forgotten(), 200U);
  ASSERT_EQ(again.decisions().size(), log.decisions().size());
  EXPECT_EQ(again.decisions().front().host, "1199.com");
  EXPECT_EQ(again.decisions().back().first_at, log.decisions().back().first_at);
  again.add(attempt("1199.com"), at(5000));
  EXPECT_EQ(again.decisions().front().count, 2U);
  for (const auto* bad : {"", "[]", "{", R"({"decisions":[1,{}]})"}) NetworkLog().read_json(bad);
}

}  // namespace
}  // namespace atl::session
