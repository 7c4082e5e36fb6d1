// What binds a call: policies, networks, plugins, bounds, time, and a caller that leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "tools/virtual_tools_test.h"

namespace atl::tools {
namespace {

namespace asio = boost::asio;
namespace bj = boost::json;
using namespace std::chrono_literals;
using testing::HasSubstr;

class BoundToolTest : public VirtualToolTest {
 protected:
  void declare_all() override {
    declare("shy_command", R"(run: {command: [sh, -c, "rm -rf /tmp/x"]}, policy: strict)");
    declare("shy_code", R"(run: {code: "rm -rf /tmp/x", language: shell}, policy: strict)");
    declare("shy_builtin", R"(run: {builtin: run_command}, policy: strict)");
    declare("nobodys", R"(run: {command: [echo, 1]}, policy: none_of_this_name)");
    declare("nobodys_code", R"(run: {code: "echo 1", language: shell}, policy: none_of_this_name)");
    declare("nobodys_builtin", R"(run: {builtin: run_command}, policy: none_of_this_name)");
    declare("plugin", R"(run: {plugin: libx.so})");
    declare("web", R"(run: {command: [echo, 1], sandbox: fresh}, network: {allow: [h]})");
    declare("apart", R"(run: {code: "cat mark; echo $TOOL_INPUT", language: shell, sandbox: fresh})");
    declare("slow", R"(run: {command: [sleep, 60]}, timeout_seconds: 0.2)");
    declare("slow_code", R"(run: {code: "sleep 60", language: shell}, timeout_seconds: 0.2)");
    declare("waits", R"(run: {command: [sleep, 60]})");
    declare("long", R"(run: {command: [seq, 1, 2000]})");
    declare("said", R"(run: {command: [sh, -c, "echo told >&2; exit 4"]})");
    declare("echo", R"(run: {command: [cat]}, input: {type: object, properties: {a: {type: integer}}})");
    declare("narrow", R"(run: {builtin: run_command}, output: {type: string})");
    declare("served", R"(run: {client: true}, output: {type: integer}, timeout_seconds: 5)");
  }
  // The latest record of a tool's call.
  session::ExecutionRecord latest() {
    const auto page = wait(service_->history(ann_, {.id = session_}));
    for (const auto& record : page->items)
      if (record.kind == "tool") return record;
    return {};
  }
};

TEST_F(BoundToolTest, AToolsOwnPolicyBindsWhateverItRuns) {
  for (const char* name : {"shy_command", "shy_code"}) {
    const auto denied = call(name);
    ASSERT_TRUE(denied) << denied.error().message();
    EXPECT_EQ(denied->status, session::Status::denied) << name;
    EXPECT_THAT(denied->error_value, HasSubstr("policy 'strict' of the tool"));
  }
  EXPECT_EQ(call("shy_builtin", {{"command", "rm x"}})->status, session::Status::denied);
  EXPECT_EQ(latest().status, session::Status::denied) << "the history says so";
  EXPECT_EQ(call("shy_builtin", {{"command", "echo x"}})->output.at("stdout"), "x\n");
  EXPECT_EQ(executor_->statistics("one", "shy_builtin")->failures.at("denied"), 1U);
}

// A policy that is not there binds nothing: so nothing runs.
TEST_F(BoundToolTest, WithoutItsPolicyAToolDoesNotRun) {
  for (const char* name : {"nobodys", "nobodys_code"}) EXPECT_FALSE(call(name)) << name;
  EXPECT_FALSE(call("nobodys_builtin", {{"command", "echo x"}}));
  EXPECT_EQ(latest().status, session::Status::error);
  EXPECT_EQ(latest().error, "ProviderError");
}

TEST_F(BoundToolTest, WhatTheMachineLacksIsSaid) {
  EXPECT_EQ(call("plugin").error().code(), Code::unsupported) << "no directories of plugins";
  EXPECT_EQ(call("web").error().code(), Code::unsupported) << "no network in this sandbox";
}

TEST_F(BoundToolTest, AFreshSandboxSeesNothingOfTheSessions) {
  output("run_command", {{"command", "echo here > mark"}});
  const auto apart = call("apart", {{"a", 1}});
  ASSERT_TRUE(apart) << apart.error().message();
  EXPECT_EQ(apart->output, (bj::object{{"a", 1}})) << "no mark, and its input in $TOOL_INPUT";
  EXPECT_THAT(apart->standard_error, HasSubstr("mark"));
}

TEST_F(BoundToolTest, TimeEndsACall) {
  for (const char* name : {"slow", "slow_code"}) {
    const auto late = call(name, bj::object(), 50s);
    ASSERT_TRUE(late) << late.error().message();
    EXPECT_EQ(late->status, session::Status::timeout) << "a caller may ask for less, never for more";
  }
  EXPECT_EQ(call("waits", bj::object(), 100ms)->status, session::Status::timeout);
  EXPECT_EQ(latest().status, session::Status::timeout);
}

TEST_F(BoundToolTest, ACallerThatLeavesEndsItsCall) {
  asio::cancellation_signal leave;
  bool ended = false;
  asio::co_spawn(
      loop_, executor_->call(ann_, {session_, "waits", bj::object(), std::nullopt}),
      asio::bind_cancellation_slot(leave.slot(), [&](std::exception_ptr, Result<ToolResult> result) {
        EXPECT_FALSE(result);
        ended = true;
      }));
  EXPECT_TRUE(until([&] { return !wait(service_->processes(ann_, session_))->empty(); }));
  leave.emit(asio::cancellation_type::terminal);
  EXPECT_TRUE(until([&] { return ended; }));
  EXPECT_TRUE(until([&] { return latest().status == session::Status::killed; })) << "its record says so";
  EXPECT_TRUE(until([&] { return wait(service_->processes(ann_, session_))->empty(); }))
      << "what it ran is gone";
}

TEST_F(BoundToolTest, WhatIsPrintedHasABound) {
  const auto cut = call("long");
  ASSERT_TRUE(cut) << cut.error().message();
  EXPECT_EQ(cut->error, "InvalidOutput");
  EXPECT_THAT(cut->error_value, HasSubstr("printed more than"));
}

TEST_F(BoundToolTest, AToolThatFailsIsToldInItsWords) {
  const auto said = call("said");
  EXPECT_EQ(said->status, session::Status::error);
  EXPECT_EQ(said->error, "ToolFailed");
  EXPECT_EQ(said->error_value, "exit status 4");
  EXPECT_EQ(said->standard_error, "told\n");
  const auto narrow = call("narrow", {{"command", "echo x"}});
  EXPECT_EQ(narrow->error, "InvalidOutput") << "an operation's answer is held against the schema as well";
}

TEST_F(BoundToolTest, InputThatDoesNotFitIsCountedAndRunsNothing) {
  const auto refused = call("echo", {{"a", "x"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid_argument);
  EXPECT_EQ(refused.error().field(), "/a");
  EXPECT_EQ(call("echo", {{"a", std::string(2 << 20, 'x')}}).error().code(), Code::too_large);
  const ToolRequest wrong{session_, "echo", bj::object{{"a", "x"}}, std::nullopt};
  EXPECT_EQ((*wait(executor_->check(ann_, wrong)))->pointer, "/a");
  EXPECT_EQ(executor_->statistics("one", "echo")->failures.at("invalid_input"), 2U);
  EXPECT_EQ(executor_->statistics("one", "echo")->calls, 0U);
  EXPECT_EQ(latest().record_id, "") << "nothing is in the history";
  EXPECT_EQ(output("echo", {{"a", 1}}), (bj::object{{"a", 1}}));
  EXPECT_EQ(latest().code, R"({"a":1})");
}

TEST_F(BoundToolTest, AProcessOutsideAnswersOrDoesNot) {
  const auto nobody = call("served", bj::object(), 100ms);
  ASSERT_TRUE(nobody) << nobody.error().message();
  EXPECT_EQ(nobody->error, "NotServed");
  const auto serve = [&](ServedCalls::Answer answer, bool answers = true) {
    std::optional<Result<ToolResult>> result;
    asio::co_spawn(loop_, executor_->call(ann_, {session_, "served", bj::object(), 300ms}),
                   [&](std::exception_ptr, Result<ToolResult> value) { result.emplace(std::move(value)); });
    const auto taken = wait(executor_->served().take("one", {"served"}, 5s));
    EXPECT_TRUE(taken && *taken);
    if (answers) {
      EXPECT_TRUE(executor_->served().finish("one", (*taken)->call_id, std::move(answer)));
    }
    EXPECT_TRUE(until([&] { return result.has_value(); }));
    return std::move(**result);
  };
  EXPECT_EQ(serve({.output = 7, .error = "", .error_value = ""}).output, 7);
  EXPECT_EQ(serve({.output = "x", .error = "", .error_value = ""}).error, "InvalidOutput");
  const ToolResult failed = serve({.output = nullptr, .error = "KeyError", .error_value = "a"});
  EXPECT_EQ(failed.error + failed.error_value, "KeyErrora");
  EXPECT_EQ(serve({}, false).status, session::Status::timeout);
  ASSERT_TRUE(wait(service_->destroy(ann_, session_)));
  EXPECT_FALSE(call("served")) << "not for a session that has ended";
}

TEST_F(BoundToolTest, CountsOfToolsThatAreGoneAreForgotten) {
  for (int i = 0; i < 1'100; ++i) {
    const auth::Principal who{"key", fmt::format("tenant{}", i)};
    EXPECT_TRUE(*wait(executor_->check(who, {session_, "echo", bj::object{{"a", "x"}}, std::nullopt})));
  }
  EXPECT_NE(executor_->statistics("tenant0", "echo"), nullptr) << "the tool is there, so its counts are";
  EXPECT_EQ(executor_->totals().at("echo").failures.at("invalid_input"), 1'100U);
  std::filesystem::remove(declared_ + "/tools/echo.yaml");
  ASSERT_TRUE(registry_->reload());
  EXPECT_EQ(executor_->totals().at("tenant").failures.at("invalid_input"), 1'100U);
  // Room for the next ones is made of what nobody can ask for.
  auto entry = registry_->check_tenant_entry(
      "one", "tools", "{name: mine, description: x, input: false, run: {client: true}}");
  ASSERT_TRUE(entry) << entry.error().message();
  registry_->put_tenant_entry("one", std::move(*entry));
  for (int i = 0; i < 1'100; ++i) {
    const auth::Principal who{"key", fmt::format("other{}", i)};
    EXPECT_TRUE(*wait(executor_->check(who, {session_, "read_file", bj::object(), std::nullopt})));
  }
  EXPECT_EQ(executor_->statistics("tenant0", "echo"), nullptr);
  EXPECT_TRUE(*wait(executor_->check(ann_, {session_, "mine", bj::object(), std::nullopt})));
  EXPECT_EQ(executor_->totals().at("tenant").failures.at("invalid_input"), 1U)
      << "a tenant's own, by no name";
}

}  // namespace
}  // namespace atl::tools
