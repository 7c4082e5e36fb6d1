#include <fmt/format.h>
#include <gmock/gmock.h>

#include <csignal>

#include "guest/runners.h"
#include "sandbox/interpreter_harness.h"

namespace atl::sandbox {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class PythonInterpreterTest : public GuestInterpreterTest {};

TEST_F(PythonInterpreterTest, RemembersAndCounts) {
  EXPECT_EQ(execute("x = 20").results.size(), 0U);
  const Cell cell = execute("x + 1");
  EXPECT_EQ(cell.text(), "21");
  EXPECT_TRUE(cell.results[0].is_main);
  EXPECT_EQ(cell.count, 2U);
  EXPECT_TRUE(cell.outcome.succeeded());
  EXPECT_EQ(execute("import os; os.getcwd()").text(), "'/tmp'");
  EXPECT_EQ(execute("'quiet';").results.size(), 0U);
  EXPECT_EQ(execute("None").results.size(), 0U);
  EXPECT_EQ(execute("").outcome.exit_code, 0);
}

TEST_F(PythonInterpreterTest, StreamsOutputBeforeTheEnd) {
  const Cell cell = execute("import sys\nprint('a'); print('b', file=sys.stderr); print('c', end='')\n5");
  EXPECT_EQ(cell.out, "a\nc");
  EXPECT_EQ(cell.err, "b\n");
  EXPECT_EQ(cell.text(), "5");
  EXPECT_EQ(execute("import os; os.system('echo child'); os.write(1, b'raw\\n'); None").out, "child\nraw\n");
  EXPECT_EQ(execute("print('ünïcödé \U0001F600 \\udc80')").out, "ünïcödé \U0001F600 \\udc80\n");
}

TEST_F(PythonInterpreterTest, TellsErrorsWithTheUsersFramesOnly) {
  const Cell cell = execute("def f():\n    return 1/0\nf()");
  ASSERT_EQ(cell.errors.size(), 1U);
  EXPECT_EQ(cell.errors[0].name, "ZeroDivisionError");
  EXPECT_EQ(cell.errors[0].value, "division by zero");
  EXPECT_THAT(cell.errors[0].traceback, HasSubstr("line 2, in f\n    return 1/0"));
  EXPECT_THAT(cell.errors[0].traceback, Not(HasSubstr("atoll")));
  EXPECT_EQ(cell.outcome.exit_code, 1);
  EXPECT_EQ(execute("1 +").errors[0].name, "SyntaxError");
  EXPECT_THAT(execute("1 +").errors[0].traceback, Not(HasSubstr("atoll")));
  EXPECT_EQ(execute("def g(): g()\ng()").error(), "RecursionError");
  EXPECT_EQ(execute("class E(Exception):\n  def __str__(self): raise E\nraise E").error(), "E");
  EXPECT_EQ(execute("import sys; sys.exit(3)").outcome.exit_code, 3);
  EXPECT_EQ(execute("2").text(), "2");
}

TEST_F(PythonInterpreterTest, AwaitsAtTheTop) {
  EXPECT_EQ(
      execute("import asyncio\nasync def f():\n  await asyncio.sleep(0.01)\n  return 7\nawait f()").text(),
      "7");
  EXPECT_EQ(execute("y = await f()\ny * 2").text(), "14");
  EXPECT_EQ(execute("await asyncio.wait_for(asyncio.sleep(5), 0.01)").error(), "TimeoutError");
}

TEST_F(PythonInterpreterTest, EscapesToTheShell) {
  EXPECT_EQ(execute("!echo hi").out, "hi\n");
  EXPECT_EQ(execute("name = 'x'\n!echo {name} $name $HOME\nfiles = !printf 'a\\nb'\nfiles").text(),
            "['a', 'b']");
  EXPECT_EQ(execute("for i in range(2):\n    !echo $i").out, "0\n1\n");
  EXPECT_EQ(execute("%%bash\necho $((1+1))").out, "2\n");
  EXPECT_EQ(execute("%cd /usr\nimport os; os.getcwd()").text(), "'/usr'");
}

TEST_F(PythonInterpreterTest, ShowsByMimeType) {
  const Cell cell = execute(
      "class H:\n  def _repr_html_(self): return '<b>x</b>'\n  def _repr_png_(self): return b'\\x89PNG'\n"
      "  def _repr_json_(self): return {'a': 1}\ndisplay(H())\nH()");
  ASSERT_EQ(cell.results.size(), 2U);
  EXPECT_FALSE(cell.results[0].is_main);
  EXPECT_EQ(cell.results[1].data.at("text/html"), "<b>x</b>");
  EXPECT_EQ(cell.results[1].data.at("image/png"), "iVBORw==");
  EXPECT_EQ(cell.results[1].data.at("application/json"), "{\"a\": 1}");
}

TEST_F(PythonInterpreterTest, SetsAndRestoresTheEnvironment) {
  ExecutionSpec spec;
  spec.code = "import os; print(os.environ['A'], os.environ['HOME'])";
  spec.env = {{"A", "1"}, {"HOME", "/elsewhere"}};
  EXPECT_EQ(execute(spec).out, "1 /elsewhere\n");
  EXPECT_EQ(execute("print(os.environ.get('A'), os.environ['HOME'])").out, "None /root\n");
}

TEST_F(PythonInterpreterTest, StopsAtTheWallTimeAndGoesOn) {
  execute("x = 1");
  ExecutionSpec spec;
  spec.code = "while True: pass";
  spec.wall_time = 100ms;
  const Cell cell = execute(spec);
  EXPECT_EQ(cell.outcome.ending, Ending::timed_out);
  EXPECT_EQ(cell.outcome.reason, "wall time limit of 0.100 s");
  spec.code = "import time; time.sleep(60)";
  EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out);
  spec.code = "!sleep 60";
  EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out);
  EXPECT_EQ(execute("x").text(), "1");
}

TEST_F(PythonInterpreterTest, InterruptIsAKeyboardInterrupt) {
  const auto go = [](std::shared_ptr<Interpreter> interpreter) -> Task<Cell> {
    ExecutionSpec spec;
    spec.code = "print('up')\nimport time\ntime.sleep(60)";
    CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
    CO_TRY(ExecutionEvent up, co_await stream->next());
    CO_CHECK(co_await interpreter->interrupt());
    co_return co_await hear(std::move(stream));
  };
  const auto cell = run(go(interpreter()));
  EXPECT_EQ(cell->error(), "KeyboardInterrupt");
  EXPECT_EQ(cell->outcome.ending, Ending::exited);
  EXPECT_TRUE(run(interpreter()->interrupt()));  // idle: nothing happens
  EXPECT_EQ(execute("1").text(), "1");
}

TEST_F(PythonInterpreterTest, LeavingTheStreamInterrupts) {
  const auto go = [](std::shared_ptr<Interpreter> interpreter) -> Task<void> {
    ExecutionSpec spec;
    spec.code = "import time\ntime.sleep(300)";
    CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
    co_return Result<void>();
  };
  EXPECT_TRUE(run(go(interpreter())));
  const Cell cell = execute("'free'");
  EXPECT_EQ(cell.text(), "'free'");
  EXPECT_LT(cell.outcome.usage.wall_time, 3s);
}

TEST_F(PythonInterpreterTest, ReportsItsDeathAndRestarts) {
  execute("x = 1");
  const Cell cell = execute("import os; os._exit(9)");
  EXPECT_EQ(cell.outcome.exit_code, 9);
  EXPECT_EQ(cell.outcome.reason, "the interpreter's process exited with code 9");
  ExecutionSpec spec;
  spec.code = "1";
  const auto refused = run(cell_of(interpreter(), spec));
  EXPECT_EQ(refused.error().code(), Code::conflict);
  EXPECT_THAT(refused.error().message(),
              HasSubstr("is dead (the interpreter's process exited with code 9): restart it"));
  EXPECT_TRUE(run(interpreter()->restart()));
  EXPECT_EQ(execute("'x' in globals()").text(), "False");
  EXPECT_EQ(execute("import os, signal; os.kill(os.getpid(), 11)").outcome.ending, Ending::signaled);
}

TEST_F(PythonInterpreterTest, KillsWhatDoesNotListen) {
  ExecutionSpec spec;
  spec.code = "import signal, time\nsignal.signal(2, signal.SIG_IGN)\nwhile True: time.sleep(1)";
  spec.wall_time = 50ms;
  const Cell cell = execute(spec);
  EXPECT_EQ(cell.outcome.ending, Ending::timed_out);
  EXPECT_EQ(cell.outcome.reason, "wall time limit of 0.050 s; the interpreter was killed");
}

TEST_F(PythonInterpreterTest, SurvivesHostileCode) {
  EXPECT_EQ(execute("import builtins, os, sys\nfor n in "
                    "('len','isinstance','repr','str','type','print','getattr','compile',"
                    "'eval','exec','memoryview','int','list','dict'):\n  setattr(builtins, n, None)")
                .errors.size(),
            0U);
  EXPECT_EQ(execute("1+1").text(), "2");
  EXPECT_EQ(execute("os.write = os.read = sys.exit = None\n3").text(), "3");
  EXPECT_EQ(execute("os.close(1); os.close(2)").outcome.exit_code, 0);
  EXPECT_EQ(execute("sys.stdout.write('back\\n'); None").out, "back\n");
  EXPECT_EQ(execute("sys.stdout.close()").outcome.exit_code, 0);
  EXPECT_EQ(execute("sys.stdout.write('again\\n'); None").out, "again\n");
  EXPECT_EQ(execute("sys.stdout = None; sys.stderr = 5").outcome.exit_code, 0);
  EXPECT_EQ(execute("sys.stdout.write('x'); None").out, "x");
  EXPECT_EQ(execute("os.fork()\n4").text(), "4");
  EXPECT_EQ(execute("def r(): r()\nr()").error(), "RecursionError");
  EXPECT_EQ(execute("sys.modules.clear()\n6").text(), "6");
  EXPECT_EQ(execute("globals().clear()\n5").text(), "5");
}

TEST_F(PythonInterpreterTest, DiesRatherThanLie) {
  const Cell cell = execute(
      "import os\nfor fd in range(800, 1000):\n  try: os.write(fd, b'nonsense' * 100)\n  except OSError: "
      "pass\n"
      "import time; time.sleep(5)");
  EXPECT_EQ(cell.outcome.ending, Ending::killed);
  EXPECT_EQ(cell.outcome.reason, "the interpreter broke its protocol");
  EXPECT_EQ(run(connection()->ping()).has_value(), true);
}

TEST_F(PythonInterpreterTest, CarriesHugeOutputAndCutsAtTheLimit) {
  const Cell large = execute("for i in range(200000): print('x' * 20)\n'y' * 900000");
  EXPECT_EQ(large.out.size(), 200000U * 21);
  EXPECT_EQ(large.text().size(), 900002U);
  ExecutionSpec spec;
  spec.code = "while True: print('x' * 1000)";
  spec.output_bytes = 50'000;
  const Cell cut = execute(spec);
  EXPECT_EQ(cut.outcome.ending, Ending::output_limit);
  EXPECT_EQ(cut.out.size(), 50'000U);
  EXPECT_EQ(execute("'#' + " + fmt::format("'{}'", std::string(300'000, 'z')) + "[:1]").text(), "'#z'");
}

TEST_F(PythonInterpreterTest, QueuesInOneInterpreterAndRunsSeveralSideBySide) {
  const auto go = [](std::shared_ptr<GuestConnection> connection,
                     std::shared_ptr<Interpreter> first) -> Task<void> {
    CO_TRY(const auto second, co_await connection->create_interpreter(Language::python, "/usr"));
    EXPECT_EQ(connection->interpreters().size(), 2U);
    ExecutionSpec slow, quick;
    slow.code = "import time; time.sleep(0.3); order = ['slow']";
    quick.code = "order.append('quick'); order";
    CO_TRY(auto one, co_await first->execute(slow));
    CO_TRY(auto two, co_await first->execute(quick));
    ExecutionSpec other;
    other.code = "import os; os.getcwd()";
    CO_TRY(const Cell aside, co_await cell_of(second, other));
    EXPECT_EQ(aside.text(), "'/usr'");
    EXPECT_LT(aside.outcome.usage.wall_time, 250ms);
    CO_CHECK(co_await hear(std::move(one)));
    CO_TRY(const Cell last, co_await hear(std::move(two)));
    EXPECT_EQ(last.text(), "['slow', 'quick']");
    const std::string id = second->info().id;
    CO_CHECK(co_await connection->remove_interpreter(id));
    EXPECT_EQ(connection->interpreters().size(), 1U);
    const auto gone = co_await connection->remove_interpreter(id);
    EXPECT_EQ(gone.error().code(), Code::not_found);
    co_return Result<void>();
  };
  const auto first = interpreter();
  const auto done = run(go(connection(), first));
  EXPECT_TRUE(done) << done.error().message();
}

class NodeInterpreterTest : public GuestInterpreterTest {
 protected:
  NodeInterpreterTest() { language_ = Language::javascript; }
};

TEST_F(NodeInterpreterTest, RemembersRedeclaresAndAwaits) {
  EXPECT_EQ(execute("let x = 1; const f = () => x + 1; x").text(), "1");
  EXPECT_EQ(execute("const x = 20; f()").text(), "21");
  EXPECT_EQ(execute("const y = await Promise.resolve(x + 1); y").text(), "21");
  EXPECT_EQ(execute("y + 1").text(), "22");
  EXPECT_EQ(execute("import { join } from 'path'; import os from 'os'; join('a', typeof os.cpus)").text(),
            "'a/function'");
  EXPECT_EQ(execute("class A {}; class B extends A {}; new B() instanceof A").text(), "true");
  EXPECT_EQ(execute("class A { constructor() { this.n = 1 } }; new A().n").text(), "1");
  EXPECT_EQ(execute("require('fs').existsSync('/tmp')").text(), "true");
  const Cell cell = execute("console.log('out'); console.error('err'); undefined");
  EXPECT_EQ(cell.out, "out\n");
  EXPECT_EQ(cell.err, "err\n");
  EXPECT_EQ(cell.results.size(), 0U);
}

TEST_F(NodeInterpreterTest, TellsErrorsWithTheUsersFramesOnly) {
  const Cell cell = execute("function f() { throw new TypeError('bad') }\nf()");
  ASSERT_EQ(cell.errors.size(), 1U);
  EXPECT_EQ(cell.errors[0].name, "TypeError");
  EXPECT_EQ(cell.errors[0].value, "bad");
  EXPECT_THAT(cell.errors[0].traceback, HasSubstr("at f (<cell 1>:1:"));
  EXPECT_THAT(cell.errors[0].traceback, Not(HasSubstr("atoll")));
  EXPECT_EQ(execute("1 +").error(), "SyntaxError");
  EXPECT_EQ(execute("throw 5").outcome.exit_code, 1);
  EXPECT_EQ(
      execute("Promise.reject(new RangeError('late')); await new Promise(r => setTimeout(r, 200))").error(),
      "RangeError");
}

TEST_F(NodeInterpreterTest, StopsLoopsAndWaits) {
  execute("var kept = 7");
  ExecutionSpec spec;
  spec.wall_time = 200ms;
  spec.code = "while (true) {}";
  EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out);
  spec.code = "await new Promise(r => setTimeout(r, 60000))";
  const Cell waited = execute(spec);
  EXPECT_EQ(waited.outcome.ending, Ending::timed_out);
  EXPECT_EQ(waited.error(), "KeyboardInterrupt");
  EXPECT_EQ(execute("kept").text(), "7");
}

TEST_F(NodeInterpreterTest, ShowsByMimeTypeAndRestoresTheEnvironment) {
  const Cell cell = execute(
      "display.html('<b>x</b>'); ({ [Symbol.for('Jupyter.display')]: () => ({ 'text/markdown': '# y' }) })");
  ASSERT_EQ(cell.results.size(), 2U);
  EXPECT_EQ(cell.results[0].data.at("text/html"), "<b>x</b>");
  EXPECT_EQ(cell.results[1].data.at("text/markdown"), "# y");
  ExecutionSpec spec;
  spec.code = "process.env.A";
  spec.env = {{"A", "1"}};
  EXPECT_EQ(execute(spec).text(), "'1'");
  EXPECT_EQ(execute("process.env.A").results.size(), 0U);
}

TEST_F(NodeInterpreterTest, SurvivesHostileCode) {
  EXPECT_EQ(
      execute("console.log = null; JSON.stringify = null; Buffer.from = null; process.stdout.write = null;"
              "Promise.race = Promise.race; 1")
          .text(),
      "1");
  EXPECT_EQ(execute("2").text(), "2");
  EXPECT_EQ(execute("function r() { r() }; r()").error(), "RangeError");
  EXPECT_EQ(execute("process.exit(4)").outcome.exit_code, 4);
  EXPECT_TRUE(run(interpreter()->restart()));
  EXPECT_EQ(execute("3").text(), "3");
}

TEST_F(NodeInterpreterTest, LeavesEveryNameToCells) {
  EXPECT_EQ(
      execute("const fs = require('fs'), fd = 1, h = 2, b = 3, n = 4, s = 5; typeof fs.readSync + n").text(),
      "'function4'");
}

TEST_F(NodeInterpreterTest, SharesItsVariablesWithTypeScript) {
  if (guest::type_stripper().empty()) GTEST_SKIP() << "built without it";
  execute("const base = 20");
  ExecutionSpec typed;
  typed.language = Language::typescript;
  typed.code = "interface P { n: number }\nconst p: P = { n: base }; enum E { A = 1 }\np.n + E.A";
  EXPECT_EQ(execute(typed).text(), "21");
  EXPECT_EQ(execute("p.n + E.A + 1").text(), "22");
  EXPECT_EQ(execute("const n: number = 1").error(), "SyntaxError") << "JavaScript stays JavaScript";
  ExecutionSpec foreign;
  foreign.language = Language::python;
  foreign.code = "1";
  EXPECT_EQ(run(cell_of(interpreter(), foreign)).error().code(), Code::invalid_argument);
  ASSERT_TRUE(run(interpreter()->restart()));
  typed.code = "const again: number = 5; again";
  EXPECT_EQ(execute(typed).text(), "5") << "a fresh interpreter gets it again";
}

TEST_F(NodeInterpreterTest, StripsTypes) {
  if (guest::type_stripper().empty()) GTEST_SKIP() << "built without it";
  language_ = Language::typescript;
  EXPECT_EQ(execute("interface P { n: number }\nconst p: P = { n: 20 }; enum E { A = 1 }\np.n + E.A").text(),
            "21");
  EXPECT_EQ(execute("const q: number = await Promise.resolve(p.n); q").text(), "20");
  EXPECT_NE(execute("const : = 1").error(), "");
  EXPECT_EQ(execute("function f<T>(x: T): T { return x }; f<string>('s')").text(), "'s'");
}

class BashInterpreterTest : public GuestInterpreterTest {
 protected:
  BashInterpreterTest() { language_ = Language::shell; }
};

TEST_F(BashInterpreterTest, RemembersVariablesFunctionsAndDirectory) {
  EXPECT_EQ(execute("x=5; declare -A m=([a]=1); f() { echo f $x; }; cd /usr").outcome.exit_code, 0);
  EXPECT_EQ(execute("f; echo ${m[a]}; pwd; echo e >&2").out, "f 5\n1\n/usr\n");
  const Cell failed = execute("echo before; false");
  EXPECT_EQ(failed.out, "before\n");
  EXPECT_EQ(failed.outcome.exit_code, 1);
  EXPECT_EQ(failed.errors[0].value, "exit status 1");
  EXPECT_THAT(execute("if").err, HasSubstr("syntax error"));
  EXPECT_EQ(execute("read y; echo \"[$y]\"").out, "[]\n");
  EXPECT_EQ(execute("printf 'ü\\x00z'").out, std::string("ü\0z", 4));
}

TEST_F(BashInterpreterTest, StopsAndGoesOn) {
  execute("x=kept");
  ExecutionSpec spec;
  spec.wall_time = 200ms;
  spec.code = "while true; do sleep 1; done; echo after";
  const Cell cell = execute(spec);
  EXPECT_EQ(cell.outcome.ending, Ending::timed_out);
  EXPECT_EQ(cell.out, "");
  spec.code = "while :; do :; done; echo after";
  EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out);
  spec.code = "echo $A; B=1";
  spec.wall_time.reset();
  spec.env = {{"A", "it's \n two"}};
  EXPECT_EQ(execute(spec).out, "it's two\n");
  EXPECT_EQ(execute("echo $x $A $B").out, "kept 1\n");
}

TEST_F(BashInterpreterTest, SurvivesHostileCode) {
  EXPECT_EQ(execute("for f in builtin unset printf read trap local source shopt export break echo; do "
                    "eval \"$f() { :; }\"; done")
                .outcome.exit_code,
            0);
  EXPECT_EQ(execute("command echo on").out, "on\n");
  EXPECT_EQ(execute("command unset -f echo; echo again").out, "again\n");
  const Cell killed = execute("kill -9 $$");
  EXPECT_EQ(killed.outcome.signal, SIGKILL);
  EXPECT_TRUE(run(interpreter()->restart()));
  EXPECT_EQ(execute("echo back").out, "back\n");
}

TEST_F(BashInterpreterTest, ReportsItsDeath) {
  const Cell cell = execute("exit 3");
  EXPECT_EQ(cell.outcome.exit_code, 3);
  EXPECT_EQ(cell.outcome.reason, "the interpreter's process exited with code 3");
  EXPECT_TRUE(run(interpreter()->restart()));
  EXPECT_EQ(execute("echo back").out, "back\n");
}

}  // namespace
}  // namespace atl::sandbox
