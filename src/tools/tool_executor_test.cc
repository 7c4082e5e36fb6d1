#include "tools/tool_executor.h"

#include <fmt/format.h>
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
    declare("kept_fresh", R"(run: {command: [say, "print 7"], sandbox: fresh}, pure: true)");
    // A list of 15,000 takes more steps than the loop makes itself, one of 510,000 more than anybody.
    declare("listed", R"(run: {command: [say, "print 7"]}, input: {items: {type: integer}})");
    declare_heavy_output();
    declare("waits_fresh", R"(run: {command: [sleep], sandbox: fresh})");
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
  // Its schema leads to the same place 6,561 times.
  void declare_heavy_output() const {
    std::ofstream file(declared_ + "/tools/lists.yaml");
    file << "{name: lists, description: x, run: {command: [say, 'print []']}, output: {definitions: {d0: "
            "{const: []}";
    for (int i = 1; i <= 8; ++i) {
      const std::string below = fmt::format("{{$ref: '#/definitions/d{}'}}", i - 1);
      file << fmt::format(", d{}: {{allOf: [{}, {}, {}]}}", i, below, below, below);
    }
    file << "}, $ref: '#/definitions/d8'}}\n";
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

// It may reach what its tenant may not: whoever else could run something in there would have the tool's
// rights.
TEST_F(ToolExecutorTest, AFreshSandboxIsItsCallsAlone) {
  bool ended = false;
  asio::co_spawn(loop_, executor_->call(ann_, {session_, "waits_fresh", bj::object(), std::nullopt}),
                 [&](std::exception_ptr, Result<ToolResult>) { ended = true; });
  ASSERT_TRUE(until([&] { return calls("start") == 1; }));
  const auto made =
      service_->peek_if([&](const session::Session& one) { return one.session_id != session_; });
  ASSERT_TRUE(made);
  for (const std::string& id : {made->session_id, made->sandbox_id}) {
    const auto refused = [&](const auto& answer) {
      return !answer && answer.error().code() == Code::permission_denied;
    };
    EXPECT_TRUE(refused(wait(service_->run(ann_, id, {.code = "print 1"}))));
    session::CommandRequest command;
    command.argv = {"say", "print 1"};
    EXPECT_TRUE(refused(wait(service_->run_command(ann_, id, command, ""))));
    EXPECT_TRUE(refused(wait(service_->start(ann_, id, command))));
    EXPECT_TRUE(refused(wait(service_->files(ann_, id))));
    EXPECT_TRUE(refused(wait(service_->processes(ann_, id))));
    EXPECT_TRUE(refused(wait(service_->connect(ann_, id, 80))));
    EXPECT_TRUE(refused(wait(service_->pause(ann_, id, {}))));
    EXPECT_TRUE(refused(wait(service_->snapshot(ann_, id, "", {}))));
    EXPECT_TRUE(refused(wait(service_->fork(ann_, id, {}))));
    EXPECT_TRUE(refused(wait(service_->update(ann_, id, {}))));
    EXPECT_TRUE(refused(wait(service_->update_network(ann_, id, {}))));
    EXPECT_TRUE(refused(wait(service_->admit_tool(ann_, id, {"once", "{}"}))));
    EXPECT_TRUE(wait(service_->get(ann_, id))) << "it can be looked at";
  }
  EXPECT_FALSE(ended);
  ASSERT_TRUE(wait(service_->destroy(ann_, made->session_id))) << "and ended";
  EXPECT_TRUE(until([&] { return ended; }));
}

TEST_F(ToolExecutorTest, CodeIsTriedAgainAsWell) {
  fail_next("execute", 1);
  const auto result = call("again_code");
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->output, 7);
}

TEST_F(ToolExecutorTest, InputThatNoShellCanBeGivenIsTooLarge) {
  const bj::object large{{"a", std::string(70'000, 'x')}};
  const auto result = wait(executor_->call(ann_, {session_, "again_code", large, std::nullopt}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::too_large);
  EXPECT_EQ(result.error().field(), "input");
  EXPECT_EQ(call("again_code")->output, 7);
}

TEST_F(ToolExecutorTest, AKeptResultAsksNobody) {
  EXPECT_FALSE(call("kept")->cached);
  EXPECT_TRUE(call("kept")->cached);
  EXPECT_EQ(calls("start"), 1);
  EXPECT_EQ(executor_->statistics("one", "kept")->cached, 1U);
  EXPECT_EQ(executor_->statistics("two", "kept"), nullptr) << "each tenant has its own counts";
}

// Whoever is in a sandbox decides what its programs answer: that is nothing to keep for others.
TEST_F(ToolExecutorTest, WhatASandboxAnsweredIsKeptForItsSessionAlone) {
  EXPECT_FALSE(call("kept")->cached);
  EXPECT_FALSE(call("kept_fresh")->cached);
  const std::string first = std::exchange(session_, create().session_id);
  EXPECT_FALSE(call("kept")->cached);
  EXPECT_TRUE(call("kept")->cached);
  EXPECT_TRUE(call("kept_fresh")->cached) << "a sandbox that was made for the call is nobody's";
  session_ = first;
  EXPECT_TRUE(call("kept")->cached);
}

// The same answers, whether the loop checks or a thread beside it.
TEST_F(ToolExecutorTest, ChecksOfManyStepsAreMadeBesideTheLoop) {
  os::FairPool pool(2);
  for (os::FairPool* workers : {static_cast<os::FairPool*>(nullptr), &pool}) {
    SCOPED_TRACE(workers != nullptr);
    ToolExecutor::Options options;
    options.workers = workers;
    executor_ = std::make_unique<ToolExecutor>(loop_.get_executor(), service_.get(), tools_.get(), clock_,
                                               std::move(options));
    const auto listed = [&](bj::array input) {
      return wait(executor_->call(ann_, {session_, "listed", std::move(input), std::nullopt}));
    };
    EXPECT_EQ(listed(bj::array(9'000, 1))->output, 7);
    bj::array wrong(15'000, 1);
    wrong.back() = "x";
    EXPECT_EQ(listed(std::move(wrong)).error().field(), "/14999");
    const auto over = listed(bj::array(510'000, 1));
    EXPECT_EQ(over.error().code(), Code::invalid_argument);
    EXPECT_NE(over.error().message().find("too many steps"), std::string::npos) << over.error().message();
    const auto lists = call("lists");
    ASSERT_TRUE(lists) << lists.error().message();
    EXPECT_EQ(lists->output, bj::array());
  }
  pool.join();
}

TEST_F(ToolExecutorTest, WhatIsUnknownOrNotOnesOwnIsNotThere) {
  EXPECT_EQ(call("nothing").error().code(), Code::not_found);
  EXPECT_EQ(wait(executor_->call(bob_, {session_, "again", bj::object(), std::nullopt})).error().code(),
            Code::not_found);
  EXPECT_EQ(wait(executor_->call(ann_, {"ses_none", "again", bj::object(), std::nullopt})).error().code(),
            Code::not_found);
  EXPECT_FALSE(wait(executor_->check(ann_, {session_, "nothing", bj::object(), std::nullopt})));
  EXPECT_FALSE(*wait(executor_->check(ann_, {session_, "again", bj::object(), std::nullopt})));
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
