// Interpreters that die and go on: what is kept, what is told, and what is left when nothing could be kept.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <sstream>

#include "os/file.h"
#include "sandbox/interpreter_harness.h"
#include "sandbox/spare_policy.h"

namespace atl::sandbox {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using namespace std::chrono_literals;

constexpr const char* kGoesOn = "; the context goes on with its variables as they were before this execution";

TEST(GuestSpareTest, IsAskedForOncePerState) {
  SparePolicy spare({.bytes_max = 1 << 20});
  EXPECT_FALSE(spare.is_wanted()) << "nothing was executed";
  spare.begin();
  ASSERT_TRUE(spare.is_wanted());
  EXPECT_THAT(spare.request(), StartsWith("1048576 "));
  EXPECT_FALSE(spare.is_wanted());
  EXPECT_EQ(spare.take_answer("17"), 17U);
  EXPECT_TRUE(spare.is_asked()) << "the guest does not know it yet";
  EXPECT_FALSE(spare.is_fresh(false));
  EXPECT_FALSE(spare.is_owed());
  EXPECT_EQ(spare.take_answer("18"), std::nullopt) << "nobody asked";
  spare.confirm(17);
  EXPECT_FALSE(spare.is_asked());
  EXPECT_TRUE(spare.is_fresh(false));
  EXPECT_FALSE(spare.is_wanted());
  spare.begin();
  EXPECT_TRUE(spare.is_fresh(true));
  EXPECT_FALSE(spare.is_fresh(false)) << "an execution has changed something since";
  spare.begin();
  EXPECT_FALSE(spare.is_fresh(true));
}

TEST(GuestSpareTest, BelievesNoAnswerThatIsNotANumber) {
  for (const std::string_view answer :
       {"", "0", "1", "-5", "17 ", " 17", "0x11", "99999999999", "it has threads"}) {
    SparePolicy spare({.bytes_max = 1});
    spare.begin();
    (void)spare.request();
    EXPECT_EQ(spare.take_answer(answer), std::nullopt) << answer;
    EXPECT_FALSE(spare.is_kept());
    EXPECT_FALSE(spare.is_wanted()) << "not again before something has changed";
    EXPECT_EQ(spare.lack(), answer);
    spare.begin();
    EXPECT_TRUE(spare.is_wanted());
  }
}

TEST(GuestSpareTest, GoesOnOnceAndFromWhereItWasMade) {
  SparePolicy spare({.bytes_max = 1});
  spare.begin();
  const std::string request = spare.request();
  (void)spare.take_answer("17");
  spare.confirm(17);
  spare.begin();
  const std::string word = spare.use();
  EXPECT_EQ(word.size(), 32U);
  EXPECT_EQ(request, "1 " + word);
  EXPECT_EQ(spare.use(), "");
  EXPECT_FALSE(spare.is_fresh(true));
  EXPECT_FALSE(spare.is_fresh(false));
  EXPECT_TRUE(spare.is_wanted()) << "the one that goes on has none yet";
}

TEST(GuestSpareTest, IsKeptOnlyIfTheGuestKnowsTheSameOne) {
  SparePolicy spare({.bytes_max = 1});
  spare.begin();
  spare.confirm(0);
  (void)spare.request();
  spare.confirm(17);
  EXPECT_TRUE(spare.is_asked()) << "the interpreter has not answered";
  (void)spare.take_answer("17");
  spare.confirm(0);
  EXPECT_FALSE(spare.is_asked());
  EXPECT_FALSE(spare.is_kept());
  EXPECT_EQ(spare.lack(), "it is no child of the interpreter");
}

TEST(GuestSpareTest, ALateAnswerIsToAnOldRequest) {
  SparePolicy spare({.bytes_max = 1});
  spare.begin();
  (void)spare.request();
  spare.give_up();
  EXPECT_FALSE(spare.is_asked());
  EXPECT_TRUE(spare.is_owed());
  spare.begin();
  (void)spare.request();
  EXPECT_EQ(spare.take_answer("17"), std::nullopt);
  EXPECT_TRUE(spare.is_asked());
  EXPECT_EQ(spare.take_answer("18"), 18U);
  EXPECT_FALSE(spare.is_owed());
}

TEST(GuestSpareTest, IsNeverWantedWhereItIsNotAllowed) {
  SparePolicy spare(SpareOptions{});
  spare.begin();
  EXPECT_FALSE(spare.is_wanted());
  EXPECT_EQ(spare.lack(), "");
}

// Interpreters that were started as programs, without walls: native/spare_test.cc has those that were forked.
class SpareInterpreterTest : public GuestInterpreterTest {
 protected:
  SpareInterpreterTest() {
    spare_.bytes_max = 256U << 20;
    spare_.calm = 1ms;
  }
  std::shared_ptr<GuestInterpreter> guest_interpreter() {
    return std::dynamic_pointer_cast<GuestInterpreter>(interpreter());
  }
  // The interpreter has answered whether a copy of it is kept.
  bool has_spare() {
    for (int i = 0; i < 3000 && !guest_interpreter()->has_settled(); ++i) {
      loop_.restart();
      loop_.run_for(10ms);
    }
    return guest_interpreter()->has_spare();
  }
  Cell die(std::string code) {
    EXPECT_TRUE(has_spare());
    return execute(std::move(code));
  }
  Cell limited(std::string code, std::chrono::milliseconds time = 100ms) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    spec.wall_time = time;
    return execute(std::move(spec));
  }
  bool is_dead() {
    ExecutionSpec spec;
    spec.code = "1";
    const auto cell = run(cell_of(interpreter(), spec));
    return !cell && cell.error().code() == Code::conflict && cell.error().field() == kDeadInterpreter;
  }
  // Processes below the guest, interpreters and whatever they left.
  std::vector<pid_t> processes() {
    std::vector<pid_t> all{guest_};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string children = fmt::format("/proc/{0}/task/{0}/children", all[i]);
      std::istringstream words(os::read_file_at(AT_FDCWD, children.c_str()).value_or(""));
      for (pid_t child = 0; words >> child;) all.push_back(child);
    }
    all.erase(all.begin());
    return all;
  }
  void expect_processes(std::size_t count) {
    for (int i = 0; i < 1000 && processes().size() != count; ++i) {
      loop_.restart();
      loop_.run_for(10ms);
    }
    EXPECT_EQ(processes().size(), count);
  }
};

TEST_F(SpareInterpreterTest, NativeCodeThatHearsNothingCostsOneExecution) {
  execute("x = [1, 2]; import os; before = os.getpid()");
  ASSERT_TRUE(has_spare());
  const Cell cell = limited("x.append(3)\nprint('computing')\nsum(range(1 << 62))");
  EXPECT_EQ(cell.outcome.ending, Ending::timed_out);
  EXPECT_EQ(cell.outcome.reason,
            std::string("wall time limit of 0.100 s; the interpreter was killed") + kGoesOn);
  EXPECT_EQ(cell.out, "computing\n");
  EXPECT_EQ(execute("x").text(), "[1, 2]");
  EXPECT_EQ(execute("os.getpid() != before, os.getpid() == os.getsid(0) == os.getpgrp()").text(),
            "(True, True)");
  EXPECT_EQ(execute("print('on'); import sys; print('err', file=sys.stderr)").out, "on\n");
}

TEST_F(SpareInterpreterTest, AnInterruptThatIsNotHeardIsToldAsThat) {
  execute("x = 5; import itertools, os");
  ASSERT_TRUE(has_spare());
  const auto go = [](std::shared_ptr<Interpreter> interpreter) -> Task<Cell> {
    ExecutionSpec spec;
    // Told from within the loop in C: between two lines of Python the interrupt would be heard.
    spec.code = "sum(itertools.chain(map(os.write, [1], [b'up']), range(1 << 62)))";
    CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
    CO_TRY(ExecutionEvent up, co_await stream->next());
    CO_CHECK(co_await interpreter->interrupt());
    co_return co_await hear(std::move(stream));
  };
  const auto cell = run(go(interpreter()));
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->outcome.ending, Ending::killed);
  EXPECT_EQ(cell->outcome.reason,
            std::string("it did not react to an interrupt; the interpreter was killed") + kGoesOn);
  EXPECT_EQ(execute("x").text(), "5");
  // It hears again what the one before did not.
  EXPECT_EQ(limited("while True: pass").outcome.reason, "wall time limit of 0.100 s");
  EXPECT_EQ(execute("x").text(), "5");
}

TEST_F(SpareInterpreterTest, GoingAwayFromNativeCodeLeavesTheContextUsable) {
  execute("x = 6");
  ASSERT_TRUE(has_spare());
  const auto go = [](std::shared_ptr<Interpreter> interpreter) -> Task<void> {
    ExecutionSpec spec;
    spec.code = "print('up')\nsum(range(1 << 62))";
    CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
    CO_TRY(ExecutionEvent up, co_await stream->next());
    co_return Result<void>();
  };
  EXPECT_TRUE(run(go(interpreter())));
  EXPECT_EQ(execute("x").text(), "6");
}

TEST_F(SpareInterpreterTest, CrashesExitsAndKillsCostOneExecution) {
  execute("import ctypes, os, signal\nkept = {'n': 1}\ndef f(): return kept['n'] + 1");
  Cell cell = die("kept['n'] = 50; ctypes.string_at(0)");
  EXPECT_EQ(cell.outcome.ending, Ending::signaled);
  EXPECT_EQ(cell.outcome.signal, SIGSEGV);
  EXPECT_EQ(cell.outcome.reason, std::string("the interpreter's process was ended by signal 11") + kGoesOn);
  EXPECT_EQ(execute("f()").text(), "2");
  cell = die("os._exit(9)");
  EXPECT_EQ(cell.outcome.ending, Ending::exited);
  EXPECT_EQ(cell.outcome.exit_code, 9);
  EXPECT_EQ(cell.outcome.reason, std::string("the interpreter's process exited with code 9") + kGoesOn);
  EXPECT_EQ(die("os.abort()").outcome.signal, SIGABRT);
  EXPECT_EQ(die("os.kill(os.getpid(), 9)").outcome.signal, SIGKILL);
  EXPECT_EQ(die("os.execv('/bin/echo', ['echo', 'other'])").out, "other\n");
  EXPECT_FALSE(die("os.closerange(3, 1000)").outcome.succeeded()) << "it cannot answer without its stream";
  EXPECT_EQ(execute("f()").text(), "2");
}

// Nothing of an interpreter that died is left to confuse the next: neither what it had half said nor what it
// had not read.
TEST_F(SpareInterpreterTest, HalfSaidAndUnreadWordsAreForgotten) {
  execute(
      "import os, ctypes, sys\nx = 1\nfd = next(n for n in (900, 60) if "
      "os.path.exists(f'/proc/self/fd/{n}'))");
  for (const char* half : {"R 1000000\\n1abc", "F 5", "D 3\\n0 ", "Q 2\\n1"}) {
    const Cell cell = die(fmt::format("os.write(fd, b'{}')\nos._exit(3)", half));
    EXPECT_EQ(cell.outcome.exit_code, 3) << half;
    EXPECT_THAT(cell.outcome.reason, EndsWith(kGoesOn)) << half;
    EXPECT_EQ(execute("x + 1").text(), "2") << half;
  }
  // More code than the stream holds at once, to one that stands still and never reads it.
  ASSERT_TRUE(has_spare());
  const auto stopped_pid = static_cast<pid_t>(guest_interpreter()->process()->info().pid);
  ::kill(stopped_pid, SIGSTOP);
  const auto go = [](std::shared_ptr<Interpreter> interpreter, pid_t stopped) -> Task<Cell> {
    ExecutionSpec spec;
    spec.code = "x = 1000 #" + std::string(3U << 20, 'x');
    CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
    ::kill(stopped, SIGKILL);
    co_return co_await hear(std::move(stream));
  };
  const auto cell = run(go(interpreter(), stopped_pid));
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->outcome.signal, SIGKILL);
  EXPECT_THAT(cell->outcome.reason, EndsWith(kGoesOn));
  EXPECT_EQ(execute("x + 1").text(), "2");
}

TEST_F(SpareInterpreterTest, OutputOfAnySizeComesBeforeTheEnd) {
  execute("import os, ctypes");
  Cell cell =
      die("for i in range(64): os.write(1, b'x' * 65536)\nprint('last')\ndisplay(5)\nctypes.string_at(0)");
  EXPECT_EQ(cell.out.size(), 64U * 65536 + 5);
  EXPECT_THAT(cell.out, EndsWith("last\n"));
  ASSERT_EQ(cell.results.size(), 1U) << "what it showed before counts";
  EXPECT_EQ(cell.outcome.signal, SIGSEGV);
  // Nobody listens until everything is over.
  ASSERT_TRUE(has_spare());
  const auto go = [](std::shared_ptr<Interpreter> interpreter) -> Task<Cell> {
    ExecutionSpec spec;
    spec.code = "for i in range(64): os.write(1, b'y' * 65536)\nos._exit(2)";
    CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 300ms);
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return co_await hear(std::move(stream));
  };
  const auto slow = run(go(interpreter()));
  EXPECT_EQ(slow->out.size(), 64U * 65536);
  EXPECT_EQ(slow->outcome.exit_code, 2);
  EXPECT_EQ(execute("1").text(), "1");
}

TEST_F(SpareInterpreterTest, ExecutionsThatWaitGoOnAndDieOnTheirOwn) {
  execute("x = 10; import os");
  ASSERT_TRUE(has_spare());
  const auto go = [](std::shared_ptr<Interpreter> interpreter) -> Task<std::vector<Cell>> {
    std::vector<std::unique_ptr<ExecutionStream>> streams;
    for (const char* code : {"x += 1; os._exit(1)", "x += 10; os._exit(2)", "x += 100", "x"}) {
      ExecutionSpec spec;
      spec.code = code;
      CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
      streams.push_back(std::move(stream));
    }
    std::vector<Cell> cells;
    for (auto& stream : streams) {
      CO_TRY(Cell cell, co_await hear(std::move(stream)));
      cells.push_back(std::move(cell));
    }
    co_return cells;
  };
  const auto cells = run(go(interpreter()));
  ASSERT_TRUE(cells) << cells.error().message();
  EXPECT_EQ((*cells)[0].outcome.exit_code, 1);
  EXPECT_EQ((*cells)[1].outcome.exit_code, 2);
  EXPECT_THAT((*cells)[1].outcome.reason, EndsWith(kGoesOn)) << "a copy is made before the next one begins";
  EXPECT_TRUE((*cells)[2].outcome.succeeded());
  EXPECT_EQ((*cells)[3].text(), "110");
}

TEST_F(SpareInterpreterTest, DeathWhileNothingRunsCostsNothing) {
  execute("x = 3; import os");
  ASSERT_TRUE(has_spare());
  const auto before = guest_interpreter()->process()->info().pid;
  ::kill(static_cast<pid_t>(before), SIGKILL);
  for (int i = 0; i < 1000 && guest_interpreter()->process()->info().pid == before; ++i) {
    loop_.restart();
    loop_.run_for(10ms);
  }
  EXPECT_NE(guest_interpreter()->process()->info().pid, before);
  EXPECT_EQ(execute("x, os.getpid()").text(),
            fmt::format("(3, {})", guest_interpreter()->process()->info().pid));
}

TEST_F(SpareInterpreterTest, ARestartIsAFreshInterpreter) {
  execute("x = 1");
  ASSERT_TRUE(has_spare());
  ASSERT_TRUE(run(interpreter()->restart()));
  EXPECT_EQ(execute("'x' in globals()").text(), "False");
  EXPECT_TRUE(has_spare());
  expect_processes(2);
}

TEST_F(SpareInterpreterTest, IsReplacedAndLeavesNothing) {
  for (int i = 0; i < 5; ++i) {
    execute(fmt::format("x = {}", i));
    ASSERT_TRUE(has_spare());
    expect_processes(2);
  }
  EXPECT_EQ(die("import os; os._exit(1)").outcome.exit_code, 1);
  ASSERT_TRUE(has_spare());
  expect_processes(2);
  const std::string id = interpreter()->info().id;
  interpreter_.reset();
  ASSERT_TRUE(run(connection()->remove_interpreter(id)));
  expect_processes(0);
}

// The interpreter's end and ours cross.
TEST_F(SpareInterpreterTest, RemovedWhileItDiesItLeavesNothing) {
  for (int i = 0; i < 10; ++i) {
    execute("import os");
    ASSERT_TRUE(has_spare());
    const auto go = [](std::shared_ptr<GuestConnection> connection,
                       std::shared_ptr<Interpreter> interpreter) -> Task<void> {
      ExecutionSpec spec;
      spec.code = "os._exit(1)";
      CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
      co_return co_await connection->remove_interpreter(interpreter->info().id);
    };
    EXPECT_TRUE(run(go(connection(), interpreter())));
    interpreter_.reset();
    expect_processes(0);
  }
}

TEST_F(SpareInterpreterTest, WhatTheDeadOneStartedEndsWithIt) {
  execute("import os, subprocess");
  const Cell cell = die("children = [subprocess.Popen(['sleep', '1000']) for _ in range(3)]\nos._exit(1)");
  EXPECT_THAT(cell.outcome.reason, EndsWith(kGoesOn));
  ASSERT_TRUE(has_spare());
  expect_processes(2);
}

TEST_F(SpareInterpreterTest, TheUserSeesNeitherForkNorChild) {
  execute(
      "import os, signal, random, atexit\nseen = []\n"
      "os.register_at_fork(before=lambda: seen.append('before'), after_in_parent=lambda: "
      "seen.append('parent'),\n"
      "                    after_in_child=lambda: seen.append('child'))\n"
      "signal.signal(signal.SIGCHLD, lambda *_: seen.append('SIGCHLD'))\n"
      "atexit.register(lambda: os.write(1, b'leaving'))\n"
      "random.seed(7); expected = random.Random(7).random()");
  ASSERT_TRUE(has_spare());
  EXPECT_THAT(execute("os.wait()").error(), "ChildProcessError");
  ASSERT_TRUE(has_spare());  // another, so one has ended
  EXPECT_EQ(execute("seen").text(), "[]");
  EXPECT_EQ(die("random.random(); os._exit(1)").out, "");
  EXPECT_EQ(execute("seen, random.random() == expected").text(), "([], True)");
  EXPECT_EQ(
      execute("pid = os.fork()\nif pid == 0: os._exit(3)\nos.waitstatus_to_exitcode(os.wait()[1])").text(),
      "3");
}

TEST_F(SpareInterpreterTest, SignalsForTheOneBeforeAreNotForIt) {
  execute(
      "import os, signal, time\ngot = []\nfor n in (10, 12, 15): signal.signal(n, lambda n, _: "
      "got.append(n))");
  ASSERT_TRUE(has_spare());
  const pid_t interpreter = static_cast<pid_t>(guest_interpreter()->process()->info().pid);
  for (const pid_t pid : processes())
    if (pid != interpreter)
      for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGINT}) ::kill(pid, number);
  EXPECT_EQ(die("os._exit(1)").outcome.exit_code, 1);
  EXPECT_EQ(execute("got").text(), "[]");
  EXPECT_EQ(execute("os.kill(os.getpid(), 10); time.sleep(0.01); got").text(), "[10]")
      << "its handlers are its own";
}

TEST_F(SpareInterpreterTest, VariablesToldMeanwhileAreNotLost) {
  execute("import os");
  ASSERT_TRUE(has_spare());
  connection()->add_variables({{"TOLD_LATER", "yes"}});
  EXPECT_EQ(die("os._exit(1)").outcome.exit_code, 1);
  EXPECT_EQ(execute("os.environ['TOLD_LATER']").text(), "'yes'");
  ExecutionSpec spec;
  spec.code = "os._exit(1)";
  spec.env = {{"ONLY_HERE", "1"}};
  ASSERT_TRUE(has_spare());
  EXPECT_EQ(execute(spec).outcome.exit_code, 1);
  EXPECT_EQ(execute("'ONLY_HERE' in os.environ").text(), "False");
}

TEST_F(SpareInterpreterTest, WithThreadsNoneIsKeptAndTheLossIsTold) {
  execute(
      "import threading, time\nx = 1\nthreading.Thread(target=time.sleep, args=(1000,), "
      "daemon=True).start()");
  EXPECT_FALSE(has_spare());
  const Cell cell = limited("sum(range(1 << 62))");
  EXPECT_EQ(cell.outcome.ending, Ending::timed_out);
  EXPECT_EQ(
      cell.outcome.reason,
      "wall time limit of 0.100 s; the interpreter was killed, and no copy of it was kept: it has threads");
  EXPECT_TRUE(is_dead());
  ASSERT_TRUE(run(interpreter()->restart()));
  EXPECT_EQ(execute("'x' in globals()").text(), "False");
  expect_processes(has_spare() ? 2 : 1);
}

TEST_F(SpareInterpreterTest, ChildrenTimersAndMuchMemoryPreventIt) {
  execute("import subprocess, signal\nchild = subprocess.Popen(['sleep', '1000'])");
  EXPECT_FALSE(has_spare());
  execute("child.kill(); child.wait()");
  EXPECT_TRUE(has_spare());
  execute("signal.setitimer(signal.ITIMER_REAL, 1000)");
  EXPECT_FALSE(has_spare());
  execute("signal.setitimer(signal.ITIMER_REAL, 0)");
  EXPECT_TRUE(has_spare());
  execute("much = bytearray(b'x' * (300 << 20))");
  EXPECT_FALSE(has_spare());
  execute("del much");
  EXPECT_TRUE(has_spare());
}

TEST_F(SpareInterpreterTest, AnOlderStateNeverGoesOn) {
  spare_.calm = 1h;
  spare_.at_once_after = 1h;
  execute("x = 1");
  EXPECT_FALSE(guest_interpreter()->has_spare());
  EXPECT_EQ(execute("import os; os._exit(9)").outcome.reason, "the interpreter's process exited with code 9");
  EXPECT_TRUE(is_dead());
}

TEST_F(SpareInterpreterTest, StandsBackWhileOthersWaitButNotForEver) {
  bool waiting = true;
  spare_.others_wait = [&] { return waiting; };
  spare_.latest = 1h;
  execute("x = 1");
  loop_.restart();
  loop_.run_for(50ms);
  EXPECT_FALSE(guest_interpreter()->has_spare());
  waiting = false;
  EXPECT_TRUE(has_spare());
}

TEST_F(SpareInterpreterTest, IsMadeInTheEndThoughOthersWait) {
  spare_.others_wait = [] { return true; };
  spare_.latest = 20ms;
  execute("x = 1");
  EXPECT_TRUE(has_spare());
}

// Its answer comes when nobody is there any more.
TEST_F(SpareInterpreterTest, AInterpreterMayGoWhileItsSpareIsMade) {
  spare_.calm = 1h;
  spare_.at_once_after = 0ms;
  for (int i = 0; i < 20; ++i) {
    execute("x = 1");
    EXPECT_TRUE(guest_interpreter()->has_spare());  // it was asked for
    ASSERT_TRUE(run(connection_->remove_interpreter(interpreter()->info().id)));
    interpreter_.reset();
    loop_.restart();
    loop_.run_for(5ms);
  }
  expect_processes(0);
}

// Back to back: the copy is of two executions before.
TEST_F(SpareInterpreterTest, ACopyThatIsTooOldEndsWithItsInterpreter) {
  spare_.at_once_after = 1h;
  execute("x = 1; import os");
  ASSERT_TRUE(has_spare());
  const auto go = [](std::shared_ptr<Interpreter> interpreter) -> Task<Cell> {
    ExecutionSpec first, second;
    first.code = "x = 2";
    second.code = "os._exit(5)";
    CO_TRY(auto one, co_await interpreter->execute(std::move(first)));
    CO_TRY(auto two, co_await interpreter->execute(std::move(second)));
    CO_CHECK(co_await hear(std::move(one)));
    co_return co_await hear(std::move(two));
  };
  const auto cell = run(go(interpreter()));
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->outcome.exit_code, 5);
  EXPECT_THAT(cell->outcome.reason, Not(HasSubstr("goes on")));
  EXPECT_TRUE(is_dead());
  expect_processes(0);
}

// ---- code that attacks its own spare

TEST_F(SpareInterpreterTest, KillingItsSpareHarmsOnlyItself) {
  execute("import os\nx = 1");
  ASSERT_TRUE(has_spare());
  const Cell cell = execute(
      "me = os.getpid()\n"
      "for pid in open(f'/proc/{me}/task/{me}/children').read().split(): os.kill(int(pid), 9)\n"
      "os._exit(7)");
  EXPECT_EQ(cell.outcome.exit_code, 7);
  EXPECT_TRUE(is_dead());
  ASSERT_TRUE(run(interpreter()->restart()));
  EXPECT_EQ(execute("1").text(), "1");
}

TEST_F(SpareInterpreterTest, ReapingItsSpareHarmsNobody) {
  execute("import os");
  ASSERT_TRUE(has_spare());
  execute(
      "me = os.getpid()\nchild = int(open(f'/proc/{me}/task/{me}/children').read())\n"
      "os.kill(child, 9); os.waitpid(child, 0x40000000)");
  EXPECT_TRUE(has_spare()) << "the next one is made all the same";
  EXPECT_EQ(die("os._exit(1)").outcome.exit_code, 1);
  EXPECT_EQ(execute("1").text(), "1");
}

// It names processes that are not its spare; the guest lets nothing go on but a child of the interpreter's
// own.
TEST_F(SpareInterpreterTest, LiesAboutItsSpareAreSeenThrough) {
  for (const char* lie : {"1", "2", "4000000000", "os.getpid()", "os.getppid()", "stranger"}) {
    execute("import os, subprocess");
    ASSERT_TRUE(has_spare());
    execute(
        fmt::format("stranger = int(subprocess.run(['sh', '-c', 'sleep 20 >/dev/null 2>&1 & echo $!'],\n"
                    "                              stdout=subprocess.PIPE).stdout)\n"
                    "runner = display.__globals__\nrunner['SPARE'] = lambda: {}",
                    lie));
    has_spare();
    const Cell cell = execute("os._exit(6)");
    EXPECT_EQ(cell.outcome.exit_code, 6) << lie;
    EXPECT_THAT(cell.outcome.reason, Not(HasSubstr("goes on"))) << lie;
    EXPECT_TRUE(is_dead()) << lie;
    ASSERT_TRUE(run(interpreter()->restart())) << lie;
  }
  EXPECT_TRUE(run(connection()->ping()));
}

// A child of its own that is no copy of it may go on, but does not know the word.
TEST_F(SpareInterpreterTest, AChildThatCannotAnswerIsNoContext) {
  execute("import os");
  ASSERT_TRUE(has_spare());
  execute(
      "runner = display.__globals__\n"
      "def liar():\n  pid = os.fork()\n  if pid == 0:\n    os.setsid()\n    os.execv('/bin/sleep', ['sleep', "
      "'0.3'])\n"
      "  return pid\n"
      "runner['SPARE'] = liar");
  ASSERT_TRUE(has_spare());
  const Cell cell = execute("os._exit(6)");
  EXPECT_EQ(cell.outcome.exit_code, 6);
  EXPECT_THAT(cell.outcome.reason, Not(HasSubstr("goes on")));
  EXPECT_TRUE(is_dead());
  ASSERT_TRUE(run(interpreter()->restart()));
  EXPECT_EQ(execute("1").text(), "1");
}

TEST_F(SpareInterpreterTest, AnAnswerThatNobodyAskedForBreaksTheRules) {
  execute("import os\nfd = next(n for n in (900, 60) if os.path.exists(f'/proc/self/fd/{n}'))");
  ASSERT_TRUE(has_spare());
  const Cell cell = execute("os.write(fd, b'Q 2\\n17')\nimport time; time.sleep(60)");
  EXPECT_EQ(cell.outcome.ending, Ending::killed);
  EXPECT_EQ(cell.outcome.reason, "the interpreter broke its protocol");
  EXPECT_TRUE(is_dead());
  expect_processes(0);
}

TEST_F(SpareInterpreterTest, DyingAgainAndAgainIsBounded) {
  execute("import os\nx = 0");
  for (int i = 0; i < 30; ++i) EXPECT_THAT(die("os._exit(1)").outcome.reason, EndsWith(kGoesOn));
  EXPECT_EQ(execute("x").text(), "0");
  ASSERT_TRUE(has_spare());
  expect_processes(2);
}

}  // namespace
}  // namespace atl::sandbox
