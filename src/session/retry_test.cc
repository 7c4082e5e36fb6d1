// A provider that is not well: what may be asked again is asked again, what runs code is not.
#include "session/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "session/service_harness_test.h"

namespace atl::session {
namespace {

using testing::HasSubstr;

class RetryTest : public ServiceTest {
 protected:
  fake::Faults& faults() { return *provider_.faults; }
  void fail_next(const std::string& call, int times, Code code = Code::unavailable) {
    faults().calls[call] = 0;
    faults().left[call] = times;
    faults().code = code;
  }
};

TEST_F(RetryTest, PassingFailuresOfCreateAreRetriedOthersNot) {
  fail_next("create", 2);
  EXPECT_EQ(create().state, State::running);
  EXPECT_EQ(faults().calls["create"], 3);
  fail_next("create", 1, Code::unsupported);
  EXPECT_EQ(wait(service_->create(ann_, {})).error().code(), Code::unsupported);
  EXPECT_EQ(faults().calls["create"], 1);
  fail_next("create", 100, Code::provider_failed);
  EXPECT_EQ(wait(service_->create(ann_, {})).error().code(), Code::provider_failed);
  EXPECT_EQ(faults().calls["create"], kAttempts);
  const auto failed = *wait(service_->list(ann_, {.states = {State::failed}}));
  EXPECT_EQ(failed.items.size(), 2U);
}

TEST_F(RetryTest, WhatRunsNoCodeIsAskedAgainAFewTimes) {
  ASSERT_TRUE(wait(service_->start()));
  const Session session = create();
  const std::string& id = session.session_id;
  const std::string context = wait(service_->create_context(ann_, id, {}))->id;
  const auto to_void = [](const auto& result) { return result ? Result<void>() : fail(result.error()); };
  const std::vector<std::pair<std::string, std::function<Result<void>()>>> asked = {
      {"kernel", [&] { return to_void(wait(service_->create_context(ann_, id, {}))); }},
      {"restart", [&] { return wait(service_->restart_context(ann_, id, context)); }},
      {"snapshot", [&] { return to_void(wait(service_->snapshot(ann_, id, "", {}))); }},
      {"snapshot", [&] { return to_void(wait(service_->fork(ann_, id, {}))); }},
      {"pause", [&] { return to_void(wait(service_->pause(ann_, id, {}))); }},
      {"resume", [&] { return to_void(wait(service_->resume(ann_, id, std::nullopt))); }},
  };
  for (const auto& [call, ask] : asked) {
    fail_next(call, 1, Code::unsupported);
    EXPECT_EQ(ask().error().code(), Code::unsupported) << call;
    EXPECT_EQ(faults().calls[call], 1) << call;
    fail_next(call, 100);
    EXPECT_EQ(ask().error().code(), Code::unavailable) << call;
    EXPECT_EQ(faults().calls[call], kAttempts) << call;
    fail_next(call, kAttempts - 1);
    const auto done = ask();
    EXPECT_TRUE(done) << call << ": " << done.error().message();
    EXPECT_EQ(faults().calls[call], kAttempts) << call;
  }
  EXPECT_EQ(wait(service_->get(ann_, id))->state, State::running);
}

TEST_F(RetryTest, AInterpreterThatComesLateRunsTheCodeOnce) {
  const Session session = create();
  fail_next("kernel", 2);
  const auto record = run(session, "print once");
  EXPECT_EQ(record.out, "once\n");
  EXPECT_EQ(faults().calls["kernel"], 3);
  EXPECT_EQ(faults().calls["execute"], 1);
}

// A provider whose failures take their time, such as an engine that hangs, is not waited for four times.
TEST_F(RetryTest, WhoeverWaitedLongIsNotLeftWaiting) {
  int calls = 0;
  const auto began = std::chrono::steady_clock::now();
  const auto executor = loop_.get_executor();
  const std::function<Task<void>()> slow = [&]() -> Task<void> {
    ++calls;
    asio::steady_timer timer(executor, kRetryTime / 2 + std::chrono::milliseconds(50));
    co_await timer.async_wait(asio::use_awaitable);
    co_return fail(Code::deadline_exceeded, "the engine did not answer in time");
  };
  const std::function<log::Subject()> about = [] { return log::Subject{}; };
  const std::function<bool()> wanted = [] { return true; };
  const auto answer = wait(with_retries<void>(executor, "x", about, slow, wanted));
  EXPECT_EQ(answer.error().code(), Code::deadline_exceeded);
  EXPECT_EQ(calls, 2);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3 * kRetryTime);
}

// Whatever is written while a request is worked on says which one, and for whom.
TEST_F(RetryTest, TheLogSaysOnWhoseBehalf) {
  ASSERT_TRUE(wait(service_->start()));
  Principal who = ann_;
  who.trace = *trace::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  const Session session = create();
  const std::string& id = session.session_id;
  const std::string context = wait(service_->create_context(ann_, id, {}))->id;
  const std::vector<std::pair<std::string, std::function<void()>>> asked = {
      {"kernel", [&] { (void)wait(service_->create_context(who, id, {})); }},
      {"restart", [&] { (void)wait(service_->restart_context(who, id, context)); }},
      {"snapshot", [&] { (void)wait(service_->snapshot(who, id, "", {})); }},
      {"pause", [&] { (void)wait(service_->pause(who, id, {})); }},
      {"resume", [&] { (void)wait(service_->resume(who, id, std::nullopt)); }}};
  const std::string whose =
      R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","tenant":"one","session_id":")" + id + '"';
  for (const auto& [call, ask] : asked) {
    fail_next(call, 1);
    testing::internal::CaptureStderr();
    ask();
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(whose)) << call;
  }
  fail_next("create", 1);
  testing::internal::CaptureStderr();
  const auto made = wait(service_->create(who, {}));
  ASSERT_TRUE(made);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr(R"(36","tenant":"one","session_id":")" + made->session_id + '"'));
  // A request that is over is not told of any more.
  fail_next("pause", 1);
  testing::internal::CaptureStderr();
  ASSERT_TRUE(wait(service_->pause(ann_, id, {})));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::AllOf(HasSubstr(id), testing::Not(HasSubstr("trace_id"))));
}

TEST_F(RetryTest, CodeIsNeverSentTwice) {
  const Session session = create();
  ASSERT_EQ(run(session, "print first").status, Status::success);
  fail_next("execute", 1);
  EXPECT_EQ(wait(service_->run(ann_, session.session_id, {.code = "print x"})).error().code(),
            Code::unavailable);
  EXPECT_EQ(faults().calls["execute"], 1);
  fail_next("start", 1);
  EXPECT_FALSE(wait(service_->run(ann_, session.session_id, {.code = "print x", .stateless = true})));
  EXPECT_EQ(faults().calls["start"], 1);
  fail_next("start", 1);
  EXPECT_FALSE(wait(service_->run_command(ann_, session.session_id, {.argv = {"print x"}}, "")));
  EXPECT_EQ(faults().calls["start"], 1);
  const auto history = *wait(service_->history(ann_, {.statuses = {Status::error}}));
  ASSERT_EQ(history.items.size(), 3U);
  for (const ExecutionRecord& record : history.items) {
    EXPECT_EQ(record.error, "ProviderError");
    EXPECT_EQ(record.reason, "unavailable");
  }
}

TEST_F(RetryTest, NobodyWaitsForASandboxThatEndedMeanwhile) {
  const Session session = create();
  fail_next("kernel", 100);
  std::optional<Result<ExecutionRecord>> record;
  asio::co_spawn(
      loop_, service_->run(ann_, session.session_id, {.code = "print x"}),
      [&](std::exception_ptr, Result<ExecutionRecord> value) { record.emplace(std::move(value)); });
  ASSERT_TRUE(until([&] { return faults().calls["kernel"] > 0; }));
  ASSERT_TRUE(wait(service_->destroy(ann_, session.session_id)));
  ASSERT_TRUE(until([&] { return record.has_value(); }));
  EXPECT_LT(faults().calls["kernel"], kAttempts);
  ASSERT_TRUE(*record) << record->error().message();
  EXPECT_EQ((*record)->status, Status::killed);
  EXPECT_THAT((*record)->reason, HasSubstr("its session ended"));
}

TEST_F(RetryTest, ASnapshotThatFailedLeavesNothing) {
  ASSERT_TRUE(wait(service_->start()));
  const Session session = create();
  fail_next("snapshot", 100);
  EXPECT_FALSE(wait(service_->snapshot(ann_, session.session_id, "", {})));
  EXPECT_FALSE(wait(service_->fork(ann_, session.session_id, {})));
  EXPECT_TRUE(std::filesystem::is_empty(folder_ + "/snapshots"));
  EXPECT_EQ(wait(service_->list(ann_, {}))->items.size(), 1U);
}

}  // namespace
}  // namespace atl::session
