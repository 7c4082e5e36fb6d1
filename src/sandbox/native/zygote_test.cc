#include "sandbox/native/zygote.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include "sandbox/native/native.h"
#include "sandbox/native/native_harness.h"
#include "sandbox/native/sandbox.h"

namespace atl::sandbox::native {
namespace {

using testing::HasSubstr;

class ZygoteTest : public WarmHarness {
 protected:
  static Task<Outcome> limited(std::shared_ptr<Interpreter> interpreter, std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    spec.wall_time = std::chrono::milliseconds(300);
    CO_TRY(const auto stream, co_await interpreter->execute(std::move(spec)));
    for (;;) {
      CO_TRY(ExecutionEvent event, co_await stream->next());
      if (auto* done = std::get_if<ExecutionDone>(&event)) co_return done->outcome;
    }
  }
};

// What /proc/self tells about the walls around a process, without what differs between any two.
constexpr const char* kWallsOfSelf = R"(
import os, re
status = open('/proc/self/status').read()
for name in ('Uid', 'Gid', 'Groups', 'NoNewPrivs', 'Seccomp', 'Seccomp_filters', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd',
             'CapAmb', 'NSpgid', 'NSsid'):
    value = re.search(rf'^{name}:\s*(.*)$', status, re.M)
    value = value.group(1).strip() if value else None
    if name in ('NSpgid', 'NSsid'):
        value = value == str(os.getpid())
    print(name, value)
for name in sorted(os.listdir('/proc/self/ns')):
    print(name, os.readlink('/proc/self/ns/' + name))
print(open('/proc/self/limits').read())
print(open('/proc/self/cgroup').read())
print(os.getppid(), os.getcwd(), oct(os.umask(0o22)), open('/proc/self/oom_score_adj').read().strip())
print(os.stat('/proc/self/fd').st_uid, os.readlink('/proc/self/root'), sorted(os.environ.items()))
import sys
print(sys.path, sys.argv, sys.flags, sys.executable, sys.getfilesystemencoding(), sys.stdin.read())
import signal
print([signal.getsignal(n) if callable(signal.getsignal(n)) is False else 'f' for n in range(1, 32)])
)";

TEST_F(ZygoteTest, AForkedInterpreterStandsBehindTheSameWallsAsAStartedOne) {
  const auto sandbox = warm_sandbox();
  const auto forked = forked_interpreter(*sandbox);
  Spec spec;
  // A variable that matters at the start only: this one is not forked.
  spec.env = {{"PYTHONNOUSERSITE_", "1"}};
  const auto other = this->sandbox(std::move(spec));
  auto started = run(other->create_interpreter(Language::python, ""));
  ASSERT_TRUE(started) << started.error().message();
  EXPECT_EQ((*started)->info().origin, InterpreterOrigin::started);
  const std::string code = std::string(kWallsOfSelf);
  const std::string theirs = said(*started, "import os; del os.environ['PYTHONNOUSERSITE_']\n" + code);
  std::string ours = said(forked, code);
  // Namespaces of two sandboxes differ by their numbers, groups by their names.
  const auto neutral = [](const std::string& text) {
    return std::regex_replace(text, std::regex(R"(:\[\d+\]|/s\d+\b)"), "");
  };
  EXPECT_EQ(neutral(ours), neutral(theirs));
}

TEST_F(ZygoteTest, InheritsNothing) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  // Of what the zygote executed to warm up.
  EXPECT_EQ(
      said(interpreter, "sorted(name for name in globals() if not name.startswith('__')), '_' in globals()"),
      "(['display'], False)");
  // Standard streams, their two copies and the control stream; listdir itself opens one.
  EXPECT_EQ(said(interpreter, "import os\nlen(os.listdir('/proc/self/fd'))"), "7");
  EXPECT_EQ(said(interpreter, "sorted(n for n in os.environ if n not in ('LC_CTYPE', 'MPLBACKEND'))"),
            "['HOME', 'LOGNAME', 'PATH', 'SHELL', 'USER']");
  EXPECT_THAT(said(interpreter, "open('/proc/1/mem', 'rb')"), HasSubstr("PermissionError"));
  EXPECT_THAT(said(interpreter, "os.listdir('/proc/1/fd')"), HasSubstr("PermissionError"));
  EXPECT_EQ(said(interpreter, "import threading; threading.active_count()"), "1");
  EXPECT_EQ(
      said(interpreter, "threading.main_thread().native_id == threading.get_native_id() == os.getpid()"),
      "True");
}

TEST_F(ZygoteTest, IsAChildOfProcessOneAndItsEndIsTold) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  const Executed died = execute(interpreter, "import os\nos._exit(7 if os.getppid() == 1 else 8)");
  EXPECT_EQ(died.outcome.ending, Ending::exited);
  EXPECT_EQ(died.outcome.exit_code, 7);
  ASSERT_TRUE(run(interpreter->restart()));
  EXPECT_EQ(interpreter->info().origin, InterpreterOrigin::forked);
  EXPECT_EQ(said(interpreter, "1+1"), "2");
  const Executed killed = execute(interpreter, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)");
  EXPECT_EQ(killed.outcome.ending, Ending::signaled);
  EXPECT_EQ(killed.outcome.signal, SIGSEGV);
}

TEST_F(ZygoteTest, ChildrenDrawDifferentRandomNumbers) {
  const auto first = warm_sandbox();
  const auto a = forked_interpreter(*first);
  auto b = run(first->create_interpreter(Language::python, ""));
  ASSERT_TRUE(b);
  EXPECT_EQ((*b)->info().origin, InterpreterOrigin::forked);
  const char* const code = "import random, uuid\n(random.random(), uuid.uuid4().hex)";
  EXPECT_NE(said(a, code), said(*b, code));
}

// Python was not told of the fork that made this interpreter; it is told of those that the interpreter makes.
TEST_F(ZygoteTest, ForksAndThreadsOfItsOwnAreAsAnywhere) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  EXPECT_EQ(said(interpreter, R"(
import os, random, threading
r, w = os.pipe()
before = random.getstate()
if os.fork() == 0:
    os.write(w, repr((random.getstate() != before, threading.main_thread().is_alive())).encode())
    os._exit(0)
os.wait()
numbers = []
threads = [threading.Thread(target=numbers.append, args=(n,)) for n in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
print(os.read(r, 100).decode(), sorted(numbers), threading.active_count(), threading.current_thread().name)
)"),
            "(True, True) [0, 1, 2, 3] 1 MainThread\n");
}

// What the zygote rehearsed is not to be seen.
TEST_F(ZygoteTest, BeginsAsIfNothingHadBeen) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  EXPECT_EQ(said(interpreter, R"(
import gc, linecache, sys
print(sorted(n for n in globals() if n[0] != '_'), [n for n in linecache.cache if n != '<cell 1>'], gc.isenabled())
print(sys.stdout.seekable(), sys.stdout.fileno(), sys.stderr.fileno(), sys.stdout.line_buffering, sys.stdout is sys.__stdout__)
)"),
            "['display', 'gc', 'linecache', 'sys'] [] True\nFalse 1 2 True True\n");
}

TEST_F(ZygoteTest, AWarmInterpreterIsNobodysContextUntilAskedFor) {
  const auto sandbox = warm_sandbox();
  EXPECT_TRUE(sandbox->interpreters().empty());
  EXPECT_TRUE(sandbox->processes().empty());
  const auto usage = run(sandbox->usage());
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->processes, 0U);
  forked_interpreter(*sandbox);
  EXPECT_EQ(sandbox->interpreters().size(), 1U);
}

TEST_F(ZygoteTest, AWarmInterpreterTakesVariablesAndDirectoryOfWhoeverAsks) {
  Spec spec;
  spec.env = {{"GREETING", "hello"}};
  spec.working_directory = "/tmp";
  const auto sandbox = warm_sandbox(std::move(spec));
  const auto interpreter = forked_interpreter(*sandbox);
  EXPECT_EQ(interpreter->info().cwd, "/tmp");
  EXPECT_EQ(said(interpreter, "import os; print(os.environ['GREETING'], os.getcwd())"), "hello /tmp\n");
}

TEST_F(ZygoteTest, DirectoriesThatAreNotThereAreRefusedClearly) {
  const auto sandbox = warm_sandbox();
  auto warm = run(sandbox->create_interpreter(Language::python, "/nowhere"));
  ASSERT_FALSE(warm);
  EXPECT_EQ(warm.error().code(), Code::invalid_argument);
  EXPECT_THAT(warm.error().message(), HasSubstr("/nowhere"));
  auto next = run(sandbox->create_interpreter(Language::python, "/nowhere"));
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code(), Code::invalid_argument);
  EXPECT_THAT(next.error().message(), HasSubstr("/nowhere"));
  EXPECT_TRUE(sandbox->interpreters().empty());
}

TEST_F(ZygoteTest, AChangedSystemIsNotTheZygotes) {
  Spec spec;
  spec.user = "root";
  const auto sandbox = this->sandbox(std::move(spec));
  for (const Wall& wall : sandbox->isolation().missing)
    if (wall.name == "idmapped_layers")
      GTEST_SKIP() << "the files of /usr belong to nobody here: " << wall.value;
  auto changed = run(sandbox->create_interpreter(Language::shell, ""));
  ASSERT_TRUE(changed);
  EXPECT_EQ(said(*changed,
                 "mkdir -p /usr/lib/python3/dist-packages && "
                 "echo 'print(1)' > /usr/lib/python3/dist-packages/zz_atoll.py && echo ok"),
            "ok\n");
  auto interpreter = run(sandbox->create_interpreter(Language::python, ""));
  ASSERT_TRUE(interpreter);
  EXPECT_EQ((*interpreter)->info().origin, InterpreterOrigin::started);
  EXPECT_EQ(said(*interpreter, "import zz_atoll"), "1\n");
}

TEST_F(ZygoteTest, HasImportedWhatItsEnvironmentNames) {
  Spec spec;
  spec.preimport = {"numpy", "no_such_module"};
  const auto sandbox = this->sandbox(std::move(spec));
  // The first one may come before such a zygote is ready.
  std::shared_ptr<Interpreter> interpreter;
  for (int i = 0; i < 500; ++i) {
    auto made = run(sandbox->create_interpreter(Language::python, ""));
    ASSERT_TRUE(made) << made.error().message();
    if ((interpreter = *made)->info().origin == InterpreterOrigin::forked) break;
    ASSERT_TRUE(run(sandbox->remove_interpreter(interpreter->info().id)));
    turn(std::chrono::milliseconds(20));
  }
  ASSERT_EQ(interpreter->info().origin, InterpreterOrigin::forked);
  EXPECT_EQ(said(interpreter, "import sys\n'numpy' in sys.modules, 'no_such_module' in sys.modules"),
            "(True, False)");
  EXPECT_EQ(said(interpreter, "import numpy\nint(numpy.arange(5).sum())"), "10");
  // Others do not have it.
  const auto other = warm_sandbox();
  EXPECT_EQ(said(forked_interpreter(*other), "import sys\n'numpy' in sys.modules"), "False");
}

TEST_F(ZygoteTest, FindsPackagesOfTheUsersOwn) {
  const auto sandbox = warm_sandbox();
  auto shell = run(sandbox->create_interpreter(Language::shell, ""));
  ASSERT_TRUE(shell);
  said(*shell, "d=$(python3 -m site --user-site); mkdir -p $d; echo 'value = 42' > $d/mine.py");
  auto spare = forked_interpreter(*sandbox);  // the warm one, from before
  auto interpreter = run(sandbox->create_interpreter(Language::python, ""));
  ASSERT_TRUE(interpreter);
  EXPECT_EQ((*interpreter)->info().origin, InterpreterOrigin::forked);
  EXPECT_EQ(said(*interpreter, "import mine; mine.value"), "42");
}

TEST_F(ZygoteTest, LimitsBindForkedInterpreters) {
  Spec spec;
  spec.limits.memory_bytes = 64U << 20;
  const auto sandbox = this->sandbox(std::move(spec));
  auto made = run(sandbox->create_interpreter(Language::python, ""));
  ASSERT_TRUE(made);
  const Executed hog = execute(*made, "x = bytearray(400 << 20)");
  EXPECT_EQ(hog.outcome.ending, Ending::out_of_memory) << to_string(hog.outcome.ending);
  ASSERT_TRUE(run((*made)->restart()));
  EXPECT_EQ(said(*made, "1+1"), "2");
}

// Code that attacks its own runner harms itself only: the interpreter goes on, or dies and says so.
TEST_F(ZygoteTest, SurvivesCodeThatAttacksTheRunner) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  said(interpreter,
       "import builtins\nbuiltins.print = builtins.len = builtins.isinstance = builtins.compile = None");
  EXPECT_EQ(said(interpreter, "6 * 7"), "42");
  said(interpreter, "import sys\nsys.stdout = sys.stderr = None\nsys.modules.clear()");
  EXPECT_EQ(said(interpreter, "6 * 7"), "42");
  ASSERT_TRUE(run(interpreter->restart()));
  said(interpreter, "import os\nos.close(1); os.close(2)");
  EXPECT_EQ(said(interpreter, "print('still here')"), "still here\n");
  EXPECT_THAT(said(interpreter, "def deeper(): return deeper()\ndeeper()"), HasSubstr("RecursionError"));
  EXPECT_EQ(said(interpreter, "import os\nos.fork()\n6 * 7"), "42");
  const Executed liar =
      execute(interpreter,
              "import os\nfor fd in range(800, 1000):\n  try: os.write(fd, b'nonsense' * 100)\n"
              "  except OSError: pass\nimport time; time.sleep(60)");
  EXPECT_EQ(liar.outcome.ending, Ending::killed);
  EXPECT_EQ(liar.outcome.reason, "the interpreter broke its protocol");
  ASSERT_TRUE(run(interpreter->restart()));
  // Without its control stream it cannot answer: that is its death, and told as such.
  const Executed cut = execute(interpreter, "import os\nos.closerange(3, 1000)");
  EXPECT_FALSE(cut.outcome.ending == Ending::exited && cut.outcome.exit_code == 0) << cut.outcome.reason;
  EXPECT_FALSE(run(interpreter->execute(ExecutionSpec{.code = "1"})));
  ASSERT_TRUE(run(interpreter->restart()));
  EXPECT_EQ(said(interpreter, "1+1"), "2");
}

// Python looks for an interrupt between its own instructions. What never comes back to them, and what came
// back from a wait, is told apart by what is left: an interpreter that goes on, or one whose death is told
// and that can be restarted. Nobody waits for ever: the interpreter is started, as a program, and the next
// one is forked from another zygote.
TEST_F(ZygoteTest, OneThatDoesNotAnswerIsGivenUp) {
  const auto sandbox = warm_sandbox();
  said(forked_interpreter(*sandbox), "x = 7");
  // The pool makes another sandbox and forks its interpreter: it must not be the one that finds the zygote
  // stopped.
  await_full_pool();
  const auto status = [](const std::string& pid, const std::string& name) {
    std::ifstream file("/proc/" + pid + "/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(name)) return line.substr(line.find('\t') + 1);
    return std::string();
  };
  const auto guest = std::to_string(static_cast<NativeSandbox&>(*sandbox).state()->spawned.pid);
  int stopped = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (status(pid, "Name:") == "python3" && status(pid, "PPid:") == status(guest, "PPid:"))
      ++stopped, ::kill(std::stoi(pid), SIGSTOP);
  }
  ASSERT_GT(stopped, 0);
  EXPECT_EQ(said(python_interpreter(*sandbox, InterpreterOrigin::started), "1 + 1"), "2");
  InterpreterOrigin origin = InterpreterOrigin::started;
  for (int i = 0; i < 100 && origin == InterpreterOrigin::started; ++i) {
    turn(std::chrono::milliseconds(100));
    auto interpreter = run(sandbox->create_interpreter(Language::python, ""));
    ASSERT_TRUE(interpreter) << interpreter.error().message();
    origin = (*interpreter)->info().origin;
    ASSERT_TRUE(run(sandbox->remove_interpreter((*interpreter)->info().id)));
  }
  EXPECT_EQ(origin, InterpreterOrigin::forked);
}

TEST_F(ZygoteTest, NativeCodeIsStoppedToo) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  const auto waiting = run(limited(interpreter, "import select\nselect.select([], [], [])"));
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->ending, Ending::timed_out);
  EXPECT_EQ(said(interpreter, "1+1"), "2");
  // With a thread beside it no copy of it can be kept.
  said(interpreter,
       "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()");
  const auto computing = run(limited(interpreter, "sum(range(1 << 62))"));
  ASSERT_TRUE(computing);
  EXPECT_EQ(computing->ending, Ending::timed_out);
  EXPECT_THAT(computing->reason, HasSubstr("the interpreter was killed"));
  ASSERT_TRUE(run(interpreter->restart()));
  EXPECT_EQ(said(interpreter, "1+1"), "2");
}

TEST_F(ZygoteTest, OutputOfAnySizeComesBeforeTheEnd) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  const std::string all = said(interpreter, "for i in range(20000): print('line', i, 'hé 你')");
  EXPECT_EQ(std::ranges::count(all, '\n'), 20000);
  EXPECT_TRUE(all.ends_with("line 19999 hé 你\n"));
  EXPECT_EQ(said(interpreter, "import os\nfor i in range(64): os.write(1, b'x' * 65536)\n7").size(),
            64U * 65536 + 1);
}

TEST_F(ZygoteTest, InterruptsStopPythonAndItsChildren) {
  const auto sandbox = warm_sandbox();
  const auto interpreter = forked_interpreter(*sandbox);
  for (const char* code : {"while True: pass", "import time; time.sleep(1000)", "!sleep 1000"}) {
    const auto outcome = run(limited(interpreter, code));
    ASSERT_TRUE(outcome) << code;
    EXPECT_EQ(outcome->ending, Ending::timed_out) << code;
    EXPECT_EQ(said(interpreter, "1+1"), "2") << code;
  }
}

}  // namespace
}  // namespace atl::sandbox::native
