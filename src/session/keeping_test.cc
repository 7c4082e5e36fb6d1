#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/service_harness_test.h"

// What a tenant may ask for and keep, who is told what beyond it, and what goes when its time is over.
namespace atl::session {
namespace {

using testing::HasSubstr;

class KeepingTest : public ServiceTest {
 protected:
  void reopen() {
    service_.reset();
    open();
  }
  std::string snapshot_directory(const std::string& name) const { return folder_ + "/snapshots/" + name; }
};

TEST_F(KeepingTest, NobodyGetsMoreThanThereIs) {
  ceilings_ = {{"memory_mb", {256, "this machine has no more"}}, {"cpu_cores", {2, "so"}}};
  reopen();
  CreateRequest absurd;
  absurd.limits.memory_bytes = 16ULL << 40;
  const auto refused = wait(service_->create(ann_, absurd));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  EXPECT_EQ(refused.error().field(), "limits.memory_mb");
  EXPECT_THAT(refused.error().message(), HasSubstr("at most 256"));
  absurd = {};
  absurd.limits.cpu_cores = 1024;
  EXPECT_EQ(wait(service_->create(ann_, absurd)).error().field(), "limits.cpu_cores");
  // What an environment wants is cut, and the session shows what it has.
  EXPECT_EQ(create().limits.memory_bytes, 256U << 20);
  CreateRequest fits;
  fits.limits.memory_bytes = 256U << 20;
  EXPECT_TRUE(wait(service_->create(ann_, fits)));
}

TEST_F(KeepingTest, SnapshotsHaveABoundInEachTenant) {
  keeping_.snapshot_count = 2;
  reopen();
  const Session session = create();
  ASSERT_TRUE(wait(service_->snapshot(ann_, session.session_id, "", {})));
  const auto second = wait(service_->snapshot(ann_, session.session_id, "", {}));
  ASSERT_TRUE(second);
  const auto refused = wait(service_->snapshot(ann_, session.session_id, "", {}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::no_space);
  EXPECT_THAT(refused.error().message(),
              HasSubstr("there are 2 snapshots, and 2 may be kept: remove some first"));
  const auto bobs = wait(service_->create(bob_, {}));
  EXPECT_TRUE(wait(service_->snapshot(bob_, bobs->session_id, "", {}))) << "another's are another's";
  ASSERT_TRUE(wait(service_->remove_snapshot(ann_, second->snapshot_id)));
  EXPECT_TRUE(wait(service_->snapshot(ann_, session.session_id, "", {})));
}

TEST_F(KeepingTest, OldSnapshotsGoFromTheDisk) {
  keeping_.snapshots = std::chrono::seconds(2);
  reopen();
  ASSERT_TRUE(wait(service_->start()));
  const Session session = create();
  const auto used = wait(service_->snapshot(ann_, session.session_id, "", {}));
  CreateRequest on_it;
  on_it.snapshot = used->snapshot_id;
  const Session user = create(on_it);
  const auto part = wait(service_->snapshot(ann_, session.session_id, "", {{kPartAttribute, "true"}}));
  const auto plain = wait(service_->snapshot(ann_, session.session_id, "", {}));
  ASSERT_TRUE(std::filesystem::exists(snapshot_directory(plain->snapshot_id)));
  EXPECT_TRUE(until([&] { return !std::filesystem::exists(snapshot_directory(plain->snapshot_id)); }));
  EXPECT_EQ(wait(service_->get_snapshot(ann_, plain->snapshot_id)).error().code(), Code::not_found);
  EXPECT_TRUE(wait(service_->get_snapshot(ann_, part->snapshot_id)))
      << "what is part of a template stays with it";
  EXPECT_TRUE(wait(service_->get_snapshot(ann_, used->snapshot_id))) << "a session stands on it";
}

TEST_F(KeepingTest, SessionsPausedOnTheDiskHaveABoundAndAnEnd) {
  keeping_.paused_count = 1;
  reopen();
  const Session first = create(), second = create();
  ASSERT_TRUE(wait(service_->pause(ann_, first.session_id, {.on_disk = true})));
  const auto refused = wait(service_->pause(ann_, second.session_id, {.on_disk = true}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::no_space);
  EXPECT_THAT(refused.error().message(),
              HasSubstr("1 sessions are paused on the disk, and 1 may be: end or resume one"));
  EXPECT_EQ(wait(service_->get(ann_, second.session_id))->state, State::running) << "what is refused runs on";
  EXPECT_TRUE(wait(service_->pause(ann_, second.session_id, {}))) << "in memory it may";
  const auto bobs = wait(service_->create(bob_, {}));
  EXPECT_TRUE(wait(service_->pause(bob_, bobs->session_id, {.on_disk = true})));
}

TEST_F(KeepingTest, ALongPauseEnds) {
  keeping_.paused = std::chrono::milliseconds(200);
  reopen();
  ASSERT_TRUE(wait(service_->start()));
  const Session session = create();
  const auto paused = wait(service_->pause(ann_, session.session_id, {.on_disk = true}));
  ASSERT_TRUE(paused) << paused.error().message();
  ASSERT_FALSE(paused->hibernation.empty());
  ASSERT_TRUE(std::filesystem::exists(snapshot_directory(paused->hibernation)));
  EXPECT_TRUE(until([&] { return wait(service_->get(ann_, session.session_id))->state == State::stopped; }));
  EXPECT_THAT(wait(service_->get(ann_, session.session_id))->reason, HasSubstr("paused for longer"));
  EXPECT_TRUE(until([&] { return !std::filesystem::exists(snapshot_directory(paused->hibernation)); }));
}

}  // namespace
}  // namespace atl::session
