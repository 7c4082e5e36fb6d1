#include "sandbox/native/native.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "os/file.h"
#include "os/message.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::native {
namespace {

using namespace std::chrono_literals;

class NativeTest : public testing::Test, protected TestLoop {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
  void TearDown() override {
    if (!provider_) return;
    EXPECT_TRUE(run(provider_->shut_down()));
    EXPECT_FALSE(group_exists()) << "control groups are left over";
  }
  Provider& open(NativeOptions options = {}) {
    options.spawner.cgroup_parent = group_;
    auto provider = start(context().get_executor(), std::move(options));
    EXPECT_TRUE(provider) << provider.error().message() << " " << provider.error().detail();
    if (!provider) throw std::runtime_error("no provider");
    provider_ = std::move(*provider);
    return *provider_;
  }
  bool group_exists() {
    auto tree = CgroupTree::open(group_);
    return tree && tree->version() != "none";
  }
  void wait_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 500 && !condition(); ++i) context().run_for(10ms);
    EXPECT_TRUE(condition());
  }

  const std::string group_ = "atoll-test-" + random_word(10);
  std::unique_ptr<Provider> provider_;
};

TEST_F(NativeTest, ARequestWithoutRootIsRefusedWithAReason) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(65534, 65534, 65534) < 0) ::_exit(9);
    boost::asio::io_context loop;
    const auto provider = start(loop.get_executor(), {});
    ::_exit(!provider && provider.error().code() == Code::unsupported ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(NativeTest, EveryWallIsNamed) {
  auto sandbox = create(open());
  ASSERT_TRUE(sandbox);
  std::vector<std::string> names;
  for (const Wall& wall : sandbox->isolation().walls) names.push_back(wall.name);
  for (const char* name : {"user_namespace", "pid_namespace", "mount_namespace", "network_namespace",
                           "ipc_namespace", "uts_namespace", "seccomp", "no_new_privileges", "capabilities",
                           "memory_limit", "process_limit", "cpu_limit", "disk_limit"})
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
}

TEST_F(NativeTest, MemoryLimitEndsTheProgramAndNotTheSandbox) {
  Spec spec;
  spec.limits.memory_bytes = 64 << 20;
  spec.limits.disk_bytes = 16 << 20;
  auto sandbox = create(open(), spec);
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"python3", "-c", "x = bytearray(300 << 20)"};
  const Ran ran = finish(*sandbox, process);
  EXPECT_EQ(ran.outcome.ending, Ending::out_of_memory);
  EXPECT_EQ(exit_status(ran.outcome), 137);
  EXPECT_NE(ran.outcome.reason.find("67108864"), std::string::npos) << ran.outcome.reason;
  EXPECT_EQ(shell(*sandbox, "echo alive").out, "alive\n");
}

TEST_F(NativeTest, ThreadsAreNotProcesses) {
  Spec spec;
  spec.limits.processes_max = 2;
  auto sandbox = create(open(), spec);
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"python3", "-c",
                  "import threading, time\n"
                  "for _ in range(20): threading.Thread(target=time.sleep, args=(0.5,)).start()\n"};
  EXPECT_TRUE(finish(*sandbox, process).outcome.succeeded());
  const Ran many = shell(*sandbox, "for i in 1 2 3 4 5 6; do sleep 20 & done; wait");
  EXPECT_EQ(many.outcome.ending, Ending::too_many_processes);
  EXPECT_NE(many.outcome.reason.find("2 are allowed"), std::string::npos) << many.outcome.reason;
}

TEST_F(NativeTest, AnIdleKernelIsNoProcessOfTheWorkload) {
  Spec spec;
  spec.limits.processes_max = 2;
  auto sandbox = create(open(), spec);
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(run(sandbox->create_kernel(Language::python, "/home/user")));
  ASSERT_TRUE(run(sandbox->create_kernel(Language::python, "/home/user")));
  EXPECT_EQ(run(sandbox->usage())->processes, 0U);
  EXPECT_TRUE(shell(*sandbox, "sleep 0.3 & wait").outcome.succeeded());
}

TEST_F(NativeTest, AGuestThatDiesIsNoticed) {
  auto sandbox = create(open());
  ASSERT_TRUE(sandbox);
  const auto tree = CgroupTree::open(group_);
  ASSERT_TRUE(tree);
  const auto groups = tree->groups();
  for (const std::string& group : groups)
    for (const pid_t pid : tree->processes(group)) ::kill(pid, SIGKILL);
  const auto why = run(sandbox->ended());
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("signal 9"), std::string::npos) << *why;
  EXPECT_EQ(run(sandbox->start({})).error().code(), Code::unavailable);
}

TEST_F(NativeTest, AGivenUpHandleEndsItsSandbox) {
  Provider& provider = open();
  auto sandbox = create(provider);
  ASSERT_TRUE(sandbox);
  sandbox.reset();
  const auto tree = CgroupTree::open(group_);
  wait_for([&] {
    for (const std::string& group : tree->groups())
      if (!tree->is_empty(group)) return false;
    return true;
  });
}

TEST_F(NativeTest, PoolsServeWhatTheyHold) {
  NativeOptions options;
  options.pools.push_back({.environment = "host", .spec = {}, .ready = 2});
  Provider& provider = open(std::move(options));
  wait_for([&] { return provider.pools()[0].ready == 2; });
  Spec spec;
  spec.id = "from-the-pool";
  spec.env = {{"MINE", "yes"}};
  spec.user = "root";
  spec.working_directory = "/tmp";
  auto first = create(provider, spec);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id(), "from-the-pool");
  EXPECT_EQ(shell(*first, "id -un; pwd; echo $MINE; ls -A /tmp").out, "root\n/tmp\nyes\n");
  EXPECT_EQ(run(provider.create(spec)).error().code(), Code::already_exists);
  spec.id = "not-from-the-pool";
  spec.hostname = "other";
  auto other = create(provider, spec);
  EXPECT_EQ(shell(*other, "hostname").out, "other\n");
  wait_for([&] { return provider.pools()[0].ready == 2; });
  ASSERT_TRUE(run(first->stop()));
  spec.hostname = "sandbox";
  spec.id = "from-the-pool";
  auto again = create(provider, spec);
  ASSERT_TRUE(again);
  EXPECT_EQ(shell(*again, "touch /tmp/x; ls /tmp").out, "x\n");
}

TEST_F(NativeTest, ADiskImageHoldsWhatMemoryShouldNot) {
  Spec spec;
  spec.limits.memory_bytes = 64 << 20;
  spec.limits.disk_bytes = 256 << 20;
  auto sandbox = create(open(), spec);
  ASSERT_TRUE(sandbox);
  const Ran ran =
      shell(*sandbox, "head -c 150M /dev/zero > big && stat -c %s big; rm big; df -T / | tail -1");
  EXPECT_TRUE(ran.outcome.succeeded()) << ran.err;
  EXPECT_EQ(ran.out.substr(0, 9), "157286400");
  EXPECT_EQ(shell(*sandbox, "head -c 300M /dev/zero > big").outcome.exit_code, 1);
}

TEST_F(NativeTest, HostMountsShowWhatWasNamed) {
  const std::string dir = "/tmp/atoll-mount-" + random_word(10);
  ASSERT_TRUE(os::make_directory(dir));
  ASSERT_TRUE(os::write_file(dir + "/file", "from the host"));
  Spec spec;
  spec.host_mounts = {{dir, "/mnt/read", false}, {dir, "/data/write", true}};
  auto sandbox = create(open(), spec);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(shell(*sandbox, "cat /mnt/read/file; touch /mnt/read/x || echo refused").out,
            "from the hostrefused\n");
  EXPECT_TRUE(shell(*sandbox, "echo inside > /data/write/new").outcome.succeeded());
  EXPECT_EQ(os::read_file(dir + "/new").value_or(""), "inside\n");
  std::filesystem::remove_all(dir);
}

// A daemon in a process of its own, to be killed. Tells on `ready` when its sandbox runs.
pid_t start_daemon(const std::string& run_directory, const std::string& group, int ready) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  TestLoop loop;
  NativeOptions options;
  options.spawner.run_directory = run_directory;
  options.spawner.cgroup_parent = group;
  options.spawner.orphan_time = 20s;
  auto provider = start(loop.context().get_executor(), std::move(options));
  if (!provider) ::_exit(1);
  Spec spec;
  spec.id = "kept";
  auto sandbox = loop.create(**provider, spec);
  if (!sandbox || !loop.write(*sandbox, "/home/user/file", "acknowledged")) ::_exit(2);
  ProcessSpec process;
  process.argv = {"/bin/sh", "-c", "while true; do date >> log; sleep 0.05; done"};
  process.tag = "worker";
  if (!loop.run(sandbox->start(process))) ::_exit(3);
  (void)!::write(ready, "r", 1);
  for (;;) loop.context().run_for(1s);
}

TEST_F(NativeTest, ARestartedDaemonTakesItsSandboxesBack) {
  const std::string dir = "/tmp/atoll-run-" + random_word(10);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t daemon = start_daemon(dir, group_, ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  NativeOptions options;
  options.spawner.run_directory = dir;
  Provider& provider = open(std::move(options));
  ASSERT_EQ(provider.adoptable(), std::vector<std::string>{"kept"});
  auto adopted = run(provider.adopt("kept"));
  ASSERT_TRUE(adopted) << adopted.error().message();
  EXPECT_EQ((*adopted)->id(), "kept");
  EXPECT_EQ(*read(**adopted, "/home/user/file"), "acknowledged");
  ASSERT_EQ((*adopted)->processes().size(), 1U);
  EXPECT_EQ((*adopted)->processes()[0]->info().tag, "worker");
  EXPECT_FALSE((*adopted)->isolation().walls.empty());
  EXPECT_EQ(run(provider.adopt("nobody")).error().code(), Code::not_found);
  ASSERT_TRUE(run((*adopted)->stop()));
  ::close(ready[0]);
  ::close(ready[1]);
  std::filesystem::remove_all(dir);
}

// Kills the daemon, the spawner or a guest at a random moment, then starts again: what lives is adopted and
// has what was acknowledged, and in the end nothing is left over. ATOLL_CRASH_ROUNDS sets how often.
TEST_F(NativeTest, CrashesLeaveNothingUntrue) {
  const char* wanted = ::getenv("ATOLL_CRASH_ROUNDS");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 20;
  std::mt19937 random(12345);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    const std::string dir = "/tmp/atoll-run-" + random_word(10);
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t daemon = start_daemon(dir, group_, ready[1]);
    pollfd poll{ready[0], POLLIN, 0};
    const bool acknowledged = ::poll(&poll, 1, static_cast<int>(random() % 250)) == 1;
    const int victim = static_cast<int>(random() % 3);
    const auto tree = CgroupTree::open(group_);
    if (victim == 1 && tree)
      for (const std::string& group : tree->groups())
        for (const pid_t pid : tree->processes(group)) ::kill(pid, SIGKILL);
    os::Fd spawner;
    if (auto found = find_spawner(dir)) spawner = std::move(*found);
    ucred peer{};
    socklen_t size = sizeof peer;
    if (victim == 2 && spawner.is_open() &&
        ::getsockopt(spawner.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid > 1)
      ::kill(peer.pid, SIGKILL);
    spawner.reset();
    ::kill(daemon, SIGKILL);
    ::waitpid(daemon, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    NativeOptions options;
    options.spawner.run_directory = dir;
    Provider& provider = open(std::move(options));
    for (const std::string& id : provider.adoptable()) {
      auto adopted = run(provider.adopt(id));
      if (!adopted) continue;
      if (acknowledged && victim == 0) {
        EXPECT_EQ(read(**adopted, "/home/user/file").value_or("lost"), "acknowledged");
      }
      EXPECT_TRUE(run((*adopted)->stop()));
    }
    EXPECT_TRUE(provider.adoptable().empty() || victim != 0);
    EXPECT_TRUE(run(provider.shut_down()));
    provider_.reset();
    EXPECT_FALSE(group_exists());
    std::filesystem::remove_all(dir);
  }
}

}  // namespace
}  // namespace atl::sandbox::native
