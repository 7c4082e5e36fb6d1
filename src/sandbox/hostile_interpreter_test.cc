// Cells that attack the program that executes them: it goes on answering, or its death is told and a restart
// helps.
#include <gmock/gmock.h>

#include <csignal>

#include "guest/runners.h"
#include "sandbox/hostile_harness.h"

namespace atl::sandbox {
namespace {

using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using namespace std::chrono_literals;

class HostileNodeTest : public HostileInterpreterTest {
 protected:
  HostileNodeTest() { language_ = Language::javascript; }
};

// One after the other in one interpreter: none of them may cost the runner anything.
TEST_F(HostileNodeTest, ReplacesWhatEveryProgramUses) {
  for (const char* code :
       {"Array.prototype.push = () => { throw 1 }; Array.prototype.map = null; Array.prototype.join = null; "
        "42",
        "Array.prototype[Symbol.iterator] = null; Array.isArray = null; Array.prototype.sort = null; 42",
        "Object.prototype.extra = 1; Object.prototype.toString = null; Object.keys = null; Object.assign = "
        "null; 42",
        "Object.defineProperty(Object.prototype, 'value', { set() { throw 2 }, configurable: true }); 42",
        "JSON.stringify = null; JSON.parse = () => { throw 3 }; 42",
        "process.stdout.write = null; process.stderr.write = () => { throw 4 }; 42",
        "console.log = () => { throw 5 }; console.error = null; globalThis.console = null; 42",
        "Promise.prototype.then = () => { throw 6 }; Promise.race = null; Promise.resolve = null; 42",
        "globalThis.Promise = null; 42",
        "Buffer.from = null; Buffer.concat = null; Buffer.alloc = null; Buffer.prototype.toString = null; 42",
        "Buffer.prototype.utf8Write = null; Uint8Array.prototype.subarray = null; Uint8Array.prototype.set = "
        "null; 42",
        "globalThis.Buffer = null; globalThis.Uint8Array = null; globalThis.TextEncoder = null; 42",
        "require('events').prototype.emit = null; require('events').prototype.on = null; 42",
        "require('stream').Readable.prototype.push = null; require('net').Socket.prototype._read = null; 42",
        "process.removeAllListeners('SIGINT'); process.removeAllListeners('uncaughtException'); 42",
        "process.listenerCount = null; process.emit = null; process.on = null; process.env = {}; 42",
        "require('vm').Script.prototype.runInThisContext = null; require('fs').writeSync = null; 42",
        "require('util').inspect = null; require('util').types.isPromise = null; 42",
        "String.prototype.split = null; String.prototype.slice = null; RegExp.prototype.exec = null; 42",
        "Reflect.apply = null; Symbol.for = null; Map.prototype.get = null; Atomics.wait = null; 42",
        "Function.prototype.call = null; Function.prototype.bind = null; Function.prototype.apply = null; 42",
        "Object.prototype.then = function (yes) { yes('forged') }; 42",
        "['fd', 'code', 'data', 'filename', 'get', 'raw', 'waits', 'stack', 'listener'].forEach((n) =>"
        "  Object.defineProperty(Object.prototype, n, { __proto__: null, get() { throw n }, set() { throw n "
        "}, configurable: true })); 42",
        "['fd', 'code', 'data', 'filename', 'get', 'raw', 'waits', 'stack', 'listener', 'then'].forEach((n) "
        "=>"
        "  delete Object.prototype[n]); 42",
        "Object.setPrototypeOf(Array.prototype, null); Object.setPrototypeOf(Function.prototype, null); 42",
        "Object.freeze(Function.prototype); Object.freeze(Array.prototype); 42",
        "globalThis.process = null; globalThis.display = null; 42"}) {
    EXPECT_EQ(attack(code).text(), "42") << code;
    EXPECT_EQ(attack("6 * 7").text(), "42") << "after " << code;
  }
  EXPECT_EQ(attack("const kept = await 7; kept * 6").text(), "42") << "it still reads declarations and await";
  EXPECT_EQ(attack("null.x").error(), "TypeError");
  ExecutionSpec endless;
  endless.code = "for (;;) {}";
  endless.wall_time = 300ms;
  EXPECT_EQ(execute(endless).outcome.ending, Ending::timed_out);
  EXPECT_EQ(attack("kept").text(), "7");
}

TEST_F(HostileNodeTest, TypesAreStrippedWhateverBecameOfTheScope) {
  if (guest::type_stripper().empty()) GTEST_SKIP() << "built without it";
  attack(
      "Array.prototype.push = null; Object.defineProperty = null; JSON.parse = null; WebAssembly.Module = "
      "null");
  ExecutionSpec typed;
  typed.language = Language::typescript;
  typed.code = "const n: number = 42; n";
  EXPECT_EQ(execute(typed).text(), "42");
}

TEST_F(HostileNodeTest, ShowsWhatCannotBeShown) {
  EXPECT_EQ(attack("({ [require('util').inspect.custom]() { throw 1 } })").outcome.exit_code, 0);
  EXPECT_EQ(attack("({ get [Symbol.for('Jupyter.display')]() { throw 1 } })").outcome.exit_code, 0);
  EXPECT_EQ(attack("display.json({ toJSON() { throw new RangeError('no') } })").error(), "RangeError");
  EXPECT_EQ(attack("Error.prepareStackTrace = () => { throw 1 }; throw new TypeError('t')").error(),
            "TypeError");
  EXPECT_EQ(attack("throw { get stack() { throw 1 }, get message() { throw 2 } }").outcome.exit_code, 1);
  EXPECT_EQ(attack("throw new Proxy({}, { get() { throw 3 }, has() { throw 4 } })").outcome.exit_code, 1);
  EXPECT_EQ(attack("6 * 7").text(), "42");
}

TEST_F(HostileNodeTest, RecursesForEver) {
  EXPECT_EQ(attack("function r() { r() }; r()").error(), "RangeError");
  ExecutionSpec slow;
  slow.code = "function s() { try { s() } finally { s() } }; try { s() } catch {}; 42";
  slow.wall_time = 500ms;
  EXPECT_EQ(execute(slow).outcome.ending, Ending::timed_out) << "it would take for ever";
  EXPECT_EQ(attack("6 * 7").text(), "42");
}

TEST_F(HostileNodeTest, EndsItself) {
  Cell cell = attack("process.exit(4)");
  EXPECT_EQ(cell.outcome.exit_code, 4);
  EXPECT_EQ(cell.outcome.reason, "the interpreter's process exited with code 4");
  expect_restart("console.log('back')", "back\n");
  EXPECT_EQ(attack("process.abort()").outcome.signal, SIGABRT);
  expect_restart("console.log('back')", "back\n");
  EXPECT_EQ(attack("process.kill(process.pid, 'SIGKILL')").outcome.signal, SIGKILL);
  expect_restart("console.log('back')", "back\n");
}

// The runner has taken the signal for good, so it needs nothing of the process between cells.
TEST_F(HostileNodeTest, FreezesTheProcess) {
  for (const char* code : {"Object.freeze(process._events); 1", "Object.freeze(process); 1"}) {
    EXPECT_EQ(attack(code).text(), "1") << code;
    EXPECT_EQ(attack("6 * 7").text(), "42") << code;
    ExecutionSpec slow;
    slow.code = "for (;;);";
    slow.wall_time = 500ms;
    EXPECT_EQ(execute(slow).outcome.ending, Ending::timed_out) << code;
  }
}

TEST_F(HostileNodeTest, FreezesItsScope) {
  EXPECT_EQ(attack("Object.freeze(Object.prototype); Object.freeze(globalThis); 42").text(), "42");
  EXPECT_EQ(attack("6 * 7").text(), "42");
  EXPECT_EQ(attack("await 42").text(), "42");
}

TEST_F(HostileNodeTest, TurnsItsHandlesOff) {
  EXPECT_EQ(attack("for (const one of process._getActiveHandles()) {"
                   "  one.pause?.(); one.unref?.(); one.removeAllListeners?.() } 42")
                .text(),
            "42");
  EXPECT_EQ(attack("6 * 7").text(), "42");
}

TEST_F(HostileNodeTest, StopsItself) {
  ExecutionSpec spec;
  spec.wall_time = 300ms;
  spec.code = "process.kill(process.pid, 'SIGSTOP')";
  EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out);
  expect_restart("console.log('back')", "back\n");
}

TEST_F(HostileNodeTest, HasNoDescriptorLeft) {
  EXPECT_EQ(attack("const all = []; try { for (;;) all.push(require('fs').openSync('/dev/null')) } catch (e) "
                   "{ e.code }")
                .text(),
            "'EMFILE'");
  EXPECT_EQ(attack("6 * 7").text(), "42");
}

TEST_F(HostileNodeTest, SpeaksForAnotherCell) {
  EXPECT_EQ(attack("require('fs').writeSync(900, 'R 18\\n110\\ntext/plain2\\n99D 3\\n0 1'); 5").text(), "5");
  EXPECT_EQ(attack("6 * 7").text(), "42");
  EXPECT_EQ(attack("setInterval(() => require('fs').writeSync(900, 'D 3\\n0 4'), 1); 5").text(), "5");
  const Cell cell = attack("await new Promise((r) => setTimeout(r, 200)); 42");
  EXPECT_EQ(cell.text(), "42");
  EXPECT_EQ(cell.count, 4U);
}

TEST_F(HostileNodeTest, ClosesDescriptors) {
  EXPECT_EQ(attack("require('fs').closeSync(1); require('fs').closeSync(2); 42").text(), "42");
  EXPECT_EQ(attack("6 * 7").text(), "42") << "it needs neither to answer";
  // It may still answer this one, and then never again.
  attack("for (let i = 3; i < 256; i++) try { require('fs').closeSync(i) } catch {}");
  EXPECT_FALSE(answers());
  expect_restart("console.log('back')", "back\n");
  attack("for (const one of process._getActiveHandles()) one.destroy?.(); 42");
  EXPECT_FALSE(answers());
  expect_restart("console.log('back')", "back\n");
}

TEST_F(HostileNodeTest, NeverYields) {
  ExecutionSpec spec;
  spec.wall_time = 300ms;
  spec.code = "(async () => { for (;;) await null })(); 1";
  const Cell cell = execute(spec);
  EXPECT_THAT(cell.outcome.ending, AnyOf(Eq(Ending::timed_out), Eq(Ending::exited)));
  // It never comes back to hear of another cell, nor of an interrupt.
  spec.code = "2";
  const Cell next = execute(spec);
  EXPECT_EQ(next.outcome.ending, Ending::timed_out);
  EXPECT_THAT(next.outcome.reason, HasSubstr("the interpreter was killed"));
  expect_restart("console.log('back')", "back\n");
}

class HostileBashTest : public HostileInterpreterTest {
 protected:
  HostileBashTest() { language_ = Language::shell; }
};

TEST_F(HostileBashTest, DefinesFunctionsOfAnyName) {
  attack(
      "for f in builtin unset printf read trap local source shopt export break continue eval echo set "
      "declare exit "
      "command return; do eval \"$f() { :; }\" 2>/dev/null; done; true");
  EXPECT_EQ(attack("/bin/echo on").out, "on\n");
  EXPECT_EQ(attack("builtin unset -f echo; echo again").out, "again\n");
  EXPECT_EQ(attack("__atoll_done() { :; }").outcome.exit_code, 1) << "the runner's own cannot be replaced";
  EXPECT_EQ(attack("unset -f __atoll_receive; unset __atoll_fd; __atoll_fd=1").outcome.exit_code, 1);
  EXPECT_EQ(attack("shopt -s expand_aliases; alias builtin=false printf=false while=false").outcome.exit_code,
            0);
  EXPECT_EQ(attack("\\builtin echo still").out, "still\n") << "what it calls builtin is its own business";
}

TEST_F(HostileBashTest, LeavesLoopsThatAreNotItsOwn) {
  for (const char* code : {"break", "break 9", "continue", "continue 9", "builtin() { :; }; break",
                           "while true; do break 9; done"}) {
    EXPECT_TRUE(attack(code).outcome.succeeded()) << code;
    EXPECT_EQ(attack("echo $((6 * 7))").out, "42\n") << "after " << code;
  }
  EXPECT_EQ(attack("return 4").outcome.exit_code, 4);
}

TEST_F(HostileBashTest, TracesOnlyItself) {
  EXPECT_THAT(attack("set -x; echo one").err, HasSubstr("+ echo one"));
  const Cell next = attack("echo two");
  EXPECT_THAT(next.err, HasSubstr("+ echo two"));
  EXPECT_THAT(next.err, testing::Not(HasSubstr("atoll")));
  EXPECT_EQ(attack("set +x; trap 'echo seen' DEBUG; true").out, "seen\n");
  EXPECT_EQ(attack("echo plain").out, "plain\n");
  EXPECT_EQ(
      attack("set -u; set -o pipefail; set -f; IFS=0; readonly IFS text=1 body=2 head=3").outcome.exit_code,
      0);
  EXPECT_EQ(attack("echo ünïcödé 100").out, "ünïcödé 100\n");
}

TEST_F(HostileBashTest, ClosesDescriptors) {
  EXPECT_TRUE(attack("exec 1>&- 2>&-").outcome.succeeded());
  EXPECT_EQ(attack("echo unheard").outcome.exit_code, 1);
  EXPECT_TRUE(attack("true").outcome.succeeded());
  const Cell cell = attack("for i in {3..255}; do eval \"exec $i>&-\"; done");
  EXPECT_FALSE(cell.outcome.succeeded());
  expect_restart("echo back", "back\n");
}

TEST_F(HostileBashTest, BecomesAnotherProgram) {
  EXPECT_EQ(attack("exec /bin/echo other").out, "other\n");
  expect_restart("echo back", "back\n");
}

TEST_F(HostileBashTest, EndsItself) {
  const Cell cell = attack("trap 'echo bye' EXIT; exit 3");
  EXPECT_EQ(cell.outcome.exit_code, 3);
  EXPECT_EQ(cell.outcome.reason, "the interpreter's process exited with code 3");
  expect_restart("echo back", "back\n");
  EXPECT_EQ(attack("kill -9 $$").outcome.signal, SIGKILL);
  expect_restart("echo back", "back\n");
  EXPECT_EQ(attack("set -e; false").outcome.exit_code, 1);
  expect_restart("echo back", "back\n");
}

TEST_F(HostileBashTest, BreaksTheRunnersVariables) {
  for (const char* code :
       {"readonly __atoll_count", "readonly __atoll_status __atoll_stopped", "unset __atoll_before",
        "declare -n __atoll_body=PATH", "readonly POSIXLY_CORRECT", "__atoll_count=0", "enable -n printf",
        "enable -n read", "enable -n builtin unset exit", "readonly LC_ALL"}) {
    const Cell cell = attack(code);
    // Some are noticed only by the next cell, which then is the one that is told.
    if (cell.outcome.succeeded()) {
      EXPECT_FALSE(answers()) << code;
    }
    EXPECT_TRUE(is_dead()) << code;
    ASSERT_TRUE(run(interpreter()->restart())) << code;
    EXPECT_EQ(execute("echo back").out, "back\n") << code;
  }
}

// Options that bash has no way back from, and what makes it skip every command: its end is told at once.
TEST_F(HostileBashTest, ExecutesNothingAnyMore) {
  for (const char* code : {"set -n", "set -o noexec; echo unseen", "f() { set -n; }; f", "set -r",
                           "shopt -s extdebug; trap false DEBUG; echo x", "FUNCNEST=1; readonly FUNCNEST"}) {
    ExecutionSpec spec;
    spec.code = code;
    spec.wall_time = 60s;
    const Cell cell = execute(spec);
    EXPECT_EQ(cell.out, "") << code;
    if (!is_dead()) {
      EXPECT_FALSE(answers()) << code;
    }
    EXPECT_TRUE(is_dead()) << code;
    ASSERT_TRUE(run(interpreter()->restart())) << code;
    EXPECT_EQ(execute("echo back").out, "back\n") << code;
  }
}

TEST_F(HostileBashTest, LimitsItsFunctions) {
  EXPECT_TRUE(attack("FUNCNEST=1; set -k").outcome.succeeded());
  EXPECT_EQ(attack("echo $FUNCNEST $-").out.substr(0, 2), "1 ");
  EXPECT_EQ(attack("f() { g; }; g() { echo never; }; f").out, "") << "it holds in cells";
  EXPECT_EQ(attack("unset FUNCNEST; f").out, "never\n");
}

TEST_F(HostileBashTest, IgnoresInterrupts) {
  ExecutionSpec spec;
  spec.wall_time = 300ms;
  spec.code = "trap '' INT; while :; do :; done";
  const Cell cell = execute(spec);
  EXPECT_EQ(cell.outcome.ending, Ending::timed_out);
  EXPECT_THAT(cell.outcome.reason, HasSubstr("the interpreter was killed"));
  expect_restart("echo back", "back\n");
  spec.code = "kill -STOP $$";
  EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out);
  expect_restart("echo back", "back\n");
  // An interrupt that is ignored in one cell is heard in the next.
  EXPECT_TRUE(attack("trap '' INT").outcome.succeeded());
  spec.code = "while :; do :; done";
  EXPECT_EQ(execute(spec).outcome.reason, "wall time limit of 0.300 s");
  EXPECT_EQ(execute("echo there").out, "there\n");
}

TEST_F(HostileBashTest, RecursesForEver) {
  ExecutionSpec spec;
  spec.wall_time = 60s;
  spec.code = "ulimit -s 1024; bash -c 'f() { f; }; f'; echo status $?";
  EXPECT_EQ(execute(spec).out, "status 139\n") << "a shell of its own dies of it";
  spec.code = "f() { f; }; f";
  const Cell cell = execute(spec);
  EXPECT_FALSE(cell.outcome.succeeded());
  if (is_dead()) expect_restart("echo back", "back\n");
}

class HostilePythonTest : public HostileInterpreterTest {};

// One after the other in one interpreter: none of them may cost the runner anything.
TEST_F(HostilePythonTest, ReplacesWhatEveryProgramUses) {
  for (const char* code :
       {"import builtins\nfor n in ('compile', 'exec', 'eval', '__build_class__', '__import__'): "
        "setattr(builtins, n, None)",
        "import sys\nsys.setrecursionlimit(60)",
        "import sys\nsys.settrace(lambda *a: None); sys.setprofile(lambda *a: None)",
        "import sys\nsys.settrace(lambda *a: 1/0)",
        "import sys\nsys.excepthook = sys.displayhook = sys.stdout = sys.stderr = None",
        "import signal\nsignal.signal(2, signal.SIG_IGN); signal.pthread_sigmask(signal.SIG_BLOCK, range(1, "
        "64))",
        "import atexit\natexit.register(lambda: 1/0)",
        "import gc\ngc.callbacks.append(lambda *a: 1/0); gc.collect()",
        "import linecache, traceback\nlinecache.cache = traceback.format_exception = None",
        "import os\nos.environ.clear(); os.environ = None", "import codecs\ncodecs.lookup = None",
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))", "import os; os.fork()",
        "import sys\nsys.modules.clear(); sys.meta_path.clear(); sys.path.clear()", "del __builtins__",
        "globals()['__builtins__'] = {}"}) {
    attack(code);
    EXPECT_EQ(attack("6 * 7").text(), "42") << "after " << code;
    ASSERT_TRUE(run(interpreter()->restart()));
  }
}

TEST_F(HostilePythonTest, EndsOrBreaksTheRunner) {
  for (const char* code :
       {"import os; os.closerange(0, 10000)", "import ctypes; ctypes.string_at(0)",
        "import os; os.dup2(1, 900)",
        "import gc\nfor o in gc.get_objects():\n  if isinstance(o, dict) and 'result_message' in o: "
        "o.clear()",
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 26, 1 << 26))\nx = []\n"
        "while True: x.append(bytearray(1 << 16))"}) {
    attack(code);
    if (!is_dead()) {
      EXPECT_FALSE(answers()) << code;
    }
    expect_restart("print('back')", "back\n");
  }
  // Alive and dumb: the time limit ends it.
  for (const char* code :
       {"import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
        "import gc\nfor o in gc.get_objects():\n  if isinstance(o, dict) and 'result_message' in o:\n"
        "    o['message'] = lambda *a: b''"}) {
    ExecutionSpec spec;
    spec.code = code;
    spec.wall_time = 1s;
    EXPECT_EQ(execute(spec).outcome.ending, Ending::timed_out) << code;
    expect_restart("print('back')", "back\n");
  }
}

TEST_F(HostilePythonTest, SpeaksForAnotherCell) {
  EXPECT_EQ(attack("import os, threading, time\ndef w():\n  while True:\n"
                   "    os.write(900, b'R 18\\n110\\ntext/plain2\\n99D 3\\n0 2'); time.sleep(0.001)\n"
                   "threading.Thread(target=w, daemon=True).start()\n1")
                .text(),
            "1");
  const Cell cell = attack("time.sleep(0.2)\n6 * 7");
  EXPECT_EQ(cell.text(), "42");
  EXPECT_EQ(cell.results.size(), 1U);
}

}  // namespace
}  // namespace atl::sandbox
