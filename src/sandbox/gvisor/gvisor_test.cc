// The provider gvisor against a real runsc. Where there is none, or no root, each test says so and is
// skipped.
#include "sandbox/gvisor/gvisor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "os/file.h"
#include "sandbox/gvisor/runsc.h"
#include "sandbox/measured.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::gvisor {
namespace {

using namespace std::chrono_literals;

// ATOLL_TEST_RUNSC names another runsc than the one in PATH.
std::string test_runsc() {
  const char* const named = std::getenv("ATOLL_TEST_RUNSC");
  return named != nullptr ? named : "";
}

std::string why_not() {
  if (::geteuid() != 0) return "runsc needs root";
  const auto runsc = find_runsc(test_runsc());
  return runsc ? "" : runsc.error().message();
}

class GvisorTest : public testing::Test, protected TestLoop {
 protected:
  void SetUp() override {
    if (const std::string why = why_not(); !why.empty()) GTEST_SKIP() << "gvisor: " << why;
    std::string name = "/tmp/atoll-gvisor-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    std::filesystem::create_directories(directory_ + "/snapshots");
    start();
  }
  void TearDown() override {
    if (provider_) {
      const auto done = run(provider_->shut_down());
      EXPECT_TRUE(done) << done.error().message();
    }
    if (!directory_.empty()) {
      EXPECT_FALSE(std::filesystem::exists(directory_ + "/run/state")) << "runsc's state is left";
      std::error_code error;
      std::filesystem::remove_all(directory_, error);
      EXPECT_FALSE(error) << error.message();
    }
  }
  void start(std::uint32_t ready = 0, const std::string& runsc = test_runsc()) {
    GvisorOptions options{.runsc = runsc, .run_directory = directory_ + "/run"};
    options.roots.snapshots = {directory_ + "/snapshots"};
    options.ready = ready, options.warm = {Language::python};
    auto provider = gvisor::start(context().get_executor(), std::move(options));
    ASSERT_TRUE(provider) << provider.error().message() << " " << provider.error().detail();
    provider_ = std::move(*provider);
  }
  std::unique_ptr<Sandbox> box(Spec spec = {}) { return create(*provider_, std::move(spec)); }
  std::string snapshot(const char* name) const { return directory_ + "/snapshots/" + name; }

  std::string directory_;
  std::unique_ptr<Provider> provider_;
};

std::string wall(const Isolation& isolation, const std::string& name) {
  for (const Wall& each : isolation.walls)
    if (each.name == name) return each.value;
  return "";
}

TEST_F(GvisorTest, RefusesDirectoriesOutsideOfItsRoots) {
  Spec spec;
  spec.id = "outside";
  spec.layers = {"/etc"};
  EXPECT_EQ(run(provider_->create(spec)).error().code(), Code::permission_denied);
  spec.layers.clear();
  spec.snapshot = directory_ + "/snapshots/../run";
  EXPECT_FALSE(run(provider_->create(spec)));
  spec.snapshot.reset();
  spec.host_mounts = {{.host_path = "/etc", .guest_path = "/mnt"}};
  EXPECT_EQ(run(provider_->create(spec)).error().code(), Code::permission_denied);
  EXPECT_FALSE(run(provider_->discard_snapshot("/etc/hosts")));
  EXPECT_TRUE(std::filesystem::exists("/etc/hosts"));
}

TEST_F(GvisorTest, TheKernelInsideIsNotTheHosts) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  EXPECT_NE(shell(*sandbox, "dmesg").out.find("gVisor"), std::string::npos);
  EXPECT_EQ(shell(*sandbox, "id -un; pwd").out, "user\n/home/user\n");
  EXPECT_NE(wall(sandbox->isolation(), "user_space_kernel").find("runsc"), std::string::npos);
  for (const char* name : {"seccomp", "user_namespace", "mount_namespace", "network_namespace",
                           "memory_limit", "cpu_limit", "process_limit", "disk_limit", "root_filesystem"})
    EXPECT_NE(wall(sandbox->isolation(), name), "") << name;
  EXPECT_EQ(shell(*sandbox, "echo /root/* /boot/* /var/log/*").out, "/root/* /boot/* /var/log/*\n");
}

TEST_F(GvisorTest, TheDiskIsFullAtItsLimit) {
  Spec spec;
  spec.limits.disk_bytes = 8 << 20;
  const auto sandbox = box(spec);
  ASSERT_TRUE(sandbox);
  const Ran ran = shell(*sandbox, "head -c 20000000 /dev/zero > /tmp/a; stat -c %s /tmp/a");
  EXPECT_NE(ran.err.find("No space left"), std::string::npos) << ran.err;
  EXPECT_GT(run(sandbox->usage())->disk_bytes, 7U << 20);
}

TEST_F(GvisorTest, InterpretersRemember) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  for (const auto& [language, set, get] :
       {std::tuple{Language::python, "x = 6 * 7", "print(x)"}, std::tuple{Language::shell, "x=42", "echo $x"},
        std::tuple{Language::javascript, "var x = 6 * 7", "console.log(x)"}}) {
    auto interpreter = run(sandbox->create_interpreter(language, ""));
    ASSERT_TRUE(interpreter) << interpreter.error().message();
    execute(**interpreter, set);
    EXPECT_EQ(execute(**interpreter, get).out, "42\n") << to_string(language);
  }
}

TEST_F(GvisorTest, ACopyKnowsEverythingAndTheOriginalGoesOn) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  auto python = run(sandbox->create_interpreter(Language::python, ""));
  ASSERT_TRUE(python) << python.error().message();
  auto bash = run(sandbox->create_interpreter(Language::shell, ""));
  ASSERT_TRUE(bash);
  execute(**python, "x = 1; f = open('/tmp/open', 'w'); f.write('kept'); f.flush()");
  execute(**bash, "y=2; sleep 1000 & ");
  ASSERT_TRUE(write(*sandbox, "/home/user/file", "before"));
  const auto carried = run(sandbox->checkpoint(snapshot("one"), {}));
  ASSERT_TRUE(carried) << carried.error().message() << " " << carried.error().detail();
  EXPECT_EQ(carried->interpreters.size(), 2U);
  EXPECT_TRUE(carried->left_behind.empty());
  EXPECT_GT(carried->pause.count(), 0);
  EXPECT_EQ(execute(**python, "x += 1; print(x)").out, "2\n") << "the original goes on";
  Spec spec;
  spec.snapshot = snapshot("one"), spec.with_interpreters = true;
  const auto copy = box(spec);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->revival().interpreters.size(), 2U);
  ASSERT_EQ(copy->interpreters().size(), 2U);
  for (const auto& each : copy->interpreters()) {
    const bool is_python = each->info().language == Language::python;
    EXPECT_EQ(
        execute(*each, is_python ? "print(x + 1); f.write('!'); f.close()" : "echo $((y + 1)); jobs | wc -l")
            .out,
        is_python ? "2\n" : "3\n1\n");
    EXPECT_EQ(each->info().id, is_python ? (*python)->info().id : (*bash)->info().id);
  }
  EXPECT_EQ(read(*copy, "/home/user/file").value_or("?"), "before");
  EXPECT_EQ(read(*copy, "/tmp/open").value_or("?"), "kept!");
  EXPECT_EQ(read(*sandbox, "/tmp/open").value_or("?"), "kept");
  ASSERT_TRUE(run(sandbox->stop()));
  EXPECT_EQ(shell(*copy, "echo alive").out, "alive\n") << "a copy is nobody's part";
  EXPECT_GT(run(provider_->snapshot_bytes(snapshot("one"))).value_or(0), 0U);
  ASSERT_TRUE(run(provider_->discard_snapshot(snapshot("one"))));
  EXPECT_FALSE(std::filesystem::exists(snapshot("one")));
}

// With a runsc that can: the container of a copy is made while its original is saved, and another one for the
// next. What cannot be brought into it is copied in the ordinary way.
TEST_F(GvisorTest, CopiesComeFromContainersThatWereMadeAhead) {
  const auto runsc = find_runsc(test_runsc());
  if (!runsc->leaves_running) GTEST_SKIP() << "this runsc restores into new containers only";
  ASSERT_TRUE(run(provider_->shut_down()));
  const std::string script = directory_ + "/runsc", log = directory_ + "/log";
  ASSERT_TRUE(os::write_file(
      script, "#!/bin/sh\necho \"$*\" >> " + log + "\nexec " + runsc->program + " \"$@\"\n", 0755));
  start(0, script);
  const auto count = [&](const std::string& verb) {
    const std::string text = os::read_file(log).value_or("");
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(" " + verb + " ", at)) != std::string::npos; ++at) ++found;
    return found;
  };
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(shell(*sandbox, "rm /etc/debian_version; echo 1 > /usr/new", "root").outcome.exit_code, 0);
  auto python = run(sandbox->create_interpreter(Language::python, ""));
  ASSERT_TRUE(python);
  execute(**python, "x = 41");
  const auto fork = [&](const char* name) {
    EXPECT_TRUE(run(sandbox->checkpoint(snapshot(name), {})));
    Spec spec;
    spec.snapshot = snapshot(name), spec.with_interpreters = true;
    auto copy = box(spec);
    EXPECT_TRUE(copy);
    if (!copy) return;
    EXPECT_EQ(execute(*copy->interpreters().at(0), "print(x + 1)").out, "42\n") << name;
    EXPECT_EQ(shell(*copy, "cat /usr/new; test -e /etc/debian_version || echo gone").out, "1\ngone\n");
    EXPECT_NE(wall(copy->isolation(), "disk_limit"), "");
    EXPECT_NE(wall(copy->isolation(), "memory_limit"), "");
    EXPECT_TRUE(run(copy->stop()));
  };
  const std::size_t before = count("run");
  fork("first"), fork("second");
  EXPECT_GE(count("create"), 1U);
  EXPECT_EQ(count("restore"), 2U);
  EXPECT_EQ(shell(*sandbox, "echo a > /tmp/a; ln /tmp/a /tmp/b").outcome.exit_code, 0);
  fork("linked");
  EXPECT_EQ(count("run"), before) << "nothing was started without its memory";
}

TEST_F(GvisorTest, AFilesSnapshotIsWhatPausedProgramsHadWritten) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(shell(*sandbox, "echo new > new; mkdir /tmp/d; echo /tmp/d*").out, "/tmp/d\n");
  EXPECT_TRUE(shell(*sandbox, "rm /etc/debian_version; touch /usr/new", "root").outcome.succeeded());
  ASSERT_TRUE(run(sandbox->snapshot(snapshot("files"))));
  EXPECT_EQ(run(sandbox->snapshot(snapshot("files"))).error().code(), Code::already_exists);
  Spec spec;
  spec.snapshot = snapshot("files");
  const auto later = box(spec);
  ASSERT_TRUE(later);
  EXPECT_EQ(shell(*later, "cat new; echo /tmp/d* /usr/new*; test -e /etc/debian_version || echo gone").out,
            "new\n/tmp/d /usr/new\ngone\n");
}

TEST_F(GvisorTest, PausedIsPaused) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(run(sandbox->pause()));
  ProcessSpec process;
  process.argv = {"true"};
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::conflict);
  ASSERT_TRUE(run(sandbox->resume()));
  EXPECT_EQ(shell(*sandbox, "echo on").out, "on\n");
}

TEST_F(GvisorTest, ADaemonThatWasKilledFindsItsSandboxesAgain) {
  auto sandbox = box();
  ASSERT_TRUE(sandbox);
  auto paused = box();
  ASSERT_TRUE(paused);
  ProcessSpec process;
  process.argv = {"sh", "-c", "sleep 1; echo done > /tmp/done; sleep 1000"};
  ASSERT_TRUE(run(sandbox->start(process)));
  ASSERT_TRUE(run(paused->pause()));
  const std::string id = sandbox->id(), paused_id = paused->id();
  // Nothing of this daemon can say a word to the broker any more, as if it had been killed.
  provider_.reset();
  sandbox.reset(), paused.reset();
  start();
  const auto there = run(provider_->adoptable());
  ASSERT_TRUE(there);
  ASSERT_EQ(there->size(), 2U);
  const auto again = run(provider_->adopt(id));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ((*again)->id(), id);
  EXPECT_EQ((*again)->processes().size(), 1U);
  EXPECT_EQ(shell(**again, "sleep 1.5; cat /tmp/done").out, "done\n");
  const auto still = run(provider_->adopt(paused_id));
  ASSERT_TRUE(still) << still.error().message();
  ASSERT_TRUE(run((*still)->resume()));
  EXPECT_EQ(shell(**still, "echo awake").out, "awake\n");
}

TEST_F(GvisorTest, AKilledKernelEndsTheSandboxAndLeavesNothing) {
  const auto sandbox = box();
  ASSERT_TRUE(sandbox);
  shell(*sandbox, "true");
  // The one process of the host whose parent is the broker and that runs this sandbox.
  ASSERT_EQ(std::system(("kill -9 $(pgrep -f -- '" + directory_ + "/.* [b]oot' | head -1)").c_str()), 0);
  const auto why = run(sandbox->ended());
  ASSERT_TRUE(why);
  EXPECT_FALSE(why->empty());
  ProcessSpec process;
  process.argv = {"true"};
  EXPECT_EQ(run(sandbox->start(process)).error().code(), Code::unavailable);
}

TEST_F(GvisorTest, ReadySandboxesAreCopiesWithWarmInterpreters) {
  ASSERT_TRUE(run(provider_->shut_down()));
  start(2);
  ASSERT_TRUE(box()) << "the first of its kind is made on demand";
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (provider_->pools().at(0).ready < 2 && std::chrono::steady_clock::now() < until)
    context().run_one_for(50ms);
  ASSERT_EQ(provider_->pools().at(0).ready, 2U);
  std::vector<std::string> chances;
  for (int i = 0; i < 2; ++i) {
    Spec spec;
    spec.env = {{"WHO", std::to_string(i)}};
    const auto began = std::chrono::steady_clock::now();
    const auto sandbox = box(spec);
    ASSERT_TRUE(sandbox);
    auto python = run(sandbox->create_interpreter(Language::python, ""));
    ASSERT_TRUE(python) << python.error().message();
    EXPECT_EQ(execute(**python, "import os; print(os.environ['WHO'])").out, std::to_string(i) + "\n");
    const auto took = std::chrono::steady_clock::now() - began;
    RecordProperty("first_answer_ms", static_cast<int>(took / 1ms));
    chances.push_back(execute(**python, "import random; print(random.random())").out);
  }
  EXPECT_NE(chances[0], chances[1]) << "copies of one interpreter must not draw the same numbers";
  const PoolUse& use = dynamic_cast<Pooled&>(*provider_).pool_use();
  EXPECT_EQ(use.hits, 2U);
  EXPECT_EQ(use.misses, 1U);
}

TEST(GvisorMissing, ARunscThatIsNotThereIsToldWithTheRemedy) {
  const auto none = find_runsc("/no/such/runsc");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), Code::unsupported);
  EXPECT_NE(none.error().message().find("provider.gvisor.runsc"), std::string::npos);
  const auto other = find_runsc("/bin/true");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Code::unsupported);
}

}  // namespace
}  // namespace atl::sandbox::gvisor
