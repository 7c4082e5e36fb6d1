#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/service_harness_test.h"

namespace atl::session {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ForkServiceTest : public ServiceTest {
 protected:
  // Ended without a farewell, as by a kill, and another one on the same store.
  void kill_and_open() {
    ASSERT_TRUE(wait(service_->history(ann_, {})));
    old_services_.push_back(std::move(service_));
    old_stores_.push_back(std::move(store_));
    old_blobs_.push_back(std::move(blobs_));
    open();
    ASSERT_TRUE(wait(service_->start()));
  }
  void TearDown() override {
    ServiceTest::TearDown();
    for (auto& old : old_services_) (void)wait(old->shut_down("test"));
    old_services_.clear();
  }
  std::vector<decltype(store_)> old_stores_;
  std::vector<decltype(blobs_)> old_blobs_;
  std::vector<std::unique_ptr<LocalService>> old_services_;
};

TEST_F(ForkServiceTest, CopiesHaveTheSourcesInterpretersAndSettings) {
  const Session source = create({.metadata = {{"a", "1"}}});
  const std::string context = run(source, "print x").context;
  ForkRequest request;
  request.copies.assign(3, UpdateRequest{});
  request.copies[1].metadata = TextMap{{"a", "2"}};
  const auto forked = wait(service_->fork(ann_, source.session_id, request));
  ASSERT_TRUE(forked) << forked.error().message();
  EXPECT_THAT(forked->carried.interpreters, ElementsAre(context));
  ASSERT_THAT(forked->sessions, SizeIs(3));
  for (const auto& copy : forked->sessions) {
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->parent, source.session_id);
    EXPECT_NE(copy->secret, source.secret);
    EXPECT_NE(copy->traffic_token, source.traffic_token);
    EXPECT_THAT(copy->left_behind, IsEmpty());
    // The default interpreter is the one that was carried: no second one is made.
    EXPECT_EQ(run(*copy, "print x").context, context);
    EXPECT_THAT(*wait(service_->contexts(ann_, copy->session_id)), SizeIs(1));
  }
  EXPECT_EQ(forked->sessions[1]->metadata.at("a"), "2");
  EXPECT_EQ(forked->sessions[2]->metadata.at("a"), "1");
}

TEST_F(ForkServiceTest, TheSharedStateGoesWithTheLastCopy) {
  const Session source = create();
  ForkRequest request;
  request.copies.assign(2, UpdateRequest{});
  const auto forked = wait(service_->fork(ann_, source.session_id, request));
  ASSERT_TRUE(forked);
  const std::string state = folder_ + "/snapshots/" + forked->sessions[0]->snapshot;
  EXPECT_EQ(forked->sessions[0]->snapshot, forked->sessions[1]->snapshot);
  EXPECT_TRUE(std::filesystem::exists(state));
  ASSERT_TRUE(wait(service_->destroy(ann_, forked->sessions[0]->session_id)));
  let_pass(std::chrono::milliseconds(50));
  EXPECT_TRUE(std::filesystem::exists(state));
  ASSERT_TRUE(wait(service_->destroy(ann_, forked->sessions[1]->session_id)));
  EXPECT_TRUE(until([&] { return !std::filesystem::exists(state); }));
}

TEST_F(ForkServiceTest, ACopyThatFailsIsToldBesideTheOthers) {
  const Session source = create();
  provider_.faults->left["create"] = 1;
  provider_.faults->code = Code::no_space;
  ForkRequest request;
  request.copies.assign(2, UpdateRequest{});
  const auto forked = wait(service_->fork(ann_, source.session_id, request));
  ASSERT_TRUE(forked);
  EXPECT_NE(forked->sessions[0].has_value(), forked->sessions[1].has_value());
  request.copies.clear();
  EXPECT_EQ(wait(service_->fork(ann_, source.session_id, request)).error().code(), Code::invalid_argument);
}

TEST_F(ForkServiceTest, StrictForksAndPausesRefuseLosses) {
  const Session source = create();
  ASSERT_TRUE(
      wait(service_->create_context(ann_, source.session_id, {.language = sandbox::Language::shell})));
  EXPECT_EQ(wait(service_->fork(ann_, source.session_id, {.strict = true})).error().code(), Code::conflict);
  EXPECT_EQ(wait(service_->pause(ann_, source.session_id, {.on_disk = true})).error().code(), Code::conflict);
  EXPECT_EQ(wait(service_->get(ann_, source.session_id))->state, State::running);
  const auto forked = wait(service_->fork(ann_, source.session_id, {}));
  ASSERT_TRUE(forked);
  EXPECT_THAT(forked->carried.left_behind, SizeIs(1));
  const auto paused = wait(service_->pause(ann_, source.session_id, {.on_disk = true, .force = true}));
  ASSERT_TRUE(paused);
  EXPECT_THAT(paused->left_behind, SizeIs(1));
}

TEST_F(ForkServiceTest, SleepsOnTheDiskThroughRestarts) {
  const Session session = create();
  const std::string context = run(session, "print x").context;
  const auto paused = wait(service_->pause(ann_, session.session_id, {.on_disk = true}));
  ASSERT_TRUE(paused) << paused.error().message();
  EXPECT_EQ(paused->state, State::paused);
  EXPECT_FALSE(paused->hibernation.empty());
  EXPECT_EQ(wait(service_->usage(ann_, session.session_id)).error().code(), Code::conflict);
  // The first was killed before its sandbox was gone; the second ends in order.
  provider_.running = {session.sandbox_id};
  kill_and_open();
  provider_.running.clear();
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::paused);
  ASSERT_TRUE(wait(service_->shut_down("test")));
  kill_and_open();
  const auto woken = wait(service_->resume(ann_, session.session_id, std::nullopt));
  ASSERT_TRUE(woken) << woken.error().message();
  EXPECT_EQ(woken->state, State::running);
  EXPECT_TRUE(woken->hibernation.empty());
  EXPECT_THAT(woken->left_behind, IsEmpty());
  EXPECT_EQ(run(session, "print x").context, context);
  // Again, and then its end takes the state along.
  const auto again = wait(service_->pause(ann_, session.session_id, {.on_disk = true}));
  ASSERT_TRUE(again);
  ASSERT_TRUE(wait(service_->destroy(ann_, session.session_id)));
  EXPECT_TRUE(until([&] { return std::filesystem::is_empty(folder_ + "/snapshots"); }));
}

// Paused in memory, by whatever dialect or by the end of its time: a service that ends in order writes it
// down first.
TEST_F(ForkServiceTest, WhatIsPausedOutlivesAnOrderlyEnd) {
  const Session session = create();
  const std::string context = run(session, "print x").context;
  ASSERT_TRUE(
      wait(service_->create_context(ann_, session.session_id, {.language = sandbox::Language::shell})));
  const Session running = create();
  ASSERT_TRUE(wait(service_->pause(ann_, session.session_id, {})));
  ASSERT_TRUE(wait(service_->shut_down("test")));
  kill_and_open();
  EXPECT_EQ(wait(service_->get(ann_, running.session_id))->state, State::stopped);
  const auto kept = wait(service_->get(ann_, session.session_id));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->state, State::paused);
  EXPECT_EQ(kept->reason, "by request; on disk since the service stopped");
  EXPECT_THAT(kept->left_behind, SizeIs(1)) << "the shell, by name";
  const auto woken = wait(service_->resume(ann_, session.session_id, std::nullopt));
  ASSERT_TRUE(woken) << woken.error().message();
  EXPECT_EQ(woken->left_behind, kept->left_behind);
  EXPECT_EQ(run(session, "print x").context, context);
}

// It ends then, as everything else does, and says so.
TEST_F(ForkServiceTest, WhatIsPausedAndCannotBeWrittenDownEnds) {
  const Session session = create();
  ASSERT_TRUE(wait(service_->pause(ann_, session.session_id, {})));
  provider_.faults->left["snapshot"] = 1000;
  provider_.faults->code = Code::no_space;
  ASSERT_TRUE(wait(service_->shut_down("test")));
  kill_and_open();
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::stopped);
}

class ToDiskTest : public ForkServiceTest {
 protected:
  void SetUp() override {
    to_disk_after_ = std::chrono::milliseconds(1);
    ForkServiceTest::SetUp();
    ASSERT_TRUE(wait(service_->start()));
  }
  Session look(const Session& session) {
    return wait(service_->get(ann_, session.session_id)).value_or(Session{});
  }
  Session pause(const Session& session) {
    return wait(service_->pause(ann_, session.session_id, {})).value_or(Session{});
  }
  int calls(const std::string& name) { return provider_.faults->calls[name]; }
};

TEST_F(ToDiskTest, WhatIsPausedForLongGoesToTheDisk) {
  const Session session = create();
  const std::string context = run(session, "print x").context;
  EXPECT_TRUE(pause(session).hibernation.empty());
  ASSERT_TRUE(until([&] { return !look(session).hibernation.empty(); }));
  EXPECT_EQ(look(session).state, State::paused);
  EXPECT_EQ(look(session).reason, "by request; on disk meanwhile");
  const auto woken = wait(service_->resume(ann_, session.session_id, std::nullopt));
  ASSERT_TRUE(woken) << woken.error().message();
  EXPECT_THAT(woken->left_behind, IsEmpty());
  EXPECT_EQ(run(session, "print x").context, context);
}

TEST_F(ToDiskTest, WhatCouldNotBeCarriedStaysInMemoryAndIsNotWokenForIt) {
  const Session with_shell = create(), with_process = create();
  ASSERT_TRUE(
      wait(service_->create_context(ann_, with_shell.session_id, {.language = sandbox::Language::shell})));
  ASSERT_TRUE(wait(service_->start(ann_, with_process.session_id, {.argv = {"sleep"}, .background = true})));
  pause(with_shell), pause(with_process);
  let_pass(std::chrono::milliseconds(500));
  EXPECT_TRUE(look(with_shell).hibernation.empty());
  EXPECT_TRUE(look(with_process).hibernation.empty());
  EXPECT_EQ(calls("resume"), 0);
  EXPECT_TRUE(wait(service_->resume(ann_, with_shell.session_id, std::nullopt)));
}

TEST_F(ToDiskTest, WhatCannotBeWrittenIsPausedAgain) {
  const Session session = create();
  provider_.faults->left["snapshot"] = 1000;
  provider_.faults->code = Code::no_space;
  pause(session);
  ASSERT_TRUE(until([&] { return calls("pause") == 2; }));
  provider_.faults->left["snapshot"] = 0;
  let_pass(std::chrono::milliseconds(300));
  EXPECT_EQ(look(session).state, State::paused);
  EXPECT_TRUE(look(session).hibernation.empty()) << "tried once a pause";
  EXPECT_TRUE(wait(service_->resume(ann_, session.session_id, std::nullopt)));
}

TEST_F(ToDiskTest, WhatAnotherServicePausedGoesToTheDiskToo) {
  to_disk_after_ = std::chrono::milliseconds(0);
  kill_and_open();
  const Session session = create();
  pause(session);
  provider_.running = {session.sandbox_id};
  to_disk_after_ = std::chrono::milliseconds(1);
  kill_and_open();
  EXPECT_TRUE(until([&] { return !look(session).hibernation.empty(); }));
}

TEST_F(ForkServiceTest, SleepsWithoutItsInterpretersIfOnlyFilesAreWanted) {
  const Session session = create();
  run(session, "print x");
  EXPECT_THAT(*wait(service_->contexts(ann_, session.session_id)), SizeIs(1));
  const auto paused = wait(service_->pause(ann_, session.session_id, {.on_disk = true, .files_only = true}));
  ASSERT_TRUE(paused) << paused.error().message();
  EXPECT_EQ(paused->state, State::paused);
  EXPECT_FALSE(paused->hibernation.empty());
  EXPECT_THAT(paused->left_behind, IsEmpty());
  const auto woken = wait(service_->resume(ann_, session.session_id, std::nullopt));
  ASSERT_TRUE(woken) << woken.error().message();
  EXPECT_EQ(woken->state, State::running);
  EXPECT_THAT(*wait(service_->contexts(ann_, session.session_id)), IsEmpty());
  run(session, "print x");
}

TEST_F(ForkServiceTest, AStateThatCannotBeReadGivesFilesOnlyAndOneThatFailsStays) {
  const Session session = create();
  run(session, "print x");
  ASSERT_TRUE(wait(service_->pause(ann_, session.session_id, {.on_disk = true})));
  provider_.faults->left["create"] = 1;
  provider_.faults->code = Code::no_space;
  EXPECT_FALSE(wait(service_->resume(ann_, session.session_id, std::nullopt)));
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::paused);
  provider_.captures->clear();
  const auto woken = wait(service_->resume(ann_, session.session_id, std::nullopt));
  ASSERT_TRUE(woken) << woken.error().message();
  ASSERT_THAT(woken->left_behind, SizeIs(1));
  EXPECT_THAT(woken->left_behind.front(), HasSubstr("damaged"));
  EXPECT_EQ(run(session, "print x").out, "x\n");
}

}  // namespace
}  // namespace atl::session
