// A copy of an interpreter draws other random numbers than its source: docs/decisions/randomness.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "sandbox/native/native_harness.h"
#include "sandbox/native/process_image.h"

namespace atl::sandbox::native {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(AreasAtFork, AreReadFromTheFlagsOfEachArea) {
  const auto areas = parse_areas(
      "7f0000000000-7f0000001000 rw-p 00000000 00:00 0 \n"
      "Size:                  4 kB\nAnonymous:             4 kB\nFilePmdMapped:         0 kB\n"
      "VmFlags: rd wr mr mw me ac wf dd dp sd \n"
      "7f0000002000-7f0000003000 rw-p 00000000 00:00 0 [heap]\n"
      "Size:                  4 kB\nVmFlags: rd wr mr mw me ac sd \n"
      "7f0000004000-7f0000005000 r--p 00000000 fe:00 12 /usr/lib/a dc\n"
      "VmFlags: rd mr mw me dc\n");
  ASSERT_EQ(areas.size(), 3U);
  EXPECT_TRUE(areas[2].has_own_pages);  // nothing is said about it
  EXPECT_EQ(areas[0].at_fork, kWipedByFork | kDroppable);
  EXPECT_EQ(areas[1].at_fork, 0);
  EXPECT_EQ(areas[1].name, "[heap]");
  EXPECT_EQ(areas[2].at_fork, kAbsentAfterFork);
  EXPECT_EQ(areas[2].name, "/usr/lib/a dc");
}

TEST(AreasAtFork, UnknownOnesAreRefused) {
  ProcessImage image;
  image.directory = "/";
  image.areas.push_back({.start = 0x1000, .end = 0x2000, .at_fork = 7});
  EXPECT_TRUE(is_sound(image));
  image.areas.back().at_fork = 8;
  EXPECT_FALSE(is_sound(image));
}

TEST(AreasAtFork, WhetherAnAreaOfAFileHasPagesOfItsOwnIsReadFromItsSizes) {
  const auto areas = parse_areas(
      "7f0000000000-7f0000001000 r--p 00000000 fe:00 12 /usr/lib/a\n"
      "Anonymous:             0 kB\nSwap:                  0 kB\nVmFlags: rd mr mw me sd\n"
      "7f0000001000-7f0000002000 rw-p 00001000 fe:00 12 /usr/lib/a\n"
      "Anonymous:             4 kB\nSwap:                  0 kB\nVmFlags: rd wr mr mw me sd\n"
      "7f0000002000-7f0000003000 rw-p 00002000 fe:00 12 /usr/lib/a\n"
      "Anonymous:             0 kB\nSwap:                  4 kB\nSwapPss:               4 kB\nVmFlags: rd wr "
      "mr mw me sd\n"
      "7f0000003000-7f0000004000 rw-p 00000000 00:00 0 \n"
      "Anonymous:             0 kB\nSwap:                  0 kB\nVmFlags: rd wr mr mw me sd\n");
  ASSERT_EQ(areas.size(), 4U);
  EXPECT_FALSE(areas[0].has_own_pages);
  EXPECT_TRUE(areas[1].has_own_pages);
  EXPECT_TRUE(areas[2].has_own_pages);
  EXPECT_TRUE(areas[3].has_own_pages);  // nothing is there now, but nothing that a file holds either
}

class ChanceTest : public CheckpointHarness {
 protected:
  // The values of a cell that printed lines of "name value".
  std::map<std::string, std::string> drawn(const std::shared_ptr<Interpreter>& interpreter) {
    std::istringstream lines(said(interpreter, "draw()"));
    std::map<std::string, std::string> values;
    for (std::string name, value; lines >> name >> value;) values[name] = value;
    return values;
  }
  std::unique_ptr<Sandbox> woken(const std::string& target, Spec spec = {}) {
    auto copy = go_on(target, std::move(spec));
    if (copy) {
      EXPECT_THAT(copy->revival().left_behind, IsEmpty());
    }
    return copy;
  }
  // Every value of every name once, in the source and in ten copies; of names that begin with "same_" always
  // the same.
  void expect_all_different(const std::string& setup, std::size_t count, const Spec& spec = {}) {
    const auto source = sandbox(spec);
    const auto interpreter = forked_interpreter(*source);
    ASSERT_TRUE(interpreter);
    ASSERT_EQ(said(interpreter, setup), "");
    const std::string target = new_target();
    const Carried carried = checkpoint(*source, target);
    ASSERT_THAT(carried.left_behind, IsEmpty());
    std::map<std::string, std::multiset<std::string>> seen;
    for (const auto& [name, value] : drawn(interpreter)) seen[name].insert(value);
    for (int i = 0; i < 10; ++i) {
      const auto copy = woken(target, spec);
      ASSERT_TRUE(copy);
      for (const auto& [name, value] : drawn(only_interpreter(*copy))) seen[name].insert(value);
    }
    EXPECT_EQ(seen.size(), count);
    for (const auto& [name, values] : seen) {
      EXPECT_EQ(values.size(), 11U) << name;
      const std::set<std::string> different(values.begin(), values.end());
      EXPECT_EQ(different.size(), name.starts_with("same_") ? 1U : 11U) << name;
    }
  }
};

constexpr const char* kDraw = R"(
import random, secrets, uuid, ssl, os, tempfile
def draw():
    one = uuid.uuid1()
    for name, value in (
        ('random', random.random()), ('bits', random.getrandbits(64)), ('secrets', secrets.token_hex(16)),
        ('system', random.SystemRandom().random()), ('urandom', os.urandom(16).hex()), ('uuid4', uuid.uuid4().hex),
        ('uuid1', f'{one.node:x}-{one.clock_seq:x}'), ('uuid1_node', uuid.uuid1().node), ('ssl', ssl.RAND_bytes(16).hex()),
        ('tempfile', next(tempfile._get_candidate_names())), ('same_hash', hash('atoll'))):
        print(name, value)
import io, contextlib
with contextlib.redirect_stdout(io.StringIO()):
    draw()
)";

TEST_F(ChanceTest, SourceAndTenCopiesDrawNothingAlike) {
  expect_all_different(kDraw, 11);
}

class NumpyChanceTest : public ChanceTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    Spec spec;
    spec.preimport = {"numpy"};
    begin_warm(spec);
    const auto probe = sandbox(spec);
    const auto interpreter = run(probe->create_interpreter(Language::python, ""));
    ASSERT_TRUE(interpreter);
    if (said(*interpreter, "import numpy") != "") GTEST_SKIP() << "needs Debian's python3-numpy";
  }
};

TEST_F(NumpyChanceTest, SourceAndTenCopiesDrawNothingAlike) {
  Spec spec;
  spec.preimport = {"numpy"};
  expect_all_different(R"(
import numpy as np
rng, seeded = np.random.default_rng(), np.random.default_rng(5)
class Model:
    def __init__(self): self.rng = np.random.default_rng()
kept, model = {'deep': [np.random.Generator(np.random.Philox())]}, Model()
rng.random(), np.random.random()
def draw():
    print('legacy', np.random.random())
    print('top', rng.random())
    print('deep', kept['deep'][0].random())
    print('object', model.rng.random())
    print('spawned', rng.bit_generator._seed_seq.spawn(1)[0].generate_state(2)[0])
    print('fresh', np.random.default_rng().random())
    print('same_seeded', seeded.random())
)",
                       7, spec);
}

// Two children of one zygote, which has drawn: none has the other's numbers.
TEST_F(ChanceTest, ForksOfAZygoteDrawNothingAlike) {
  std::map<std::string, std::multiset<std::string>> seen;
  for (int i = 0; i < 4; ++i) {
    const auto box = warm_sandbox();
    const auto interpreter = forked_interpreter(*box);
    ASSERT_EQ(said(interpreter, kDraw), "");
    for (const auto& [name, value] : drawn(interpreter)) seen[name].insert(value);
  }
  for (const auto& [name, values] : seen)
    if (!name.starts_with("same_")) {
      EXPECT_EQ(std::set(values.begin(), values.end()).size(), 4U) << name;
    }
}

// Pages of three kinds, each with a secret: what the kernel does to them in a child of fork.
constexpr const char* kPages = R"(
import ctypes, os, re
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
def page(kind, advice):
    at = libc.mmap(None, 12288, 3, kind | 0x20, -1, 0)
    if at in (None, ctypes.c_void_p(-1).value):
        return None
    at += 4096  # apart from its neighbours
    if advice:
        assert libc.madvise(at, 4096, advice) == 0
    ctypes.memmove(at, b'secret', 6)
    return at
pages = {'wiped': page(2, 18), 'absent': page(2, 10), 'droppable': page(8, 0), 'plain': page(2, 0)}
heap = ctypes.create_string_buffer(3 * 4096)
inside = ctypes.addressof(heap) + 4095 & ~4095
assert libc.madvise(inside, 4096, 18) == 0
ctypes.memmove(inside, b'secret', 6)
pages['inherited'] = inside
def flags(at):
    text = open('/proc/self/smaps').read()
    for start, end, body in re.findall(r'^([0-9a-f]+)-([0-9a-f]+) .*\n((?:[A-Z].*\n)*)', text, re.M):
        if int(start, 16) <= at < int(end, 16):
            return ' '.join(word for word in re.search('VmFlags:(.*)', body).group(1).split() if word in ('wf', 'dc', 'dp'))
    return 'none'
def draw():
    for name, at in pages.items():
        if at is not None:
            print(name, ctypes.string_at(at, 6).decode().strip('\0') + ':' + flags(at).replace(' ', '+'))
)";

TEST_F(ChanceTest, MemoryThatAForkWipesIsNotCarriedAndKeepsItsFlags) {
  const auto source = warm_sandbox();
  const auto interpreter = forked_interpreter(*source);
  ASSERT_EQ(said(interpreter, kPages), "");
  const auto before = drawn(interpreter);
  EXPECT_EQ(before.at("wiped"), "secret:wf");
  EXPECT_EQ(before.at("absent"), "secret:dc");
  EXPECT_EQ(before.at("plain"), "secret:");
  EXPECT_EQ(before.at("inherited"), "secret:wf");
  const auto expect_emptied = [&](Sandbox& copy) {
    const auto after = drawn(only_interpreter(copy));
    EXPECT_EQ(after.at("wiped"), ":wf");
    EXPECT_EQ(after.at("absent"), ":dc");
    EXPECT_EQ(after.at("plain"), "secret:");
    EXPECT_EQ(after.at("inherited"), ":wf");
    // Only from Linux 6.11 on.
    if (before.contains("droppable")) {
      EXPECT_EQ(after.at("droppable"), ":wf+dp");
    }
  };
  const std::string near = new_target(), whole = new_target();
  ASSERT_THAT(checkpoint(*source, near).left_behind, IsEmpty());
  ASSERT_THAT(checkpoint(*source, whole, {.whole = true}).left_behind, IsEmpty());
  const auto copy = woken(near);
  ASSERT_TRUE(copy);
  expect_emptied(*copy);
  const auto again = woken(whole);
  ASSERT_TRUE(again);
  expect_emptied(*again);
  // What a copy writes there does not reach a copy of that copy either.
  said(only_interpreter(*copy), "ctypes.memmove(pages['wiped'], b'other!', 6)");
  const std::string further = new_target();
  ASSERT_THAT(checkpoint(*copy, further).left_behind, IsEmpty());
  const auto third = woken(further);
  ASSERT_TRUE(third);
  expect_emptied(*third);
  EXPECT_EQ(drawn(interpreter), before);
}

// A root filesystem whose C library keeps the state of getrandom() in memory that the vDSO made (glibc 2.41,
// Linux 6.11), as tests/env/run-long builds one: its directory is in ATOLL_NEWER_DEBIAN.
TEST_F(ChanceTest, SourceAndTenCopiesDrawNothingAlikeOnANewerDebian) {
  const char* const root = std::getenv("ATOLL_NEWER_DEBIAN");
  if (root == nullptr)
    GTEST_SKIP() << "needs a newer Debian in ATOLL_NEWER_DEBIAN (tests/env/run-long newer)";
  const std::string users = directory_ + "/users";
  std::filesystem::create_directories(users + "/etc");
  std::filesystem::create_directories(users + "/home/user");
  std::filesystem::create_directories(users + "/mnt");
  std::ofstream(users + "/etc/passwd") << "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n";
  ASSERT_EQ(::chown((users + "/home/user").c_str(), 1000, 1000), 0);
  Spec spec;
  spec.layers = {root, users};
  spec.trusted_layers = true;
  {
    const auto box = sandbox(spec);
    const auto interpreter = forked_interpreter(*box);
    ASSERT_TRUE(interpreter);
    EXPECT_EQ(said(interpreter, "import os\nos.urandom(1)\nint(' dp' in open('/proc/self/smaps').read())"),
              "1")
        << "this C library or kernel keeps no such state: the test says less than it could";
  }
  expect_all_different(kDraw, 11, spec);
}

// The first one goes on; whoever comes from the same state later is a copy.
TEST_F(ChanceTest, WakingTheSameStateTwiceIsAFork) {
  const auto source = warm_sandbox();
  const auto interpreter = forked_interpreter(*source);
  ASSERT_EQ(said(interpreter, std::string(kDraw) + "random.seed(5)\n"), "");
  const std::string target = new_target();
  checkpoint(*source, target, {.whole = true});
  const auto next = drawn(interpreter);
  std::vector<std::map<std::string, std::string>> wakes;
  for (int i = 0; i < 3; ++i) {
    const auto again = woken(target);
    ASSERT_TRUE(again);
    wakes.push_back(drawn(only_interpreter(*again)));
  }
  EXPECT_EQ(wakes[0].at("random"), next.at("random"));
  EXPECT_NE(wakes[1].at("random"), next.at("random"));
  EXPECT_NE(wakes[2].at("random"), wakes[1].at("random"));
  std::set<std::string> secrets{next.at("ssl")};
  for (const auto& one : wakes) secrets.insert(one.at("ssl"));
  EXPECT_EQ(secrets.size(), 4U);
}

}  // namespace
}  // namespace atl::sandbox::native
