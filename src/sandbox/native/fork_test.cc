#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "sandbox/native/native.h"
#include "sandbox/native/native_harness.h"
#include "sandbox/native/sandbox.h"

namespace atl::sandbox::native {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ForkTest : public CheckpointHarness {
 protected:
  void SetUp() override {
    CheckpointHarness::SetUp();
    if (provider_) warm_sandbox();
  }
  // A copy of a running one, with nothing left behind.
  std::unique_ptr<Sandbox> fork(Sandbox& source) {
    const std::string target = new_target();
    const Carried carried = checkpoint(source, target);
    EXPECT_THAT(carried.left_behind, IsEmpty());
    auto copy = go_on(target);
    if (!copy) return nullptr;
    EXPECT_THAT(copy->revival().left_behind, IsEmpty());
    return copy;
  }
  // One whose interpreter executed something and its copy, whose interpreter is null if that failed.
  struct Pair {
    std::unique_ptr<Sandbox> source, copy;
    std::shared_ptr<Interpreter> interpreter, other;
  };
  Pair forked_after(const std::string& code) {
    Pair pair;
    pair.source = sandbox();
    pair.interpreter = forked_interpreter(*pair.source);
    said(pair.interpreter, code);
    pair.copy = fork(*pair.source);
    if (pair.copy) pair.other = only_interpreter(*pair.copy);
    return pair;
  }
};

TEST_F(ForkTest, VariablesSurviveUnderTheSameId) {
  const auto [source, copy, interpreter, other] =
      forked_after("x = 41\nwords = ['a', 'b']\ndef f(y): return x + y");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->info().id, interpreter->info().id);
  EXPECT_EQ(other->info().origin, InterpreterOrigin::forked);
  EXPECT_EQ(said(other, "f(1), words"), "(42, ['a', 'b'])");
  EXPECT_EQ(said(interpreter, "x"), "41");
  EXPECT_THAT(copy->revival().interpreters, ElementsAre(interpreter->info().id));
}

TEST_F(ForkTest, BothGoTheirOwnWays) {
  const auto [source, copy, interpreter, other] =
      forked_after("state = {'n': 1}\nopen('note', 'w').write('before')");
  ASSERT_TRUE(other);
  said(other, "state['n'] = 2\nopen('note', 'w').write('copy')\nopen('/tmp/mine', 'w').write('x')");
  EXPECT_EQ(said(interpreter, "import os\nstate, open('note').read(), os.path.exists('/tmp/mine')"),
            "({'n': 1}, 'before', False)");
  said(interpreter, "state['n'] = 3\nopen('note', 'w').write('source')");
  EXPECT_EQ(said(other, "state, open('note').read()"), "({'n': 2}, 'copy')");
  // Each sees its own processes only: process 1, itself, and its spare if that was made already.
  const char* const count = "len([n for n in os.listdir('/proc') if n.isdigit()])";
  EXPECT_THAT(said(interpreter, count), AnyOf("2", "3"));
  EXPECT_THAT(said(other, std::string("import os\n") + count), AnyOf("2", "3"));
}

TEST_F(ForkTest, MemoryOfEveryKindIsExact) {
  const auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  // Heap growth, large anonymous memory, memory that was given back, modules with new libraries, deep stacks.
  const char* const fill = R"(
import hashlib, zlib, array, sqlite3, gc
small = {str(i): [i, i * 2] for i in range(20000)}
large = bytearray(zlib.crc32(str(i).encode()) & 255 for i in range(300000)) * 20
numbers = array.array('q', range(500000))
gone = [bytearray(1 << 16) for _ in range(300)]
del gone
gc.collect()
db = sqlite3.connect(':memory:')
db.execute('create table t(a, b)')
db.executemany('insert into t values(?, ?)', [(i, str(i)) for i in range(1000)])
def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)
deep(900)
class Chain:
    def __init__(self, below): self.below = below
chain = None
for i in range(10000): chain = Chain(chain)
def digest():
    h = hashlib.sha256()
    h.update(repr(sorted(small.items())).encode()); h.update(large); h.update(numbers.tobytes())
    h.update(repr(db.execute('select sum(a), count(b), max(b) from t').fetchall()).encode())
    n, at = 0, chain
    while at: n, at = n + 1, at.below
    h.update(str(n).encode())
    return h.hexdigest()
digest()
)";
  const std::string expected = said(interpreter, fill);
  ASSERT_EQ(expected.size(), 66U) << expected;
  const auto copy = fork(*source);
  ASSERT_TRUE(copy);
  const auto other = only_interpreter(*copy);
  EXPECT_EQ(said(other, "digest()"), expected);
  EXPECT_EQ(said(other,
                 "more = [bytes(100) for _ in range(200000)]\ndel more\nlarge[0] ^= 1\nlarge[0] ^= 1\n"
                 "import gc; gc.collect(); deep(900)\ndigest()"),
            expected);
  EXPECT_EQ(said(other, "import subprocess\nsubprocess.run(['echo', 'hi'], capture_output=True).stdout"),
            "b'hi\\n'");
  EXPECT_EQ(said(interpreter, "digest()"), expected);
}

TEST_F(ForkTest, FilesKeepTheirPositionsDirectoryAndMask) {
  const auto [source, copy, interpreter, other] = forked_after(R"(
import os
os.makedirs('/tmp/work/deep', exist_ok=True); os.chdir('/tmp/work/deep'); os.umask(0o027)
open('data', 'w').write('hello world'); f = open('data'); f.seek(5)
log = open('log', 'a'); log.write('one\n'); log.flush()
raw = os.open('data', os.O_RDONLY); os.lseek(raw, 6, 0); twin = os.dup(raw)
import signal
signal.signal(signal.SIGUSR1, lambda *_: print('heard'))
os.environ['COLOR'] = 'blue'
)");
  ASSERT_TRUE(other);
  EXPECT_EQ(said(other, "f.tell(), f.read(), os.getcwd(), oct(os.umask(0o027)), os.environ['COLOR']"),
            "(5, ' world', '/tmp/work/deep', '0o27', 'blue')");
  // Two descriptors of one open file share their position, there as here.
  EXPECT_EQ(said(other, "os.read(raw, 2), os.read(twin, 3)"), "(b'wo', b'rld')");
  EXPECT_EQ(said(other, "log.write('two\\n'); log.flush()\nopen('log').read()"), "'one\\ntwo\\n'");
  EXPECT_EQ(said(other, "os.kill(os.getpid(), signal.SIGUSR1)"), "heard\n");
  EXPECT_EQ(said(interpreter, "f.tell(), open('log').read(), os.read(twin, 1)"), "(5, 'one\\n', b'w')");
}

TEST_F(ForkTest, ACopyCanBeCopiedAndOutlivesItsSource) {
  auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  said(interpreter, "path = ['source']");
  auto copy = fork(*source);
  ASSERT_TRUE(copy);
  said(only_interpreter(*copy), "path.append('copy')");
  EXPECT_TRUE(run(source->stop()));
  source.reset();
  EXPECT_EQ(said(only_interpreter(*copy), "path"), "['source', 'copy']");
  const auto third = fork(*copy);
  ASSERT_TRUE(third);
  EXPECT_TRUE(run(copy->stop()));
  copy.reset();
  EXPECT_EQ(said(only_interpreter(*third), "path.append('third'); path"), "['source', 'copy', 'third']");
  EXPECT_EQ(said(only_interpreter(*third),
                 "import random, time, threading\n"
                 "t = threading.Thread(target=lambda: path.append('thread'))\n"
                 "t.start(); t.join()\n"
                 "path[-1]"),
            "'thread'");
}

TEST_F(ForkTest, CopiesDrawDifferentRandomNumbers) {
  const auto [source, copy, interpreter, other] = forked_after("import random, uuid\nrandom.random()");
  ASSERT_TRUE(other);
  const char* const code = "(random.random(), uuid.uuid4().hex)";
  EXPECT_NE(said(other, code), said(interpreter, code));
}

TEST_F(ForkTest, SeveralInterpretersEachKeepTheirState) {
  const auto source = sandbox();
  const auto one = forked_interpreter(*source), two = forked_interpreter(*source);
  said(one, "me = 1"), said(two, "me = 2");
  const auto copy = fork(*source);
  ASSERT_TRUE(copy);
  const auto interpreters = copy->interpreters();
  ASSERT_THAT(interpreters, SizeIs(2));
  EXPECT_EQ(said(interpreters[0], "me"), "1");
  EXPECT_EQ(said(interpreters[1], "me"), "2");
  EXPECT_EQ(interpreters[1]->info().id, two->info().id);
}

TEST_F(ForkTest, ManyAtOnce) {
  const auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  said(interpreter, "seed = list(range(1000))");
  const std::string target = new_target();
  ASSERT_THAT(checkpoint(*source, target).interpreters, SizeIs(1));
  std::vector<std::unique_ptr<Sandbox>> copies;
  for (int i = 0; i < 100; ++i) {
    copies.push_back(go_on(target));
    ASSERT_TRUE(copies.back());
    ASSERT_THAT(copies.back()->revival().left_behind, IsEmpty()) << i;
    said(only_interpreter(*copies.back()), "mine = " + std::to_string(i));
  }
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(said(only_interpreter(*copies[i]), "mine + seed[-1]"), std::to_string(i + 999));
}

// As a client of the daemon asks for them: all at the same time, some of them while others are being revived.
TEST_F(ForkTest, ManyAtTheSameTime) {
  const auto source = sandbox();
  said(forked_interpreter(*source), "seed = list(range(1000))");
  const std::string target = new_target();
  ASSERT_THAT(checkpoint(*source, target).interpreters, SizeIs(1));
  std::vector<Result<std::unique_ptr<Sandbox>>> copies;
  for (int i = 0; i < 30; ++i) {
    Spec spec;
    spec.id = new_sandbox_id(), spec.snapshot = target, spec.with_interpreters = true;
    boost::asio::co_spawn(loop_, provider_->create(std::move(spec)),
                          [&](std::exception_ptr, auto made) { copies.push_back(std::move(made)); });
  }
  while (copies.size() < 30) {
    loop_.restart();
    loop_.run_one();
  }
  for (auto& copy : copies) {
    ASSERT_TRUE(copy) << copy.error().message();
    EXPECT_THAT((*copy)->revival().left_behind, IsEmpty());
    EXPECT_EQ(said(only_interpreter(**copy), "seed[-1]"), "999");
  }
}

// The sandbox of the first copy is made ahead, like the source's: whoever asks for another one gets another
// one.
TEST_F(ForkTest, CopiesMayHaveOtherLimits) {
  const auto source = sandbox();
  said(forked_interpreter(*source), "x = 5");
  const std::string target = new_target();
  checkpoint(*source, target);
  Spec other;
  other.limits.disk_bytes /= 2;
  const auto small = go_on(target, other), same = go_on(target);
  ASSERT_TRUE(small && same);
  EXPECT_EQ(run(small->usage())->disk_limit_bytes, other.limits.disk_bytes);
  EXPECT_EQ(run(same->usage())->disk_limit_bytes, Limits{}.disk_bytes);
  for (const auto* copy : {&small, &same}) EXPECT_EQ(said(only_interpreter(**copy), "x"), "5");
}

// What was made ahead and not asked for is ended, and no caller sees it meanwhile.
TEST_F(ForkTest, CheckpointsWithoutCopies) {
  const auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  said(interpreter, "x = 6");
  for (int i = 0; i < 3; ++i) {
    const std::string target = new_target();
    ASSERT_THAT(checkpoint(*source, target).interpreters, SizeIs(1));
    ASSERT_TRUE(run(provider_->discard_snapshot(target)));
    const auto late =
        run(provider_->create({.id = new_sandbox_id(), .snapshot = target, .with_interpreters = true}));
    EXPECT_FALSE(late);
  }
  ASSERT_TRUE(run(source->stop()));
}

// The first copy of the interpreter is made ahead too: who wants the files alone does not get it.
TEST_F(ForkTest, FilesAloneComeWithoutInterpreters) {
  const auto source = sandbox();
  said(forked_interpreter(*source), "x = 6\nopen('note', 'w').write('kept')");
  const std::string target = new_target();
  ASSERT_THAT(checkpoint(*source, target).interpreters, SizeIs(1));
  Spec spec;
  spec.snapshot = target;
  const auto copy = this->sandbox(std::move(spec));
  ASSERT_TRUE(copy);
  EXPECT_TRUE(copy->interpreters().empty());
  EXPECT_EQ(said(forked_interpreter(*copy), R"(
import os, time
for _ in range(500):
    count = len([name for name in os.listdir('/proc') if name.isdigit()])
    if count == 2: break
    time.sleep(0.01)
'x' in globals(), open('note').read(), count)"),
            "(False, 'kept', 2)");
}

// Names in /etc are each sandbox's own; everything else is copied.
TEST_F(ForkTest, WhatIsMadeAnewIsNotCopied) {
  const auto [source, copy, interpreter, other] = forked_after(
      "import os\nos.makedirs('etc/hosts')\nopen('etc/hosts/machine-id', 'w').write('1')\n"
      "before = open('/etc/machine-id').read()");
  ASSERT_TRUE(other);
  EXPECT_EQ(said(other, "open('etc/hosts/machine-id').read(), open('/etc/hostname').read() != ''"),
            "('1', True)");
  EXPECT_EQ(said(other, "open('/etc/machine-id').read() == before"), "False");
}

// A process that copies may be brought down by what it looks at: the next copy is made by another one.
TEST_F(ForkTest, CopiersMayDie) {
  const auto source = sandbox();
  said(forked_interpreter(*source), "x = 7");
  ASSERT_TRUE(fork(*source));
  const auto status = [](const std::string& pid, const std::string& name) {
    std::ifstream file("/proc/" + pid + "/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with(name)) return line.substr(line.find('\t') + 1);
    return std::string();
  };
  const auto guest = std::to_string(static_cast<NativeSandbox&>(*source).state()->spawned.pid);
  const std::string spawner = status(guest, "PPid:");
  int killed = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename();
    if (status(pid, "Name:") != "atoll-copier" || status(pid, "PPid:") != spawner) continue;
    ++killed, ::kill(std::stoi(pid), SIGKILL);
    // A job that is given to one that is just dying is lost with it.
    for (int i = 0; i < 1000 && !status(pid, "State:").empty() && !status(pid, "State:").starts_with('Z');
         ++i)
      turn(std::chrono::milliseconds(10));
  }
  EXPECT_GT(killed, 0);
  const auto copy = fork(*source);
  ASSERT_TRUE(copy);
  EXPECT_EQ(said(only_interpreter(*copy), "x"), "7");
}

// Everything that cannot be carried is told by name; with `strict` it is refused and the source goes on.
TEST_F(ForkTest, WhatCannotBeCarriedIsNamed) {
  const auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  said(interpreter,
       "import socket, subprocess, os\nx = 7\ns = socket.socket()\nr, w = os.pipe()\n"
       "p = subprocess.Popen(['sleep', '1000'])\nd = open('/tmp/gone', 'w+'); os.unlink('/tmp/gone')\n"
       "import select; e = select.epoll()\n"
       "import signal; signal.setitimer(signal.ITIMER_REAL, 1000)");
  auto shell = run(source->create_interpreter(Language::shell, ""));
  ASSERT_TRUE(shell);
  const std::string refused = new_target();
  const auto strict = run(source->checkpoint(refused, {.strict = true}));
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code(), Code::conflict);
  EXPECT_THAT(strict.error().message(), HasSubstr("(shell)"));
  EXPECT_FALSE(std::filesystem::exists(refused));
  const std::string target = new_target();
  const Carried carried = checkpoint(*source, target);
  EXPECT_THAT(carried.interpreters, ElementsAre(interpreter->info().id));
  std::string all;
  for (const std::string& name : carried.left_behind) all += name + "\n";
  for (const char* part :
       {"(shell)", "socket:", "pipe:", "(sleep)", "/tmp/gone (deleted)", "eventpoll", "a timer"})
    EXPECT_THAT(all, HasSubstr(part));
  const auto copy = go_on(target);
  ASSERT_TRUE(copy);
  EXPECT_EQ(said(only_interpreter(*copy), "x"), "7");
  EXPECT_THAT(said(only_interpreter(*copy), "os.write(w, b'x')"), HasSubstr("Bad file descriptor"));
  EXPECT_EQ(said(interpreter, "os.write(w, b'x'); os.read(r, 1)"), "b'x'");
  EXPECT_EQ(said(*shell, "echo alive"), "alive\n");
}

TEST_F(ForkTest, ThreadsAndSharedMemoryLeaveTheInterpreterBehind) {
  const auto source = sandbox();
  const auto threaded = forked_interpreter(*source), sharing = forked_interpreter(*source),
             good = forked_interpreter(*source);
  said(threaded,
       "import threading\nstop = threading.Event()\nthreading.Thread(target=stop.wait, daemon=True).start()");
  said(sharing, "import mmap\nm = mmap.mmap(-1, 4096)");
  said(good, "x = 1");
  const std::string target = new_target();
  const Carried carried = checkpoint(*source, target);
  EXPECT_THAT(carried.interpreters, ElementsAre(good->info().id));
  ASSERT_THAT(carried.left_behind, SizeIs(2));
  EXPECT_THAT(carried.left_behind[0], HasSubstr(threaded->info().id + ": it has 2 threads"));
  EXPECT_THAT(carried.left_behind[1], HasSubstr("it shares memory"));
  EXPECT_EQ(said(threaded, "stop.set(); 5"), "5");
}

TEST_F(ForkTest, AInterpreterAtWorkIsLeftBehindAndGoesOn) {
  const auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  ExecutionSpec spec;
  spec.code = "import time\nfor i in range(30): time.sleep(0.05)\n'done'";
  auto stream = run(interpreter->execute(std::move(spec)));
  ASSERT_TRUE(stream);
  const Carried carried = checkpoint(*source, new_target());
  EXPECT_THAT(carried.interpreters, IsEmpty());
  ASSERT_THAT(carried.left_behind, SizeIs(1));
  EXPECT_THAT(carried.left_behind[0], HasSubstr("at work"));
  std::string text;
  for (;;) {
    auto event = run((*stream)->next());
    ASSERT_TRUE(event);
    if (auto* result = std::get_if<ResultBundle>(&*event)) text = result->data.at("text/plain");
    if (std::get_if<ExecutionDone>(&*event)) break;
  }
  EXPECT_EQ(text, "'done'");
}

// The parked memory is a user's: whatever it holds, the host and the other sandboxes are as they were.
TEST_F(ForkTest, HostileInterpretersHarmOnlyThemselves) {
  const auto source = sandbox();
  const char* const attacks[] = {
      // Far too much address space; too many areas; the reserved memory gone; a runner that lies about being
      // parked.
      "import mmap\nm = mmap.mmap(-1, 100 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)",
      "import ctypes\nctypes.CDLL(None).munmap(ctypes.c_void_p(0x600000000000), ctypes.c_size_t(256 << 10))",
      "import mmap\nkeep = []\nfor i in range(20000):\n  m = mmap.mmap(-1, 8192, flags=mmap.MAP_PRIVATE | "
      "mmap.MAP_ANONYMOUS, prot=1 + (i & 1) * 2); keep.append(m)",
      "import ctypes\nfor line in open('/proc/self/maps'):\n  a = line.split()\n  if 'zygote' in line"
      " and 'w' in a[1]:\n    s, e = (int(x, 16) for x in a[0].split('-')); ctypes.memset(s, 0x41, e - s)",
  };
  for (const char* code : attacks) {
    const auto interpreter = forked_interpreter(*source);
    (void)execute(interpreter, code);
    const std::string target = new_target();
    const auto carried = run(source->checkpoint(target, {}));
    if (carried) {
      const auto copy = go_on(target);
      ASSERT_TRUE(copy) << code;
      auto fresh = run(copy->create_interpreter(Language::python, ""));
      ASSERT_TRUE(fresh) << code;
      EXPECT_EQ(said(*fresh, "1+1"), "2") << code;
    }
    ASSERT_TRUE(run(source->remove_interpreter(interpreter->info().id)));
  }
  const auto after = forked_interpreter(*source);
  said(after, "x = 5");
  const auto copy = fork(*source);
  ASSERT_TRUE(copy);
  EXPECT_EQ(said(only_interpreter(*copy), "x"), "5");
}

// A state that is written down whole comes back in a child of another zygote of the same layout.
TEST_F(ForkTest, WholeStatesGoOnAsTheSame) {
  auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  said(interpreter,
       "import random, json\nrandom.seed(5)\nx = {'a': [1, 2, 3]}\nf = open('/tmp/t', 'w+'); f.write('abc'); "
       "f.flush(); f.seek(1)");
  const std::string target = new_target();
  const Carried carried = checkpoint(*source, target, {.whole = true, .strict = true});
  EXPECT_THAT(carried.interpreters, SizeIs(1));
  const std::string next = said(interpreter, "random.random()");
  EXPECT_TRUE(run(source->stop()));
  source.reset();
  // The state is as good for another daemon, with a spawner and a zygote of its own.
  EXPECT_TRUE(run(provider_->shut_down()));
  provider_.reset();
  NativeOptions options;
  begin(std::move(options));
  const auto again = go_on(target);
  ASSERT_TRUE(again);
  EXPECT_THAT(again->revival().left_behind, IsEmpty());
  const auto woken = only_interpreter(*again);
  ASSERT_TRUE(woken);
  EXPECT_EQ(said(woken, "json.dumps(x), f.read()"), "('{\"a\": [1, 2, 3]}', 'bc')");
  // It is the same one that goes on, not a copy of it.
  EXPECT_EQ(said(woken, "random.random()"), next);
  EXPECT_EQ(said(woken, "big = list(range(100000)); sum(big)"), "4999950000");
}

// It shares most of its memory with its zygote, and looking at that must not give it pages of its own.
TEST_F(ForkTest, TakingAWholeStateCostsTheSourceNoMemory) {
  const auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  said(interpreter, "x = 1");
  const std::uint64_t before = run(source->usage())->memory_bytes;
  checkpoint(*source, new_target(), {.whole = true});
  EXPECT_EQ(said(interpreter, "x"), "1");
  EXPECT_LT(run(source->usage())->memory_bytes, before + (4U << 20));
}

TEST_F(ForkTest, DamagedStatesGiveFilesOnlyAndSayWhy) {
  const auto source = sandbox();
  const auto interpreter = forked_interpreter(*source);
  said(interpreter, "open('kept', 'w').write('yes')");
  const std::string target = new_target();
  checkpoint(*source, target, {.whole = true});
  const std::string file = target + "/kernels";
  std::string good;
  {
    std::ifstream in(file, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  ASSERT_GT(good.size(), 100000U);
  const auto flipped = [&](std::size_t at) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    return bytes;
  };
  const struct {
    std::string bytes;
    const char* says;
  } cases[] = {{good.substr(0, 10), "cut short"},
               {good.substr(0, good.size() - 1), "bytes of"},
               {good + "x", "bytes of"},
               {"nothing of ours" + std::string(8192, 'x'), "not a file of parked interpreters"},
               {flipped(8), "version"},
               {flipped(20), "its beginning"},
               {flipped(5000), "the memory of an interpreter"},
               {flipped(good.size() - 3), "its index"},
               {std::string(), "cut short"}};
  for (const auto& one : cases) {
    {
      std::ofstream out(file, std::ios::binary | std::ios::trunc);
      out << one.bytes;
    }
    const auto woken = go_on(target);
    ASSERT_TRUE(woken) << one.says;
    EXPECT_THAT(woken->interpreters(), IsEmpty());
    ASSERT_THAT(woken->revival().left_behind, SizeIs(1)) << one.says;
    EXPECT_THAT(woken->revival().left_behind[0], HasSubstr(one.says));
    auto fresh = run(woken->create_interpreter(Language::python, ""));
    ASSERT_TRUE(fresh);
    EXPECT_EQ(said(*fresh, "open('kept').read()"), "'yes'");
  }
}

}  // namespace
}  // namespace atl::sandbox::native
