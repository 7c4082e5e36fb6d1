// CPU time of a day, of executions and commands that run.
#include "session/cpu_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "quota/book.h"
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
  let_pass(std::chrono::milliseconds(600));
  EXPECT_EQ(book_->used_by_tenant(ann_.tenant)[Quota::executions], 1U) << "it still runs";
  ASSERT_TRUE(wait(command.process->signal(SIGKILL)));
  ASSERT_TRUE(wait(command.kept->finished(loop_.get_executor())));
}

}  // namespace
}  // namespace atl::session
