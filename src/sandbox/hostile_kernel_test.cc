// Cells that attack the program that executes them: it goes on answering, or its death is told and a restart helps.
#include <gmock/gmock.h>

#include <csignal>

#include "guest/runners.h"
#include "sandbox/kernel_harness.h"

namespace atl::sandbox {
namespace {

using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using namespace std::chrono_literals;

class HostileKernelTest : public LinkKernelTest {
 protected:
  // The cell is answered in time one way or the other; if the kernel died of it, it says so, and a restart helps.
  Cell attack(std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    spec.wall_time = 20s;
    return execute(std::move(spec));
  }
  bool is_dead() {
    ExecutionSpec spec;
    spec.code = "1";
    spec.wall_time = 20s;
    auto cell = run(cell_of(kernel(), std::move(spec)));
    return !cell && cell.error().code() == Code::conflict && cell.error().field() == kDeadKernel;
  }
  bool answers() {
    ExecutionSpec spec;
    spec.code = "1";
    spec.wall_time = 20s;
    auto cell = run(cell_of(kernel(), std::move(spec)));
    return cell && cell->outcome.succeeded();
  }
  void expect_restart(const std::string& code, const std::string& out) {
    EXPECT_TRUE(is_dead());
    auto restarted = run(kernel()->restart());
    ASSERT_TRUE(restarted) << restarted.error().message();
    EXPECT_EQ(execute(code).out, out);
  }
};

class HostileNodeTest : public HostileKernelTest {
 protected:
  HostileNodeTest() { language_ = Language::javascript; }
};

// One after the other in one interpreter: none of them may cost the runner anything.
TEST_F(HostileNodeTest, ReplacesWhatEveryProgramUses) {
  for (const char* code : {
           "Array.prototype.push = () => { throw 1 }; Array.prototype.map = null; Array.prototype.join = null; 42",
           "Array.prototype[Symbol.iterator] = null; Array.isArray = null; Array.prototype.sort = null; 42",
           "Object.prototype.extra = 1; Object.prototype.toString = null; Object.keys = null; Object.assign = null; 42",
           "Object.defineProperty(Object.prototype, 'value', { set() { throw 2 }, configurable: true }); 42",
           "JSON.stringify = null; JSON.parse = () => { throw 3 }; 42",
           "process.stdout.write = null; process.stderr.write = () => { throw 4 }; 42",
           "console.log = () => { throw 5 }; console.error = null; globalThis.console = null; 42",
           "Promise.prototype.then = () => { throw 6 }; Promise.race = null; Promise.resolve = null; 42",
           "globalThis.Promise = null; 42",
           "Buffer.from = null; Buffer.concat = null; Buffer.alloc = null; Buffer.prototype.toString = null; 42",
           "Buffer.prototype.utf8Write = null; Uint8Array.prototype.subarray = null; Uint8Array.prototype.set = null; 42",
           "globalThis.Buffer = null; globalThis.Uint8Array = null; globalThis.TextEncoder = null; 42",
           "require('events').prototype.emit = null; require('events').prototype.on = null; 42",
           "require('stream').Readable.prototype.push = null; require('net').Socket.prototype._read = null; 42",
           "process.removeAllListeners('SIGINT'); process.removeAllListeners('uncaughtException'); 42",
           "process.listenerCount = null; process.emit = null; process.on = null; process.env = {}; 42",
           "require('vm').Script.prototype.runInThisContext = null; require('fs').writeSync = null; 42",
           "require('util').inspect = null; require('util').types.isPromise = null; 42",
           "String.prototype.split = null; String.prototype.slice = null; RegExp.prototype.exec = null; 42",
           "Reflect.apply = null; Symbol.for = null; Map.prototype.get = null; Atomics.wait = null; 42",
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
  attack("Array.prototype.push = null; Object.defineProperty = null; JSON.parse = null; WebAssembly.Module = null");
  ExecutionSpec typed;
  typed.language = Language::typescript;
  typed.code = "const n: number = 42; n";
  EXPECT_EQ(execute(typed).text(), "42");
}

TEST_F(HostileNodeTest, ShowsWhatCannotBeShown) {
  EXPECT_EQ(attack("({ [require('util').inspect.custom]() { throw 1 } })").outcome.exit_code, 0);
  EXPECT_EQ(attack("({ get [Symbol.for('Jupyter.display')]() { throw 1 } })").outcome.exit_code, 0);
  EXPECT_EQ(attack("display.json({ toJSON() { throw new RangeError('no') } })").error(), "RangeError");
  EXPECT_EQ(attack("Error.prepareStackTrace = () => { throw 1 }; throw new TypeError('t')").error(), "TypeError");
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
  EXPECT_EQ(cell.outcome.reason, "the kernel's process exited with code 4");
  expect_restart("console.log('back')", "back\n");
  EXPECT_EQ(attack("process.abort()").outcome.signal, SIGABRT);
  expect_restart("console.log('back')", "back\n");
  EXPECT_EQ(attack("process.kill(process.pid, 'SIGKILL')").outcome.signal, SIGKILL);
  expect_restart("console.log('back')", "back\n");
}

TEST_F(HostileNodeTest, ClosesDescriptors) {
  EXPECT_EQ(attack("require('fs').closeSync(1); require('fs').closeSync(2); 42").text(), "42");
  EXPECT_EQ(attack("6 * 7").text(), "42") << "it needs neither to answer";
  const Cell cell = attack("for (let i = 3; i < 256; i++) try { require('fs').closeSync(i) } catch {}");
  EXPECT_FALSE(cell.outcome.succeeded());
  expect_restart("console.log('back')", "back\n");
  // It may still answer this one, and then never again.
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
  EXPECT_THAT(next.outcome.reason, HasSubstr("the kernel was killed"));
  expect_restart("console.log('back')", "back\n");
}

class HostileBashTest : public HostileKernelTest {
 protected:
  HostileBashTest() { language_ = Language::shell; }
};

TEST_F(HostileBashTest, DefinesFunctionsOfAnyName) {
  attack("for f in builtin unset printf read trap local source shopt export break continue eval echo set declare exit "
         "command return; do eval \"$f() { :; }\" 2>/dev/null; done; true");
  EXPECT_EQ(attack("/bin/echo on").out, "on\n");
  EXPECT_EQ(attack("builtin unset -f echo; echo again").out, "again\n");
  EXPECT_EQ(attack("__atoll_done() { :; }").outcome.exit_code, 1) << "the runner's own cannot be replaced";
  EXPECT_EQ(attack("unset -f __atoll_receive; unset __atoll_fd; __atoll_fd=1").outcome.exit_code, 1);
  EXPECT_EQ(attack("shopt -s expand_aliases; alias builtin=false printf=false while=false").outcome.exit_code, 0);
  EXPECT_EQ(attack("builtin echo still").out, "still\n");
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
  EXPECT_EQ(attack("set -u; set -o pipefail; set -f; IFS=0; readonly IFS text=1 body=2 head=3").outcome.exit_code, 0);
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
  EXPECT_EQ(cell.outcome.reason, "the kernel's process exited with code 3");
  expect_restart("echo back", "back\n");
  EXPECT_EQ(attack("kill -9 $$").outcome.signal, SIGKILL);
  expect_restart("echo back", "back\n");
  EXPECT_EQ(attack("set -e; false").outcome.exit_code, 1);
  expect_restart("echo back", "back\n");
}

TEST_F(HostileBashTest, BreaksTheRunnersVariables) {
  for (const char* code : {"readonly __atoll_count", "readonly __atoll_status __atoll_stopped", "unset __atoll_before",
                           "declare -n __atoll_body=PATH", "readonly POSIXLY_CORRECT", "__atoll_count=0",
                           "enable -n printf", "enable -n read", "enable -n builtin unset exit", "readonly LC_ALL"}) {
    const Cell cell = attack(code);
    // Some are noticed only by the next cell, which then is the one that is told.
    if (cell.outcome.succeeded()) {
      EXPECT_FALSE(answers()) << code;
    }
    EXPECT_TRUE(is_dead()) << code;
    ASSERT_TRUE(run(kernel()->restart())) << code;
    EXPECT_EQ(execute("echo back").out, "back\n") << code;
  }
}

TEST_F(HostileBashTest, IgnoresInterrupts) {
  ExecutionSpec spec;
  spec.wall_time = 300ms;
  spec.code = "trap '' INT; while :; do :; done";
  const Cell cell = execute(spec);
  EXPECT_EQ(cell.outcome.ending, Ending::timed_out);
  EXPECT_THAT(cell.outcome.reason, HasSubstr("the kernel was killed"));
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

}  // namespace
}  // namespace atl::sandbox
