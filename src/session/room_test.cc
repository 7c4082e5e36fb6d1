#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/service_harness_test.h"

// How many sessions may run, and who is told what when one more cannot.
namespace atl::session {
namespace {

class RoomTest : public ServiceTest {
 protected:
  void limit(std::uint32_t running_per_tenant, std::uint32_t sandboxes_max) {
    running_per_tenant_ = running_per_tenant;
    sandboxes_max_ = sandboxes_max;
    service_.reset();
    open();
  }
  Code refusal(Task<Session> task) {
    auto answer = wait(std::move(task));
    EXPECT_FALSE(answer);
    return answer ? Code::internal : answer.error().code();
  }
};

TEST_F(RoomTest, ATenantHasItsOwnRoom) {
  limit(2, 0);
  const Session first = create(), second = create();
  EXPECT_EQ(refusal(service_->create(ann_, {})), Code::resource_exhausted);
  EXPECT_TRUE(wait(service_->create(bob_, {})));
  // What is refused leaves nothing behind, not even a record of a failure.
  EXPECT_EQ(wait(service_->list(ann_, {}))->items.size(), 2U);
  ASSERT_TRUE(wait(service_->destroy(ann_, first.session_id)));
  EXPECT_TRUE(wait(service_->create(ann_, {})));
}

TEST_F(RoomTest, WhatIsPausedRunsNotAndWaitsForRoomToWake) {
  limit(1, 0);
  CreateRequest request;
  request.auto_resume = true;
  const Session first = create(request);
  ASSERT_TRUE(wait(service_->pause(ann_, first.session_id, {})));
  const Session second = create();
  EXPECT_EQ(refusal(service_->resume(ann_, first.session_id, std::nullopt)), Code::resource_exhausted);
  const auto woken_by_use = wait(service_->files(ann_, first.session_id));
  ASSERT_FALSE(woken_by_use);
  EXPECT_EQ(woken_by_use.error().code(), Code::resource_exhausted);
  EXPECT_EQ(wait(service_->get(ann_, first.session_id))->state, State::paused);
  ASSERT_TRUE(wait(service_->pause(ann_, second.session_id, {})));
  EXPECT_TRUE(wait(service_->resume(ann_, first.session_id, std::nullopt)));
}

TEST_F(RoomTest, ARestoreOfWhatIsPausedNeedsRoomToo) {
  limit(1, 0);
  const Session first = create();
  const auto snapshot = wait(service_->snapshot(ann_, first.session_id, "", {}));
  ASSERT_TRUE(snapshot) << snapshot.error().message();
  EXPECT_TRUE(wait(service_->restore(ann_, first.session_id, snapshot->snapshot_id)));
  ASSERT_TRUE(wait(service_->pause(ann_, first.session_id, {})));
  create();
  EXPECT_EQ(refusal(service_->restore(ann_, first.session_id, snapshot->snapshot_id)),
            Code::resource_exhausted);
  EXPECT_EQ(wait(service_->get(ann_, first.session_id))->state, State::paused);
}

TEST_F(RoomTest, TheMachinesRoomIsEverybodysAndPausedSandboxesStandInIt) {
  limit(0, 2);
  const Session first = create();
  ASSERT_TRUE(wait(service_->create(bob_, {})));
  EXPECT_EQ(refusal(service_->create(bob_, {})), Code::unavailable);
  ASSERT_TRUE(wait(service_->pause(ann_, first.session_id, {})));
  EXPECT_EQ(refusal(service_->create(ann_, {})), Code::unavailable);
  // It stands already.
  EXPECT_TRUE(wait(service_->resume(ann_, first.session_id, std::nullopt)));
  ASSERT_TRUE(wait(service_->pause(ann_, first.session_id, {.on_disk = true})));
  ASSERT_TRUE(wait(service_->create(ann_, {})));
  EXPECT_EQ(refusal(service_->resume(ann_, first.session_id, std::nullopt)), Code::unavailable);
}

TEST_F(RoomTest, OfAForkWhatFitsIsMade) {
  limit(3, 0);
  const Session source = create();
  ForkRequest request;
  request.copies.assign(4, UpdateRequest{});
  const auto forked = wait(service_->fork(ann_, source.session_id, request));
  ASSERT_TRUE(forked) << forked.error().message();
  ASSERT_EQ(forked->sessions.size(), 4U);
  EXPECT_EQ(std::ranges::count_if(forked->sessions, [](const auto& one) { return one.has_value(); }), 2);
  for (const auto& one : forked->sessions) {
    if (!one) {
      EXPECT_EQ(one.error().code(), Code::resource_exhausted);
    }
  }
  EXPECT_EQ(wait(service_->fork(ann_, source.session_id, request)).error().code(), Code::resource_exhausted);
}

TEST_F(RoomTest, WhatRunsOutOnTheMachineIsNotTheCallersLimit) {
  provider_.faults->left["create"] = 1000;
  provider_.faults->code = Code::resource_exhausted;
  EXPECT_EQ(refusal(service_->create(ann_, {})), Code::unavailable);
}

}  // namespace
}  // namespace atl::session
