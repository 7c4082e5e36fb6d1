#include "sandbox/native/native.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <thread>

#include "os/file.h"
#include "os/message.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/process_tree.h"
#include "sandbox/native/sandbox.h"
#include "sandbox/native/scratch_roots_test.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::native {
namespace {

using namespace std::chrono_literals;

class NativeTest : public testing::Test, protected TestLoop {
 protected:
  void TearDown() override {
    if (!provider_) return;
    EXPECT_TRUE(run(provider_->shut_down()));
    EXPECT_FALSE(group_exists()) << "control groups are left over";
  }
  Provider& open(NativeOptions options = {}) {
    options.spawner.cgroup_parent = group_;
    if (options.spawner.roots.snapshots.empty()) options.spawner.roots = scratch_roots();
    auto provider = start(context().get_executor(), std::move(options));
    EXPECT_TRUE(provider) << provider.error().message() << " " << provider.error().detail();
    if (!provider) throw std::runtime_error("no provider");
    provider_ = std::move(*provider);
    return *provider_;
  }
  static bool lacks(const Sandbox& sandbox, std::string_view wall) {
    return std::ranges::any_of(sandbox.isolation().missing,
                               [&](const Wall& each) { return each.name == wall; });
  }
  static pid_t guest_of(const Sandbox& sandbox) {
    return dynamic_cast<const NativeSandbox&>(sandbox).state()->spawned.pid;
  }
  bool group_exists() {
    auto tree = CgroupTree::open(group_);
    return tree && tree->version() != "none";
  }
  void wait_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000 * slowness() && !condition(); ++i) context().run_for(10ms);
    EXPECT_TRUE(condition());
  }

  const std::string group_ = "atoll-test-" + random_word(10);
  std::unique_ptr<Provider> provider_;
};

// In a user namespace of its own, in which nobody may make another.
TEST_F(NativeTest, WithoutRootAndUserNamespacesItIsRefusedWithTheRemedy) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool dropped = ::geteuid() != 0 || ::setresuid(65534, 65534, 65534) == 0;
    ::prctl(PR_SET_DUMPABLE, 1);
    const std::string map = "0 " + std::to_string(::geteuid()) + " 1";
    if (!dropped || ::unshare(CLONE_NEWUSER) < 0) ::_exit(9);
    if (!os::write_control("/proc/self/uid_map", map)) ::_exit(8);
    if (!os::write_control("/proc/sys/user/max_user_namespaces", "0")) ::_exit(7);
    // Root of the namespace, but without what makes mounts.
    if (::prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN) < 0) ::_exit(6);
    const __user_cap_data_struct none[2]{};
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    if (::syscall(SYS_capset, &header, none) < 0) ::_exit(5);
    boost::asio::io_context loop;
    const auto provider = start(loop.get_executor(), {});
    const bool told = !provider && provider.error().code() == Code::unsupported &&
                      provider.error().message().find("max_user_namespaces") != std::string::npos;
    if (!told && !provider) std::fprintf(stderr, "%s\n", provider.error().message().c_str());
    ::_exit(told ? 0 : 1);
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
                           "disk_limit", "open_files_limit", "core_dumps", "proc", "dev", "root_filesystem"})
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  // What depends on the machine and on who asks stands or is missing with a remedy, never neither or both.
  for (const char* name : {"own_ids", "memory_limit", "process_limit", "cpu_limit", "landlock"})
    EXPECT_NE(std::ranges::find(names, name) != names.end(), lacks(*sandbox, name)) << name;
  if (::geteuid() == 0) {
    EXPECT_FALSE(lacks(*sandbox, "own_ids"));
  }
  for (const Wall& missing : sandbox->isolation().missing)
    EXPECT_FALSE(missing.value.empty()) << missing.name;
}

TEST_F(NativeTest, AWallThatIsMissingIsRefusedWithItsRemedy) {
  Provider& provider = open();
  auto sandbox = create(provider);
  ASSERT_TRUE(sandbox);
  for (const Wall& missing : sandbox->isolation().missing) {
    Spec spec;
    spec.id = new_sandbox_id();
    spec.required_walls = {missing.name};
    const auto refused = run(provider.create(spec));
    ASSERT_FALSE(refused) << missing.name;
    EXPECT_EQ(refused.error().code(), Code::unsupported);
    EXPECT_NE(refused.error().message().find(missing.value), std::string::npos) << refused.error().message();
  }
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
  if (lacks(*sandbox, "memory_limit")) {
    EXPECT_NE(ran.err.find("MemoryError"), std::string::npos) << ran.err;
    return;
  }
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

TEST_F(NativeTest, AnIdleInterpreterIsNoProcessOfTheWorkload) {
  Spec spec;
  spec.limits.processes_max = 2;
  auto sandbox = create(open(), spec);
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(run(sandbox->create_interpreter(Language::python, "/home/user")));
  ASSERT_TRUE(run(sandbox->create_interpreter(Language::python, "/home/user")));
  EXPECT_EQ(run(sandbox->usage())->processes, 0U);
  EXPECT_TRUE(shell(*sandbox, "sleep 0.3 & wait").outcome.succeeded());
}

TEST_F(NativeTest, AGuestThatDiesIsNoticed) {
  auto sandbox = create(open());
  ASSERT_TRUE(sandbox);
  ASSERT_EQ(::kill(guest_of(*sandbox), SIGKILL), 0);
  const auto why = run(sandbox->ended());
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("signal 9"), std::string::npos) << *why;
  EXPECT_EQ(run(sandbox->start({})).error().code(), Code::unavailable);
}

TEST_F(NativeTest, AGivenUpHandleEndsItsSandbox) {
  Provider& provider = open();
  auto sandbox = create(provider);
  ASSERT_TRUE(sandbox);
  const pid_t guest = guest_of(*sandbox);
  sandbox.reset();
  wait_for([&] { return ::kill(guest, 0) < 0 && errno == ESRCH; });
}

TEST_F(NativeTest, PoolsServeWhatTheyHold) {
  NativeOptions options;
  options.pools.push_back({.environment = "host", .spec = {}, .ready = 2});
  Provider& provider = open(std::move(options));
  wait_for([&] { return provider.pools()[0].ready == 2; });
  Spec spec;
  spec.id = "from-the-pool";
  spec.env = {{"MINE", "yes"}};
  spec.working_directory = "/tmp";
  auto first = create(provider, spec);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->id(), "from-the-pool");
  EXPECT_EQ(shell(*first, "id -un; pwd; echo $MINE; ls -A /tmp").out, "user\n/tmp\nyes\n");
  if (!lacks(*first, "users")) {
    EXPECT_EQ(shell(*first, "id -un", "root").out, "root\n");
  }
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

// A network in which nothing happened may serve another; one that was used never does.
TEST_F(NativeTest, NothingIsSeenOfAnEarlierNetwork) {
  NativeOptions options;
  options.spawner.slots_ready = 0;
  Provider& provider = open(std::move(options));
  const std::string talk =
      "import socket\n"
      "s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); p, _ = "
      "s.accept()\n"
      "c.sendall(b'x' * 1000); p.recv(1000); p.close(); c.close()\n"
      "u = socket.socket(socket.AF_UNIX); u.bind('\\0mine')\n";
  for (int round = 0; round < 6; ++round) {
    auto sandbox = create(provider);
    ASSERT_TRUE(sandbox);
    const Ran seen = shell(
        *sandbox,
        "awk '/lo:/ {print $2, $10}' /proc/net/dev; awk '/^Tcp: [0-9]/ {print $6, $7, $11}' /proc/net/snmp; "
        "cat /proc/net/tcp /proc/net/unix | wc -l; ulimit -n");
    EXPECT_EQ(seen.out.substr(0, 12), "0 0\n0 0 0\n2\n") << "round " << round << ": " << seen.out;
    // Every other one leaves traces: connections that wait for their end, counters.
    if (round % 2 == 0) {
      ProcessSpec process;
      process.argv = {"python3", "-c", talk};
      EXPECT_TRUE(finish(*sandbox, process).outcome.succeeded());
    }
    ASSERT_TRUE(run(sandbox->stop()));
  }
}

TEST_F(NativeTest, APoolGrowsWithDemandAndFallsBackWhenItIsCalm) {
  NativeOptions options;
  options.pools.push_back({.environment = "host", .spec = {}, .ready = 1, .calm = 300ms * slowness()});
  Provider& provider = open(std::move(options));
  std::vector<std::unique_ptr<Sandbox>> taken;
  std::uint32_t highest = 0;
  for (int i = 0; i < 4; ++i) {
    taken.push_back(create(provider));
    highest = std::max(highest, provider.pools()[0].target);
  }
  EXPECT_GT(highest, 1U) << "creates that found it empty";
  EXPECT_LE(highest, 4U);
  wait_for([&] { return provider.pools()[0].target == 1 && provider.pools()[0].ready == 1; });
}

// A pool waits for a quiet moment, but not for ever.
TEST_F(NativeTest, APoolIsFilledAgainWhileItsSandboxesAreAtWork) {
  NativeOptions options;
  options.pools.push_back({.environment = "host", .spec = {}, .ready = 4});
  Provider& provider = open(std::move(options));
  wait_for([&] { return provider.pools()[0].ready == 4; });
  auto sandbox = create(provider);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(provider.pools()[0].ready, 3U);
  // Never quiet: one command follows the other.
  for (int round = 0; round < 20000 && provider.pools()[0].ready < 4; ++round)
    ASSERT_TRUE(shell(*sandbox, ":").outcome.succeeded());
  EXPECT_EQ(provider.pools()[0].ready, 4U);
}

TEST_F(NativeTest, ABurstLargerThanThePoolIsServedAndLeavesNothing) {
  NativeOptions options;
  options.pools.push_back({.environment = "host", .spec = {}, .ready = 3});
  Provider& provider = open(std::move(options));
  wait_for([&] { return provider.pools()[0].ready == 3; });
  constexpr int kBurst = 20;
  std::vector<std::unique_ptr<Sandbox>> made;
  int over = 0;
  for (int i = 0; i < kBurst; ++i) {
    Spec spec;
    spec.id = new_sandbox_id();
    boost::asio::co_spawn(context(), provider.create(std::move(spec)),
                          [&](const std::exception_ptr&, auto sandbox) {
                            ++over;
                            EXPECT_TRUE(sandbox) << sandbox.error().message();
                            if (sandbox) made.push_back(std::move(*sandbox));
                          });
  }
  wait_for([&] { return over == kBurst; });
  ASSERT_EQ(made.size(), std::size_t{kBurst});
  EXPECT_EQ(shell(*made.back(), "echo here").out, "here\n");
  wait_for([&] { return provider.pools()[0].ready == provider.pools()[0].target; });
  std::vector<pid_t> guests;
  for (const auto& one : made) guests.push_back(guest_of(*one));
  over = 0;
  for (const auto& one : made)
    boost::asio::co_spawn(context(), one->stop(),
                          [&](const std::exception_ptr&, const Result<void>& stopped) {
                            ++over;
                            EXPECT_TRUE(stopped);
                          });
  wait_for([&] { return over == kBurst; });
  // Stopped means gone, whatever else goes on.
  for (const pid_t guest : guests) EXPECT_TRUE(::kill(guest, 0) < 0 && errno == ESRCH) << guest;
}

TEST_F(NativeTest, ADiskImageHoldsWhatMemoryShouldNot) {
  Spec spec;
  spec.limits.memory_bytes = 64 << 20;
  spec.limits.disk_bytes = 256 << 20;
  auto sandbox = create(open(), spec);
  ASSERT_TRUE(sandbox);
  if (lacks(*sandbox, "disk_image")) GTEST_SKIP() << "needs root, loop devices and e2fsprogs";
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
  spec.host_mounts = {{dir, "/mnt/read", false}};
  auto sandbox = create(open(), spec);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(shell(*sandbox, "cat /mnt/read/file; touch /mnt/read/x || echo refused").out,
            "from the hostrefused\n");
  const bool may_write = !lacks(*sandbox, "own_ids") || lacks(*sandbox, "users");
  spec.host_mounts = {{dir, "/data/write", true}};
  if (!may_write) {
    spec.id = new_sandbox_id();
    const auto refused = run(provider_->create(spec));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("start atoll as root"), std::string::npos)
        << refused.error().message();
    std::filesystem::remove_all(dir);
    return;
  }
  spec.id = new_sandbox_id();
  auto writable = run(provider_->create(spec));
  if (!writable && writable.error().message().find("cannot be shared") != std::string::npos)
    GTEST_SKIP() << "the filesystem of /tmp cannot be mapped by this kernel";
  ASSERT_TRUE(writable) << writable.error().message();
  sandbox = std::move(*writable);
  EXPECT_TRUE(shell(*sandbox, "echo inside > /data/write/new").outcome.succeeded());
  EXPECT_EQ(os::read_file(dir + "/new").value_or(""), "inside\n");
  // Owner and group need not have the same number.
  if (::chown(dir.c_str(), 4321, 8765) == 0) {
    spec.id = new_sandbox_id();
    sandbox = create(*provider_, spec);
    ASSERT_TRUE(sandbox);
    EXPECT_TRUE(shell(*sandbox, "echo again > /data/write/of-another").outcome.succeeded());
    EXPECT_EQ(os::read_file(dir + "/of-another").value_or(""), "again\n");
  }
  std::filesystem::remove_all(dir);
}

// A daemon in a process of its own, to be killed. Tells on `ready` when its sandbox runs.
enum class Paused { no, yes };

pid_t start_daemon(const std::string& run_directory, const std::string& group, int ready,
                   Paused paused = Paused::no, std::chrono::seconds orphan_time = 20s) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  TestLoop loop;
  NativeOptions options;
  options.spawner.run_directory = run_directory;
  options.spawner.cgroup_parent = group;
  options.spawner.orphan_time = orphan_time;
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
  if (paused == Paused::yes && !loop.run(sandbox->pause())) ::_exit(4);
  (void)!::write(ready, "r", 1);
  for (;;) loop.context().run_for(1s);
}

TEST_F(NativeTest, ARestartedDaemonTakesItsSandboxesBack) {
  const std::string dir = "/tmp/atoll-run-" + random_word(10);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t daemon = start_daemon(dir, group_, ready[1]);
  // So that the end of a daemon that fails is the end of the pipe.
  ::close(ready[1]);
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
  std::filesystem::remove_all(dir);
}

// A pause that was acknowledged survives the daemon, also longer than what runs does, and nobody waits for
// the guest.
TEST_F(NativeTest, ARestartedDaemonTakesBackWhatIsPaused) {
  const std::string dir = "/tmp/atoll-run-" + random_word(10);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t daemon = start_daemon(dir, group_, ready[1], Paused::yes, 0s);
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::kill(daemon, SIGKILL);
  ::waitpid(daemon, nullptr, 0);
  std::this_thread::sleep_for(100ms);  // longer than what runs would be kept
  NativeOptions options;
  options.spawner.run_directory = dir;
  Provider& provider = open(std::move(options));
  ASSERT_EQ(provider.adoptable(), std::vector<std::string>{"kept"});
  const auto before = std::chrono::steady_clock::now();
  auto adopted = run(provider.adopt("kept"));
  ASSERT_TRUE(adopted) << adopted.error().message();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 4s) << "a guest that stands still was waited for";
  Sandbox& sandbox = **adopted;
  // It says that it stands still instead of failing in other ways.
  EXPECT_TRUE(sandbox.processes().empty());
  EXPECT_TRUE(sandbox.interpreters().empty());
  EXPECT_EQ(run(sandbox.listening_ports()).error().code(), Code::conflict);
  EXPECT_TRUE(run(sandbox.usage()));
  EXPECT_TRUE(run(sandbox.pause()));
  ASSERT_TRUE(run(sandbox.resume()));
  EXPECT_EQ(*read(sandbox, "/home/user/file"), "acknowledged");
  ASSERT_EQ(sandbox.processes().size(), 1U);
  EXPECT_EQ(sandbox.processes()[0]->info().tag, "worker");
  ASSERT_TRUE(run(sandbox.stop()));
  ::close(ready[0]);
  std::filesystem::remove_all(dir);
}

// Whoever tidies up may remove empty groups: parts that were prepared have one.
TEST_F(NativeTest, PreparedPartsThatLostTheirGroupAreNoFailure) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root: an ordinary user has no control groups here";
  NativeOptions options;
  options.spawner.slots_ready = 4;
  Provider& provider = open(std::move(options));
  auto first = create(provider);  // from here on parts are prepared
  ASSERT_TRUE(first);
  auto tree = CgroupTree::open(group_);
  ASSERT_TRUE(tree);
  wait_for([&] { return tree->groups().size() >= 5; });
  for (const std::string& name : tree->groups())
    if (tree->is_empty(name)) (void)tree->remove_group(name);
  for (int i = 0; i < 4; ++i) {
    auto sandbox = create(provider);
    ASSERT_TRUE(sandbox);
    EXPECT_TRUE(run(sandbox->stop()));
  }
}

// A volume with a filesystem of its own: the kernel counts, whatever is tried.
TEST_F(NativeTest, AVolumesOwnFilesystemHoldsItsSize) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const std::string dir = "/var/tmp/atoll-volume-" + random_word(10);
  std::filesystem::create_directories(dir);
  NativeOptions options;
  options.spawner.roots.snapshots = {dir};
  options.spawner.roots.mounts = {{.path = dir, .writable = true}};
  Provider& provider = open(std::move(options));
  const auto outside = run(provider.open_volume("/var/tmp", {.bytes = 16 << 20, .inodes = 256}));
  ASSERT_FALSE(outside) << "only beneath its roots";
  EXPECT_EQ(outside.error().code(), Code::permission_denied) << outside.error().message();
  auto top = run(provider.open_volume(dir, {.bytes = 16 << 20, .inodes = 256}));
  if (!top && top.error().code() == Code::unsupported) GTEST_SKIP() << top.error().message();
  ASSERT_TRUE(top) << top.error().message();
  ASSERT_EQ(::mkdirat(top->get(), "files", 0777), 0);
  ASSERT_EQ(::fchmodat(top->get(), "files", 0777, 0), 0);
  Spec spec;
  spec.limits.processes_max = 20;
  spec.host_mounts.push_back({dir + "/files", "/mnt/data", true, MountIds::inside});
  auto sandbox = create(provider, spec);
  ASSERT_TRUE(sandbox);
  const auto sh = [&](const std::string& script) { return shell(*sandbox, script).out; };
  // As deep as one likes, and without a name.
  EXPECT_EQ(sh("cd /mnt/data; i=0; while [ $i -lt 80 ]; do mkdir d && cd d; i=$((i+1)); done; "
               "head -c 100000000 /dev/zero > f 2>/dev/null || echo full"),
            "full\n");
  EXPECT_EQ(sh("rm -rf /mnt/data/d; exec 3>/mnt/data/x; rm /mnt/data/x; head -c 100000000 /dev/zero >&3 "
               "2>/dev/null || "
               "echo full"),
            "full\n");
  EXPECT_EQ(sh("i=0; while [ $i -lt 400 ]; do touch /mnt/data/e$i || break; i=$((i+1)); done 2>/dev/null; "
               "[ $i -lt 300 ] && echo stopped"),
            "stopped\n");
  // A set-uid file gives nothing, and is nowhere on the host.
  sh("rm -f /mnt/data/e*");
  EXPECT_FALSE(std::filesystem::exists(dir + "/files"));
  struct statvfs info {};
  ASSERT_EQ(::fstatvfs(top->get(), &info), 0);
  EXPECT_NE(info.f_flag & ST_NOSUID, 0U);
  EXPECT_NE(info.f_flag & ST_NODEV, 0U);
  // The same one again, not another.
  auto again = run(provider.open_volume(dir, {.bytes = 32 << 20, .inodes = 9999}));
  ASSERT_TRUE(again);
  EXPECT_EQ(::faccessat(again->get(), "files", F_OK, 0), 0);
  ASSERT_TRUE(run(sandbox->stop()));
  top->reset();
  again->reset();
  ASSERT_TRUE(run(provider.close_volume(dir)));
  // What was in it is there when it is opened the next time.
  auto later = run(provider.open_volume(dir, {.bytes = 32 << 20, .inodes = 9999}));
  ASSERT_TRUE(later) << later.error().message();
  EXPECT_EQ(::faccessat(later->get(), "files", F_OK, 0), 0);
  later->reset();
  ASSERT_TRUE(run(provider.close_volume(dir)));
  // An image that is not root's alone is not the kernel's to read.
  ASSERT_EQ(::chmod((dir + "/disk.ext4").c_str(), 0666), 0);
  EXPECT_EQ(run(provider.open_volume(dir, {.bytes = 32 << 20, .inodes = 9999})).error().code(),
            Code::permission_denied);
  std::filesystem::remove_all(dir);
}

// 0 if there is none yet.
pid_t spawner_of(const std::string& run_directory) {
  const auto socket = find_spawner(run_directory);
  ucred peer{};
  socklen_t size = sizeof peer;
  if (!socket || ::getsockopt(socket->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) return 0;
  return peer.pid;
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
    if (const pid_t spawner = spawner_of(dir); spawner > 1) {
      const os::Fd proc = *os::open("/proc", O_RDONLY | O_DIRECTORY);
      const std::vector<pid_t> below = tree_processes(proc.get(), spawner);
      if (victim == 1)
        for (std::size_t i = 1; i < below.size(); ++i) ::kill(below[i], SIGKILL);
      if (victim == 2) ::kill(spawner, SIGKILL);
    }
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
