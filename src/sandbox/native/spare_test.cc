// Forked interpreters that die and go on, behind real walls. What does not need walls is in
// link_spare_test.cc.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "sandbox/guest_interpreter.h"
#include "sandbox/native/native.h"
#include "sandbox/native/native_harness.h"

namespace atl::sandbox::native {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* kGoesOn = "; the context goes on with its variables as they were before this execution";

class SpareTest : public CheckpointHarness {
 protected:
  // What there is to be decided about a copy is decided.
  bool has_spare(const std::shared_ptr<Interpreter>& interpreter) {
    const auto known = std::dynamic_pointer_cast<GuestInterpreter>(interpreter);
    for (int i = 0; i < 3000 && !known->has_settled(); ++i) turn(std::chrono::milliseconds(10));
    return known->has_spare();
  }
  Executed limited(const std::shared_ptr<Interpreter>& interpreter, std::string code) {
    const auto go = [](std::shared_ptr<Interpreter> of, std::string what) -> Task<Outcome> {
      ExecutionSpec spec;
      spec.code = std::move(what);
      spec.wall_time = std::chrono::milliseconds(200);
      CO_TRY(const auto stream, co_await of->execute(std::move(spec)));
      for (;;) {
        CO_TRY(ExecutionEvent event, co_await stream->next());
        if (auto* done = std::get_if<ExecutionDone>(&event)) co_return done->outcome;
      }
    };
    auto outcome = run(go(interpreter, std::move(code)));
    EXPECT_TRUE(outcome) << outcome.error().message();
    return {.text = "", .outcome = outcome ? *outcome : Outcome{}};
  }
  // How many Pythons there are inside. Processes may end while they are looked at.
  long interpreters(Sandbox& sandbox) {
    auto shell = run(sandbox.create_interpreter(Language::shell, ""));
    EXPECT_TRUE(shell);
    std::istringstream names(said(
        *shell, "{ for p in /proc/[0-9]*; do read -r n < $p/comm && echo $n; done; true; } 2> /dev/null"));
    EXPECT_TRUE(run(sandbox.remove_interpreter((*shell)->info().id)));
    return std::count(std::istream_iterator<std::string>(names), {}, "python3");
  }
};

TEST_F(SpareTest, NativeCodeAndCrashesCostOneExecution) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  said(interpreter, "import os, ctypes\nkept = [1, 2, 3]\nos.chdir('/tmp')");
  ASSERT_TRUE(has_spare(interpreter));
  const Executed computing = limited(interpreter, "kept.append(4)\nsum(range(1 << 62))");
  EXPECT_EQ(computing.outcome.ending, Ending::timed_out);
  EXPECT_EQ(computing.outcome.reason,
            std::string("wall time limit of 0.200 s; the interpreter was killed") + kGoesOn);
  EXPECT_EQ(said(interpreter, "kept, os.getcwd(), os.getppid()"), "([1, 2, 3], '/tmp', 1)");
  for (const char* code : {"ctypes.string_at(0)", "os._exit(3)", "os.abort()", "os.closerange(3, 1000)"}) {
    ASSERT_TRUE(has_spare(interpreter)) << code;
    const Executed died = execute(interpreter, fmt::format("print('before')\n{}", code));
    EXPECT_FALSE(died.outcome.succeeded()) << code;
    EXPECT_THAT(died.outcome.reason, EndsWith(kGoesOn)) << code;
    EXPECT_THAT(died.text, testing::StartsWith("before\n")) << code;
    EXPECT_EQ(said(interpreter, "kept"), "[1, 2, 3]") << code;
  }
  EXPECT_EQ(interpreter->info().origin, InterpreterOrigin::forked);
}

TEST_F(SpareTest, AKillAtTheMemoryLimitCostsOneExecution) {
  Spec spec;
  spec.limits.memory_bytes = 128U << 20;
  const auto sandbox = this->sandbox(std::move(spec));
  auto interpreter = run(sandbox->create_interpreter(Language::python, ""));
  ASSERT_TRUE(interpreter);
  said(*interpreter, "x = 'here'");
  ASSERT_TRUE(has_spare(*interpreter));
  const Executed hog = execute(*interpreter, "x = bytearray(b'x' * (500 << 20))");
  EXPECT_EQ(hog.outcome.ending, Ending::out_of_memory) << to_string(hog.outcome.ending);
  EXPECT_THAT(hog.outcome.reason, HasSubstr("memory limit of 134217728 bytes"));
  EXPECT_THAT(hog.outcome.reason, EndsWith(kGoesOn));
  EXPECT_EQ(said(*interpreter, "x"), "'here'");
}

TEST_F(SpareTest, MoreThanAQuarterOfTheMemoryIsNotKeptTwice) {
  Spec spec;
  spec.limits.memory_bytes = 256U << 20;
  const auto sandbox = this->sandbox(std::move(spec));
  auto interpreter = run(sandbox->create_interpreter(Language::python, ""));
  ASSERT_TRUE(interpreter);
  said(*interpreter, "x = bytearray(b'x' * (80 << 20))");
  EXPECT_FALSE(has_spare(*interpreter));
  const Executed computing = limited(*interpreter, "sum(range(1 << 62))");
  EXPECT_THAT(computing.outcome.reason, HasSubstr("no copy of it was kept: it holds more than 64 MiB"));
}

TEST_F(SpareTest, NobodyElsesBusinessBeforeTheFirstExecution) {
  const auto sandbox = warm_sandbox();
  turn(std::chrono::milliseconds(300));
  EXPECT_EQ(interpreters(*sandbox), 1) << "the warm one, alone";
  const auto interpreter = forked_interpreter(*sandbox);
  EXPECT_FALSE(has_spare(interpreter));
  said(interpreter, "1");
  EXPECT_TRUE(has_spare(interpreter));
  const auto usage = run(sandbox->usage());
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->processes, 0U) << "none of the workload's";
}

TEST_F(SpareTest, TheLimitOnProcessesDoesNotCountIt) {
  Spec spec;
  spec.limits.processes_max = 2;
  const auto sandbox = this->sandbox(std::move(spec));
  auto interpreter = run(sandbox->create_interpreter(Language::python, ""));
  ASSERT_TRUE(interpreter);
  said(*interpreter, "import subprocess, time");
  ASSERT_TRUE(has_spare(*interpreter));
  EXPECT_EQ(said(*interpreter,
                 "two = [subprocess.Popen(['sleep', '60']) for _ in range(2)]\ntime.sleep(0.5)\n"
                 "for one in two: one.kill(); one.wait()\n'done'"),
            "'done'");
}

TEST_F(SpareTest, AForkBombTakesItWithItOrNot) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  said(interpreter, "import os, time\nx = 1");
  ASSERT_TRUE(has_spare(interpreter));
  const Executed bomb = execute(
      interpreter, "for _ in range(40):\n  if os.fork() == 0: time.sleep(60); os._exit(0)\ntime.sleep(60)");
  EXPECT_EQ(bomb.outcome.ending, Ending::too_many_processes) << bomb.outcome.reason;
  EXPECT_THAT(bomb.outcome.reason, EndsWith(kGoesOn));
  EXPECT_EQ(said(interpreter, "x"), "1");
  ASSERT_TRUE(has_spare(interpreter));
  const auto usage = run(sandbox->usage());
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->processes, 0U);
}

TEST_F(SpareTest, LeavesNothingWhenItsInterpreterGoes) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  said(interpreter, "import os");
  ASSERT_TRUE(has_spare(interpreter));
  EXPECT_EQ(interpreters(*sandbox), 2);
  execute(interpreter, "os._exit(1)");
  ASSERT_TRUE(has_spare(interpreter));
  ASSERT_TRUE(run(interpreter->restart()));
  EXPECT_EQ(said(interpreter, "'os' in globals()"), "False");
  ASSERT_TRUE(has_spare(interpreter));
  EXPECT_EQ(interpreters(*sandbox), 2);
  ASSERT_TRUE(run(sandbox->remove_interpreter(interpreter->info().id)));
  // What was killed is gone in a moment.
  for (int i = 0; i < 1000 && interpreters(*sandbox) != 0; ++i) turn(std::chrono::milliseconds(10));
  EXPECT_EQ(interpreters(*sandbox), 0);
  EXPECT_TRUE(run(sandbox->stop()));
}

TEST_F(SpareTest, IsGoneBeforeACopyOfTheSandboxIsMade) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  said(interpreter, "import os\nx = [1]");
  ASSERT_TRUE(has_spare(interpreter));
  const std::string target = new_target();
  const Carried carried = checkpoint(*sandbox, target);
  EXPECT_EQ(carried.interpreters.size(), 1U);
  EXPECT_THAT(carried.left_behind, testing::IsEmpty());
  const auto copy = go_on(target);
  const auto other = only_interpreter(*copy);
  ASSERT_NE(other, nullptr);
  // Both have one of their own again.
  ASSERT_TRUE(has_spare(interpreter));
  ASSERT_TRUE(has_spare(other));
  EXPECT_THAT(execute(other, "x.append(2); os._exit(1)").outcome.reason, EndsWith(kGoesOn));
  EXPECT_EQ(said(other, "x"), "[1]");
  EXPECT_THAT(execute(interpreter, "x.append(3); os._exit(1)").outcome.reason, EndsWith(kGoesOn));
  EXPECT_EQ(said(interpreter, "x"), "[1]");
}

TEST_F(SpareTest, WhoWentOnIsCopiedLikeAnyOther) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  said(interpreter, "import os\nx = [1]");
  // Twice, so that the second one is the copy of a copy.
  for (const char* code : {"x.append(2); os._exit(1)", "x.append(3); os.abort()"}) {
    ASSERT_TRUE(has_spare(interpreter));
    EXPECT_THAT(execute(interpreter, code).outcome.reason, EndsWith(kGoesOn));
    EXPECT_EQ(said(interpreter, "x"), "[1]");
  }
  const std::string number = said(interpreter, "y = list(range(1000))\nos.getpid()");
  ASSERT_TRUE(has_spare(interpreter));
  const std::string target = new_target();
  const Carried carried = checkpoint(*sandbox, target);
  EXPECT_EQ(carried.interpreters.size(), 1U);
  EXPECT_THAT(carried.left_behind, testing::IsEmpty());
  const auto copy = go_on(target);
  const auto other = only_interpreter(*copy);
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(said(other, "os.getpid()"), number);
  EXPECT_EQ(said(other, "x.append(4); x, sum(y)"), "([1, 4], 499500)");
  EXPECT_EQ(said(interpreter, "x"), "[1]");
  // The copy has a spare as well, and can be copied again when that went on.
  ASSERT_TRUE(has_spare(other));
  EXPECT_THAT(execute(other, "os._exit(1)").outcome.reason, EndsWith(kGoesOn));
  EXPECT_EQ(said(other, "x"), "[1, 4]");
  const std::string second = new_target();
  EXPECT_THAT(checkpoint(*copy, second).left_behind, testing::IsEmpty());
  const auto third = go_on(second);
  ASSERT_NE(only_interpreter(*third), nullptr);
  EXPECT_EQ(said(only_interpreter(*third), "x, sum(y)"), "([1, 4], 499500)");
}

TEST_F(SpareTest, WhoWentOnHibernates) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  said(interpreter, "import os\nx = {'kept': 'all along'}");
  ASSERT_TRUE(has_spare(interpreter));
  EXPECT_THAT(execute(interpreter, "os._exit(1)").outcome.reason, EndsWith(kGoesOn));
  const std::string whole = new_target();
  EXPECT_EQ(checkpoint(*sandbox, whole, {.whole = true, .strict = true}).interpreters.size(), 1U);
  EXPECT_TRUE(run(sandbox->stop()));
  const auto awake = go_on(whole);
  ASSERT_NE(only_interpreter(*awake), nullptr);
  EXPECT_EQ(said(only_interpreter(*awake), "x"), "{'kept': 'all along'}");
}

TEST_F(SpareTest, IsNoHindranceToHibernation) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  said(interpreter, "import os\nx = [1]");
  ASSERT_TRUE(has_spare(interpreter));
  const std::string whole = new_target();
  const Carried asleep = checkpoint(*sandbox, whole, {.whole = true, .strict = true});
  EXPECT_EQ(asleep.interpreters.size(), 1U);
  EXPECT_TRUE(run(sandbox->stop()));
  const auto awake = go_on(whole);
  const auto other = only_interpreter(*awake);
  ASSERT_NE(other, nullptr);
  ASSERT_TRUE(has_spare(other));
  EXPECT_THAT(execute(other, "x.append(2); os._exit(1)").outcome.reason, EndsWith(kGoesOn));
  EXPECT_EQ(said(other, "x.append(4); x"), "[1, 4]");
}

}  // namespace
}  // namespace atl::sandbox::native
