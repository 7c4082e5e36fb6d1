#include "tools/tool_executor.h"

#include <gtest/gtest.h>

#include <fstream>

#include "session/retry.h"
#include "session/service_harness_test.h"

namespace atl::tools {
namespace {

namespace asio = boost::asio;
namespace bj = boost::json;

// Calls through a session service whose provider fails on demand.
class ToolExecutorTest : public session::ServiceTest {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-tools-XXXXXX";
    declared_ = ::mkdtemp(name);
    std::filesystem::create_directories(declared_ + "/tools");
    declare("again", R"(run: {command: [say, "print 7"]}, idempotent: true)");
    declare("once", R"(run: {command: [say, "print 7"]})");
    declare("again_fresh", R"(run: {command: [say, "print 7"], sandbox: fresh}, idempotent: true)");
    declare("again_code", R"(run: {code: "print 7", language: shell}, idempotent: true)");
    declare("fails", R"(run: {command: [say, "exit 3"]}, idempotent: true)");
    declare("late", R"(run: {command: [say, late]}, idempotent: true)");
    declare("full", R"(run: {command: [say, oom]}, idempotent: true)");
    declare("lies", R"(run: {command: [say, "print no number"]}, idempotent: true)");
    declare("kept", R"(run: {command: [say, "print 7"]}, pure: true)");
    declare("waits", R"(run: {command: [sleep]})");
    session::ServiceTest::SetUp();
    auto registry = registry::Registry::load(declared_);
    ASSERT_TRUE(registry) << registry.error().message();
    *registry_ = std::move(*registry);
    auto tools = ToolRegistry::open(registry_.get());
    ASSERT_TRUE(tools) << tools.error().message();
    tools_ = std::move(*tools);
    ToolExecutor::Options options;
    options.session_calls_max = 2;
    executor_ = std::make_unique<ToolExecutor>(loop_.get_executor(), service_.get(), tools_.get(), clock_,
                                               std::move(options));
    session_ = create().session_id;
    provider_.faults->calls.clear();
  }
  void TearDown() override {
    session::ServiceTest::TearDown();
    std::filesystem::remove_all(declared_);
  }
  void declare(const std::string& name, const std::string& rest) const {
    std::ofstream(declared_ + "/tools/" + name + ".yaml")
        << "{name: " << name << ", description: x, output: {type: integer}, " << rest << "}\n";
  }
  Result<ToolResult> call(const std::string& name) {
    return wait(executor_->call(ann_, {session_, name, bj::object(), std::nullopt}));
  }
  int calls(const std::string& of) const { return provider_.faults->calls[of]; }
  void fail_next(const std::string& of, int times, Code code = Code::unavailable) {
    provider_.faults->left[of] = times;
    provider_.faults->code = code;
  }

  std::string declared_, session_;
  std::unique_ptr<ToolRegistry> tools_;
  std::unique_ptr<ToolExecutor> executor_;
};

TEST_F(ToolExecutorTest, WhatIsIdempotentIsTriedAgainAfterAFailureThatPasses) {
  fail_next("start", 2);
  const auto result = call("again");
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->status, session::Status::success);
  EXPECT_EQ(result->output, 7);
  EXPECT_EQ(calls("start"), 3);
  // One call, one record of it, and what it says is how it ended.
  const ToolStatistics* told = executor_->statistics("one", "again");
  ASSERT_NE(told, nullptr);
  EXPECT_EQ(told->calls, 1U);
  EXPECT_TRUE(told->failures.empty());
}

TEST_F(ToolExecutorTest, WhatIsNotIdempotentIsAskedOnce) {
  fail_next("start", 1);
  const auto result = call("once");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::unavailable);
  EXPECT_EQ(calls("start"), 1);
  EXPECT_EQ(call("once")->output, 7) << "the caller may";
}

TEST_F(ToolExecutorTest, TriesComeToAnEnd) {
  fail_next("start", 1000);
  const auto result = call("again");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::unavailable);
  EXPECT_EQ(calls("start"), session::kAttempts);
  fail_next("start", 0);
  EXPECT_EQ(call("again")->output, 7) << "no place among the calls is lost";
}

TEST_F(ToolExecutorTest, AFailureThatStaysIsNotTriedAgain) {
  fail_next("start", 1, Code::invalid_argument);
  EXPECT_EQ(call("again").error().code(), Code::invalid_argument);
  EXPECT_EQ(calls("start"), 1);
}

// What a program did is an answer, also if it is a bad one: another run would do it again.
TEST_F(ToolExecutorTest, WhatAToolDidIsNotTriedAgain) {
  const std::pair<const char*, session::Status> cases[] = {{"fails", session::Status::error},
                                                           {"late", session::Status::timeout},
                                                           {"full", session::Status::oom},
                                                           {"lies", session::Status::error}};
  for (const auto& [name, status] : cases) {
    SCOPED_TRACE(name);
    provider_.faults->calls.clear();
    const auto result = call(name);
    ASSERT_TRUE(result) << result.error().message();
    EXPECT_EQ(result->status, status);
    EXPECT_TRUE(result->output.is_null());
    EXPECT_EQ(calls("start"), 1);
  }
}

TEST_F(ToolExecutorTest, AFreshSandboxIsMadeAnewForEachTry) {
  fail_next("start", 1);
  const auto result = call("again_fresh");
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->output, 7);
  EXPECT_EQ(calls("start"), 2);
  EXPECT_EQ(calls("create"), 2);
  // Both end.
  EXPECT_TRUE(until([&] {
    const auto alive = service_->peek_all();
    return alive.size() == 1 && alive.front().session_id == session_;
  }));
}

TEST_F(ToolExecutorTest, CodeIsTriedAgainAsWell) {
  fail_next("execute", 1);
  const auto result = call("again_code");
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->output, 7);
}

TEST_F(ToolExecutorTest, AKeptResultAsksNobody) {
  EXPECT_FALSE(call("kept")->cached);
  EXPECT_TRUE(call("kept")->cached);
  EXPECT_EQ(calls("start"), 1);
  EXPECT_EQ(executor_->statistics("one", "kept")->cached, 1U);
  EXPECT_EQ(executor_->statistics("two", "kept"), nullptr) << "each tenant has its own counts";
}

TEST_F(ToolExecutorTest, WhatIsUnknownOrNotOnesOwnIsNotThere) {
  EXPECT_EQ(call("nothing").error().code(), Code::not_found);
  EXPECT_EQ(wait(executor_->call(bob_, {session_, "again", bj::object(), std::nullopt})).error().code(),
            Code::not_found);
  EXPECT_EQ(wait(executor_->call(ann_, {"ses_none", "again", bj::object(), std::nullopt})).error().code(),
            Code::not_found);
  EXPECT_FALSE(executor_->check(ann_, {session_, "nothing", bj::object(), std::nullopt}));
  EXPECT_FALSE(*executor_->check(ann_, {session_, "again", bj::object(), std::nullopt}));
}

TEST_F(ToolExecutorTest, TooManyAtOnceAreRefusedAndPlacesComeBack) {
  int ended = 0;
  for (int i = 0; i < 2; ++i)
    asio::co_spawn(loop_, executor_->call(ann_, {session_, "waits", bj::object(), std::nullopt}),
                   [&](std::exception_ptr, Result<ToolResult>) { ++ended; });
  ASSERT_TRUE(until([&] { return calls("start") == 2; }));
  EXPECT_EQ(call("again").error().code(), Code::resource_exhausted);
  ASSERT_TRUE(wait(service_->destroy(ann_, session_)));
  EXPECT_TRUE(until([&] { return ended == 2; }));
  session_ = create().session_id;
  EXPECT_EQ(call("again")->output, 7);
  EXPECT_EQ(executor_->totals().at("waits").calls, 2U);
}

}  // namespace
}  // namespace atl::tools
