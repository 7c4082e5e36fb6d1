// Zygotes for environments: they run in layers that came of our own recipes, and never in a user's.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/ids.h"
#include "os/file.h"
#include "sandbox/native/native.h"
#include "sandbox/native/native_harness.h"

namespace atl::sandbox::native {
namespace {

using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// The host's Python with its standard library and whatever both are linked to, and nothing else.
constexpr const char* kCopyPython = R"(
import glob, os, re, subprocess, sys, sysconfig
root = sys.argv[1]
os.umask(0o022)
for name in ('usr/bin', 'usr/lib', 'usr/lib64', 'etc', 'proc', 'dev', 'tmp', 'run', 'mnt', 'home/user', 'root'):
    os.makedirs(f'{root}/{name}')
for name in ('bin', 'lib', 'lib64'):
    os.symlink(f'usr/{name}', f'{root}/{name}')
open(f'{root}/etc/passwd', 'w').write('root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n')
os.chmod(f'{root}/tmp', 0o1777)
program = os.path.realpath('/usr/bin/python3')
library = sysconfig.get_path('stdlib')
linked = subprocess.run(['ldd', program, *glob.glob(library + '/lib-dynload/*.so')], capture_output=True, text=True).stdout
wanted = {'/usr/bin/python3', program, library, *re.findall(r'(/\S+) \(0x', linked)}
for path in sorted(wanted):
    target = root + (path if path.startswith('/usr') else '/usr' + path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    subprocess.run(['cp', '-a' if path in (library, '/usr/bin/python3') else '-aL', path, target], check=True)
)";

constexpr const char* kPackages = "/usr/lib/python3/dist-packages";

class LayeredZygoteTest : public CheckpointHarness {
 protected:
  static std::string base_;  // made once, the same for all

  static void SetUpTestSuite() {
    if (::geteuid() != 0) return;
    base_ = "/var/tmp/atoll-layered-" + random_word(12);
    const std::string script = base_ + ".py";
    std::ofstream(script) << kCopyPython;
    std::filesystem::create_directory(base_);
    ASSERT_EQ(std::system(fmt::format("/usr/bin/python3 {} {}", script, base_).c_str()), 0);
    std::filesystem::remove(script);
  }
  static void TearDownTestSuite() {
    std::error_code ignored;
    if (!base_.empty()) std::filesystem::remove_all(base_, ignored);
  }
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    std::filesystem::create_directories(directory_);
    std::filesystem::permissions(directory_, std::filesystem::perms(0755));
    top_ = make_layer("one");
  }
  // A layer with a module, and a line that Python executes whenever it starts: it remembers who did.
  std::string make_layer(const std::string& value, std::string path = "") {
    if (path.empty()) path = directory_ + "/" + random_word(8);
    std::filesystem::create_directories(path + kPackages);
    std::ofstream(path + kPackages + "/marker.py") << fmt::format("value = '{}'\n", value);
    std::ofstream(path + kPackages + "/zz.pth")
        << "import os, sys; sys.starts = getattr(sys, 'starts', []) + [os.getpid()]\n";
    return path;
  }
  Spec layered(bool trusted) const {
    Spec spec;
    spec.layers = {base_, top_};
    spec.trusted_layers = trusted;
    spec.preimport = {"marker"};
    return spec;
  }
  // As layers of a user's, with a program that a zygote has if it runs in them.
  std::vector<std::string> zygotes_in_layers() const {
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
      const std::string line = os::read_file((process.path() / "cmdline").c_str()).value_or("");
      if (line.find("/zygote.py") == std::string::npos) continue;
      const std::string root = process.path() / "root";
      if (os::read_file((root + kPackages + "/marker.py").c_str()).value_or("").find(mark_) !=
          std::string::npos)
        found.push_back(process.path());
    }
    return found;
  }

  std::string top_;
  std::string mark_ = "mark-" + random_word(8);
};
std::string LayeredZygoteTest::base_;

// Who started is told by process numbers: the zygote's is of another process namespace, and far from a small
// one.
constexpr const char* kWhoStarted =
    "import os, sys\n[pid == os.getpid() for pid in sys.starts], 'marker' in sys.modules";

TEST_F(LayeredZygoteTest, TrustedLayersHaveOneOfTheirOwn) {
  begin_warm(layered(true));
  const auto sandbox = warm_sandbox(layered(true));
  const auto interpreter = forked_interpreter(*sandbox);
  ASSERT_TRUE(interpreter);
  EXPECT_EQ(said(interpreter, kWhoStarted), "([False], True)");
  EXPECT_EQ(said(interpreter, "import marker\nmarker.value, marker.__file__"),
            fmt::format("('one', '{}/marker.py')", kPackages));
  EXPECT_EQ(said(interpreter, "import os\nos.getppid(), os.getuid(), os.listdir('/mnt'), os.getcwd()"),
            "(1, 1000, [], '/home/user')");
  // The host's own is another one.
  Spec spec;
  spec.preimport = {"marker"};
  const auto other = this->sandbox(std::move(spec));
  auto theirs = run(other->create_interpreter(Language::python, ""));
  ASSERT_TRUE(theirs);
  EXPECT_EQ(said(*theirs, "import sys\n'marker' in sys.modules"), "False");
}

// What a module registered for after a fork is done in an interpreter of a zygote too, once, and not before.
TEST_F(LayeredZygoteTest, HooksOfImportedModulesAreCalled) {
  std::ofstream(top_ + kPackages + "/marker.py")
      << "import os\nforks = []\nos.register_at_fork(after_in_child=lambda: forks.append(os.getpid()))\n";
  begin_warm(layered(true));
  const auto sandbox = warm_sandbox(layered(true));
  const auto interpreter = forked_interpreter(*sandbox);
  ASSERT_TRUE(interpreter);
  EXPECT_EQ(
      said(interpreter, "import os, marker\nmarker.forks == [os.getpid()], os.register_at_fork.__name__"),
      "(True, 'register_at_fork')");
}

// A .pth file of a layer runs where Python starts. What a user made, or an archive brought, starts inside
// only.
TEST_F(LayeredZygoteTest, WhatAUserMadeIsNeverSeenByOne) {
  top_ = make_layer(mark_);
  begin_warm(layered(false));
  const auto warm = warm_sandbox(layered(false));
  const auto first = python_interpreter(*warm, InterpreterOrigin::started);
  ASSERT_TRUE(first);
  EXPECT_EQ(said(first, kWhoStarted), "([True], False)");
  EXPECT_EQ(said(first, "import marker\nmarker.value"), fmt::format("'{}'", mark_));
  ASSERT_TRUE(run(first->restart()));
  EXPECT_EQ(first->info().origin, InterpreterOrigin::started);
  EXPECT_THAT(zygotes_in_layers(), IsEmpty());
  // Proves that the search below finds a match where there is one.
  const auto trusted = sandbox(layered(true));
  ASSERT_TRUE(run(trusted->create_interpreter(Language::python, "")));
  for (int i = 0; i < 2000 && zygotes_in_layers().empty(); ++i) turn(std::chrono::milliseconds(10));
  // It, and the interpreter that it made, which has its name.
  EXPECT_THAT(zygotes_in_layers(), Not(IsEmpty()));
}

TEST_F(LayeredZygoteTest, LayersThatOthersCouldChangeAreNotTrusted) {
  ASSERT_EQ(::chmod(top_.c_str(), 0777), 0);
  begin_warm(layered(true));
  const auto writable = warm_sandbox(layered(true));
  EXPECT_EQ(said(python_interpreter(*writable, InterpreterOrigin::started), kWhoStarted), "([True], False)");
  ASSERT_EQ(::chmod(top_.c_str(), 0755), 0);
  ASSERT_EQ(::chown(top_.c_str(), 1000, 0), 0);
  top_ = make_layer("two");
  ASSERT_EQ(::chown(top_.c_str(), 1000, 0), 0);
  const auto foreign = sandbox(layered(true));
  EXPECT_EQ(said(python_interpreter(*foreign, InterpreterOrigin::started), kWhoStarted), "([True], False)");
}

TEST_F(LayeredZygoteTest, AChangedSystemIsNotTheZygotes) {
  begin_warm(layered(true));
  Spec spec = layered(true);
  spec.user = "root";
  const auto source = warm_sandbox(spec);
  const auto interpreter = forked_interpreter(*source);
  EXPECT_EQ(
      said(interpreter, fmt::format("open('{}/marker.py', 'w').write(\"value = 'mine'\")\n0", kPackages)),
      "0");
  const auto changed = python_interpreter(*source, InterpreterOrigin::started);
  EXPECT_EQ(said(changed, "import marker\nmarker.value"), "'mine'");
  // So is one that starts from there.
  const std::string target = new_target();
  ASSERT_TRUE(run(source->snapshot(target)));
  spec.snapshot = target;
  const auto later = sandbox(spec);
  EXPECT_EQ(said(python_interpreter(*later, InterpreterOrigin::started), "import marker\nmarker.value"),
            "'mine'");
}

TEST_F(LayeredZygoteTest, CopiesAndWholeStatesGoOn) {
  begin_warm(layered(true));
  const auto source = warm_sandbox(layered(true));
  const auto interpreter = forked_interpreter(*source);
  said(interpreter,
       "import marker, json, zlib\nmarker.mine = [1]\nf = open('/tmp/t', 'w+'); f.write('abc'); f.flush(); "
       "f.seek(1)");
  const std::string copied = new_target();
  EXPECT_THAT(checkpoint(*source, copied).left_behind, IsEmpty());
  {
    const auto copy = go_on(copied, layered(true));
    ASSERT_TRUE(copy);
    EXPECT_THAT(copy->revival().left_behind, IsEmpty());
    EXPECT_EQ(said(only_interpreter(*copy), "marker.mine.append(2); marker.mine, marker.value, f.read()"),
              "([1, 2], 'one', 'bc')");
  }
  const std::string whole = new_target();
  EXPECT_THAT(checkpoint(*source, whole, {.whole = true, .strict = true}).interpreters, SizeIs(1));
  EXPECT_TRUE(run(provider_->shut_down()));
  provider_.reset();
  begin({});
  {
    const auto woken = go_on(whole, layered(true));
    ASSERT_TRUE(woken);
    EXPECT_THAT(woken->revival().left_behind, IsEmpty());
    EXPECT_EQ(said(only_interpreter(*woken), "marker.mine, zlib.crc32(b'x'), f.read()"),
              "([1], 2363233923, 'bc')");
  }
  // Without trusted layers there is no zygote, so nothing outside the sandbox runs it.
  const auto files_only = go_on(whole, layered(false));
  ASSERT_TRUE(files_only);
  EXPECT_THAT(files_only->interpreters(), IsEmpty());
  EXPECT_THAT(files_only->revival().left_behind, SizeIs(1));
}

// Removed and built again: the name of the place is the same, what is in it is not.
TEST_F(LayeredZygoteTest, OneWhoseLayersAreGoneIsReplaced) {
  begin_warm(layered(true));
  {
    const auto before = warm_sandbox(layered(true));
    EXPECT_EQ(said(forked_interpreter(*before), "import marker\nmarker.value"), "'one'");
  }
  std::filesystem::remove_all(top_);
  make_layer("two", top_);
  Spec spec = layered(true);
  spec.hostname = "other";  // not the pool's
  std::string seen;
  for (int i = 0; i < 500 && seen != "'two'"; ++i) {
    const auto after = sandbox(spec);
    auto interpreter = run(after->create_interpreter(Language::python, ""));
    ASSERT_TRUE(interpreter);
    if ((*interpreter)->info().origin == InterpreterOrigin::forked)
      seen = said(*interpreter, "import sys\nsys.modules['marker'].value");
    turn(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(seen, "'two'");
}

}  // namespace
}  // namespace atl::sandbox::native
