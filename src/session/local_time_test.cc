// Time to live and idleness go by the clock that nobody can set.
#include "session/service_harness_test.h"

namespace atl::session {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Moved by the test: time passes on both faces, and somebody sets the wall clock.
class SetClock final : public Clock {
 public:
  WallTime now() const override { return wall_; }
  SteadyTime steady() const override { return steady_; }
  void advance(Duration by) { wall_ += by, steady_ += by; }
  void jump(Duration by) { wall_ += by; }

 private:
  WallTime wall_{seconds(1'700'000'000)};
  SteadyTime steady_{};
};

class LocalTimeTest : public ServiceTest {
 protected:
  void SetUp() override {
    clock_ = &hands_;
    idle_after_ = minutes(30);
    ServiceTest::SetUp();
    ASSERT_TRUE(wait(service_->start()));
  }
  Session now(const Session& session) {
    return wait(service_->get(ann_, session.session_id)).value_or(Session{});
  }
  // The service looks ten times a second.
  bool told_to_end_at(const Session& session, WallTime end) {
    return until([&] { return now(session).expires_at == end; });
  }
  bool ends(const Session& session) {
    return until([&] { return now(session).state == State::stopped; });
  }

  SetClock hands_;
};

TEST_F(LocalTimeTest, AWallClockThatIsSetEndsNothing) {
  const Session session = create({.ttl = minutes(10)});
  ASSERT_EQ(session.expires_at, hands_.now() + minutes(10));
  hands_.advance(minutes(4));
  for (const auto by : {hours(24 * 3650), hours(-24 * 7300), hours(24 * 3650)}) {
    hands_.jump(by);
    EXPECT_TRUE(told_to_end_at(session, hands_.now() + minutes(6))) << by.count();
    EXPECT_EQ(now(session).state, State::running) << by.count();
    EXPECT_EQ(run(session, "print here").out, "here\n");
  }
  hands_.advance(minutes(6));
  EXPECT_TRUE(ends(session));
  EXPECT_EQ(now(session).reason, "its time to live ended");
}

TEST_F(LocalTimeTest, AWallClockThatIsSetBackKeepsNothingAlive) {
  const Session session = create({.ttl = minutes(10)});
  hands_.jump(hours(-48));
  hands_.advance(minutes(10));
  EXPECT_TRUE(ends(session));
}

TEST_F(LocalTimeTest, AnExtensionIsMeasuredFromNow) {
  const Session session = create({.ttl = minutes(10)});
  hands_.jump(hours(5));
  UpdateRequest longer{.ttl = minutes(20), .extend_only = true};
  const auto updated = wait(service_->update(ann_, session.session_id, longer));
  ASSERT_TRUE(updated);
  EXPECT_EQ(updated->expires_at, hands_.now() + minutes(20));
  UpdateRequest shorter{.ttl = minutes(1), .extend_only = true};
  EXPECT_EQ(wait(service_->update(ann_, session.session_id, shorter))->expires_at,
            hands_.now() + minutes(20));
}

TEST_F(LocalTimeTest, IdlenessIsMeasuredByTheSteadyClock) {
  const Session session = create({.ttl = hours(10)});
  hands_.jump(hours(24));
  EXPECT_TRUE(told_to_end_at(session, hands_.now() + hours(10)));
  EXPECT_EQ(now(session).state, State::running);
  hands_.advance(minutes(31));
  EXPECT_TRUE(ends(session));
  EXPECT_EQ(now(session).reason, "it was idle");
}

// What was kept for days is not old because somebody set the clock.
TEST_F(LocalTimeTest, HistoryOutlivesAWallClockThatIsSet) {
  const Session session = create({.ttl = hours(10)});
  run(session, "print kept");
  ASSERT_TRUE(wait(service_->destroy(ann_, session.session_id)));
  hands_.jump(hours(24 * 3650));
  hands_.advance(minutes(11));  // it cleans up every ten
  let_pass(std::chrono::milliseconds(400));
  const auto history = wait(service_->history(ann_, {.id = session.session_id}));
  ASSERT_TRUE(history) << history.error().message();
  EXPECT_EQ(history->items.size(), 1U);
}

}  // namespace
}  // namespace atl::session
