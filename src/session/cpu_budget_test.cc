// CPU time of a day, of executions and commands that run.
#include "session/cpu_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "quota/book.h"
#include "session/background_cpu.h"
#include "session/running_execution.h"
#include "session/service_harness_test.h"

namespace atl::session {
namespace {

using quota::Quota;
using testing::HasSubstr;

class CpuBudgetTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    book_ = std::make_unique<quota::QuotaBook>(*store_, quota::Quotas());
    controller_ = book_.get();
    service_.reset();
    quota_store_ = std::move(store_);
    open();
    ASSERT_TRUE(wait(service_->start()));
  }
  void bound(std::uint64_t seconds) {
    quota::Quotas quotas;
    quotas[Quota::cpu_seconds_per_day] = seconds;
    book_->set_tenant(ann_.tenant, quotas);
  }
  Command start_sleep(const Session& session) {
    auto started = wait(service_->start(ann_, session.session_id, {.argv = {"sleep"}, .background = true}));
    EXPECT_TRUE(started) << started.error().message();
    return std::get<Command>(std::move(*started));
  }
  std::uint64_t used() { return book_->used_by_tenant(ann_.tenant)[Quota::cpu_seconds_per_day]; }

  std::unique_ptr<store::Store> quota_store_;
  std::unique_ptr<quota::QuotaBook> book_;
};

TEST_F(CpuBudgetTest, WithoutABoundNobodyLooks) {
  const Session session = create();
  EXPECT_EQ(run(session, "work 5000000").status, Status::success);
  EXPECT_EQ(used(), 5U);
}

TEST_F(CpuBudgetTest, WhatRunsEndsWhenNothingIsLeft) {
  bound(3);
  const Session session = create();
  Command command = start_sleep(session);
  // Both run in one sandbox, so that each has half of what it used.
  EXPECT_EQ(run(session, "work 6000000").usage.cpu_time, std::chrono::seconds(3));
  const auto outcome = wait(command.process->wait());
  ASSERT_TRUE(outcome);
  const auto record = wait(command.kept->finished(loop_.get_executor()));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->status, Status::killed);
  EXPECT_THAT(record->reason, HasSubstr("cpu_seconds_per_day"));
  EXPECT_EQ(record->usage.cpu_time, std::chrono::seconds(3)) << "what it used, and not what was allowed";
  EXPECT_EQ(used(), 6U);
  auto next = wait(service_->run(ann_, session.session_id, {.code = "print x"}));
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code(), Code::resource_exhausted);
  EXPECT_TRUE(wait(service_->create(bob_, {}))) << "another tenant is not concerned";
}

TEST_F(CpuBudgetTest, WhatEndsWithItsSessionIsCharged) {
  bound(100);
  const Session session = create();
  Command command = start_sleep(session);
  run(session, "work 8000000");
  ASSERT_TRUE(until([&] {
    return book_->cpu_left({ann_.tenant, ann_.key_id})->time == std::chrono::seconds(92);
  }));
  ASSERT_TRUE(wait(service_->destroy(ann_, session.session_id)));
  ASSERT_TRUE(wait(command.kept->finished(loop_.get_executor())));
  EXPECT_EQ(used(), 8U);
  EXPECT_EQ(book_->used_by_tenant(ann_.tenant)[Quota::executions], 0U);
}

TEST_F(CpuBudgetTest, ABoundThatIsLiftedLetsItGoOn) {
  bound(2);
  const Session session = create();
  Command command = start_sleep(session);
  let_pass(std::chrono::milliseconds(20));
  book_->set_tenant(ann_.tenant, {});
  run(session, "work 60000000");
  let_pass(6 * CpuBudget::kLongest);
  EXPECT_EQ(book_->used_by_tenant(ann_.tenant)[Quota::executions], 1U) << "it still runs";
  ASSERT_TRUE(wait(command.process->signal(SIGKILL)));
  ASSERT_TRUE(wait(command.kept->finished(loop_.get_executor())));
}

// A command's record tells of the children that it waited for; the others are somebody's as well.
TEST_F(CpuBudgetTest, WhatIsLeftInTheBackgroundIsCharged) {
  const Session session = create();
  auto done = wait(service_->run_command(ann_, session.session_id, {.argv = {"work 4000000"}}, ""));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->usage.cpu_time, std::chrono::seconds(0));
  // Done for each who waits for its end: whoever reads its output, and the one who writes its record.
  EXPECT_TRUE(until([&] { return used() == 8; }));
  provider_.last->work(std::chrono::seconds(3));
  run(session, "print x");
  EXPECT_TRUE(until([&] { return used() == 11; })) << "used while nothing was executed";
}

TEST_F(CpuBudgetTest, WhoGoesOnInTheBackgroundIsPausedWhenNothingIsLeft) {
  bound(3);
  const Session session = create();
  run(session, "print x");
  provider_.last->work(std::chrono::seconds(2));
  let_pass(2 * BackgroundUse::kSeldom);
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::running) << "a second is left";
  provider_.last->work(std::chrono::seconds(2));
  ASSERT_TRUE(until([&] { return wait(service_->get(ann_, session.session_id))->state == State::paused; }));
  EXPECT_THAT(wait(service_->get(ann_, session.session_id))->reason, HasSubstr("cpu_seconds_per_day"));
  EXPECT_EQ(used(), 4U) << "what was used too much is charged";
  auto resumed = wait(service_->resume(ann_, session.session_id, {}));
  ASSERT_FALSE(resumed);
  EXPECT_EQ(resumed.error().code(), Code::resource_exhausted);
  bound(10);
  EXPECT_TRUE(wait(service_->resume(ann_, session.session_id, {})));
  EXPECT_EQ(run(session, "print x").status, Status::success);
}

TEST_F(CpuBudgetTest, ALittleAfterTheEndIsAllowedOnce) {
  bound(1);
  const Session session = create();
  run(session, "print x");
  provider_.last->work(std::chrono::seconds(1));
  ASSERT_TRUE(until([&] { return book_->cpu_left({ann_.tenant, ann_.key_id})->time.count() == 0; }));
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::paused)
      << "at once: it was all of it";
  bound(2);
  ASSERT_TRUE(wait(service_->resume(ann_, session.session_id, {})));
  book_->charge({ann_.tenant, ann_.key_id}, session.session_id, Quota::cpu_seconds_per_day, 1'000'000);
  provider_.last->work(BackgroundCpu::kAllowance / 2);
  let_pass(2 * BackgroundUse::kSeldom);
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::running);
  provider_.last->work(BackgroundCpu::kAllowance / 2);
  EXPECT_TRUE(until([&] { return wait(service_->get(ann_, session.session_id))->state == State::paused; }));
}

TEST_F(CpuBudgetTest, WhoCannotBePausedEnds) {
  provider_.can.pause = false;
  bound(1);
  const Session session = create();
  run(session, "print x");
  provider_.last->work(std::chrono::seconds(2));
  ASSERT_TRUE(until([&] { return wait(service_->get(ann_, session.session_id))->state == State::stopped; }));
  EXPECT_THAT(wait(service_->get(ann_, session.session_id))->reason, HasSubstr("cpu_seconds_per_day"));
}

// A guest that does not end what it is told to end is not believed: its sandbox ends.
TEST_F(CpuBudgetTest, WhatCannotBeEndedEndsWithItsSession) {
  bound(1);
  const Session session = create();
  auto started = wait(service_->start(ann_, session.session_id, {.argv = {"cling"}, .background = true}));
  ASSERT_TRUE(started);
  auto command = std::get<Command>(std::move(*started));
  let_pass(std::chrono::milliseconds(20));
  provider_.last->work(std::chrono::seconds(1));
  let_pass(3 * CpuBudget::kLongest);
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::running) << "it was told to end";
  provider_.last->work(std::chrono::seconds(1));
  const auto record = wait(command.kept->finished(loop_.get_executor()));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->status, Status::killed);
  EXPECT_THAT(record->reason, HasSubstr("cpu_seconds_per_day"));
  EXPECT_EQ(wait(service_->get(ann_, session.session_id))->state, State::stopped);
  EXPECT_EQ(used(), 2U);
}

}  // namespace
}  // namespace atl::session
