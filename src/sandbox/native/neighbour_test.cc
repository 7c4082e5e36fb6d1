// What one sandbox does to the spawner, and what somebody else's notices of it.
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <fstream>

#include "os/file.h"
#include "sandbox/native/image.h"
#include "sandbox/native/native_harness.h"
#include "sandbox/native/process_tree.h"
#include "sandbox/native/sandbox.h"

namespace atl::sandbox::native {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class NeighbourTest : public NativeHarness {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    NativeOptions options;
    options.spawner.cgroup_parent = group_;
    begin(std::move(options));
  }
  // Makes and ends sandboxes until `over` says so, and says how long the slowest took to be made.
  std::chrono::milliseconds slowest_create(const std::function<bool()>& over, int& made) {
    Clock::duration slowest{};
    for (made = 0; !over(); ++made) {
      const auto begun = Clock::now();
      auto one = sandbox();
      slowest = std::max(slowest, Clock::now() - begun);
      if (!one) break;
      EXPECT_TRUE(run(one->stop()));
    }
    return std::chrono::duration_cast<std::chrono::milliseconds>(slowest);
  }
  template <class T>
  struct Later {
    std::optional<Result<T>> result;
    bool is_over() const { return result.has_value(); }
  };
  template <class T>
  std::shared_ptr<Later<T>> begin_task(Task<T> task) {
    auto later = std::make_shared<Later<T>>();
    boost::asio::co_spawn(loop_, std::move(task), [later](const std::exception_ptr&, Result<T> value) {
      later->result.emplace(std::move(value));
    });
    return later;
  }
  std::shared_ptr<Process> start_shell(Sandbox& in, std::string script) {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", std::move(script)};
    spec.wall_time = 60s;
    auto process = run(in.start(std::move(spec)));
    EXPECT_TRUE(process) << process.error().message();
    return process ? *process : nullptr;
  }
  static bool echoes(NeighbourTest& test, Sandbox& in) {
    auto interpreter = test.run(in.create_interpreter(Language::shell, ""));
    return interpreter && test.said(*interpreter, "echo still here") == "still here\n";
  }
  // Disk images that this provider's spawner and its helpers have open: files without a name.
  std::size_t open_images(pid_t spawner) const {
    std::size_t count = 0;
    const os::Fd proc = *os::open("/proc", O_RDONLY | O_DIRECTORY);
    for (const pid_t pid : tree_processes(proc.get(), spawner)) {
      const std::string comm = os::read_file(fmt::format("/proc/{}/comm", pid)).value_or("");
      if (comm != "atoll-spawner\n" && comm != "atoll-images\n") continue;
      const std::string fds = fmt::format("/proc/{}/fd", pid);
      for (const std::string& name : os::list_directory_at(AT_FDCWD, fds.c_str())) {
        char target[4096];
        const ssize_t n = ::readlink((fds + "/" + name).c_str(), target, sizeof target);
        if (n > 0 && std::string_view(target, static_cast<std::size_t>(n)).starts_with(images_)) ++count;
      }
    }
    return count;
  }
  // Sandboxes are its children.
  static pid_t spawner_of(Sandbox& one) {
    const os::Fd proc = *os::open("/proc", O_RDONLY | O_DIRECTORY);
    const auto all = describe_processes(proc.get(), {dynamic_cast<NativeSandbox&>(one).state()->spawned.pid});
    return all.empty() ? -1 : all.front().parent;
  }

  const std::string group_ = "atoll-test-" + random_word(10);
  std::string images_ = "/var/tmp/";
};

// The kernel does not stop a process that fills page tables with zero pages: for seconds, and where there is
// room, more.
constexpr const char* kUnfreezable = R"(exec python3 -c '
import ctypes, mmap
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
size = 160 << 30
while True:
    at = libc.mmap(None, size, 1, 0x4022, -1, 0)
    libc.madvise(at, size, 15)
    print("now", flush=True)
    libc.madvise(at, size, 22)
    libc.munmap(at, size)
')";

TEST_F(NeighbourTest, ASandboxThatDoesNotStandStillHoldsUpNobody) {
  auto attacker = sandbox();
  ASSERT_TRUE(attacker);
  const auto process = start_shell(*attacker, kUnfreezable);
  ASSERT_TRUE(process);
  const auto stream = process->attach(Replay::recent);
  ASSERT_TRUE(run(stream->next()));
  // Growing page tables show that it has begun.
  const auto memory = [&] { return run(attacker->usage()).value_or(Usage{}).memory_bytes; };
  const std::uint64_t before = memory();
  for (int i = 0; i < 1000 && memory() < before + (16 << 20); ++i) turn(5ms);
  auto pause = begin_task(attacker->pause());
  int made = 0;
  const auto slowest = slowest_create([&] { return pause->is_over(); }, made);
  // Whether it was frozen in the end does not matter here; how long the others waited does.
  EXPECT_LT(slowest, 1000ms);
  EXPECT_GT(made, 0);
  RecordProperty("slowest_ms", static_cast<int>(slowest.count()));
  RecordProperty("made", made);
  if (*pause->result) {
    EXPECT_TRUE(run(attacker->resume()));
  }
  EXPECT_TRUE(run(attacker->stop()));
}

TEST_F(NeighbourTest, OddDisksHoldUpNobodyAndDoNotStay) {
  Spec spec;
  spec.limits.memory_bytes = 64 << 20;
  spec.limits.disk_bytes = 3ULL << 30;
  auto first = sandbox(spec);
  ASSERT_TRUE(first);
  const auto& missing = first->isolation().missing;
  if (std::ranges::any_of(missing, [](const Wall& wall) { return wall.name == "disk_image"; }))
    GTEST_SKIP() << "needs loop devices and e2fsprogs";
  const pid_t spawner = spawner_of(*first);
  ASSERT_GT(spawner, 1);
  std::vector<std::shared_ptr<Later<std::unique_ptr<Sandbox>>>> asked;
  for (int i = 1; i <= 24; ++i) {
    Spec odd = spec;
    odd.id = new_sandbox_id();
    odd.limits.disk_bytes = (std::uint64_t{1} << (28 + i % 8)) + static_cast<std::uint64_t>(i) * 1'000'003;
    odd.limits.inodes_max = 100'000 + static_cast<std::uint64_t>(i);
    asked.push_back(begin_task(provider_->create(std::move(odd))));
  }
  int made = 0;
  const auto slowest = slowest_create(
      [&] { return std::ranges::all_of(asked, [](const auto& one) { return one->is_over(); }); }, made);
  EXPECT_LT(slowest, 1000ms);
  RecordProperty("slowest_ms", static_cast<int>(slowest.count()));
  for (const auto& one : asked) {
    if (!*one->result) {
      // Larger than four of this machine's disks, or it took too long; never something of ours.
      EXPECT_TRUE(one->result->error().code() == Code::invalid_argument ||
                  one->result->error().code() == Code::deadline_exceeded)
          << one->result->error().message();
      continue;
    }
    EXPECT_TRUE(run((**one->result)->stop()));
  }
  EXPECT_TRUE(run(first->stop()));
  // Templates, and ready images with a loop device each, which holds its file itself.
  const std::size_t left = open_images(spawner);
  EXPECT_GT(left, 0U) << "the count looks at the wrong processes";
  EXPECT_LE(left, 10U);
}

TEST(ImageClass, IsAtLeastWhatWasAskedForAndOneOfFew) {
  std::set<ImageSize> classes;
  for (std::uint64_t bytes = 1 << 20; bytes < (1ULL << 40); bytes += bytes / 97 + 12'345) {
    const ImageSize size = image_class(bytes, 100'000);
    EXPECT_GE(size.bytes, bytes);
    EXPECT_LE(size.bytes, bytes + bytes / 4 + (1 << 20));
    EXPECT_EQ(image_class(size.bytes, 100'000), size);
    classes.insert(size);
  }
  EXPECT_LE(classes.size(), 90U);
  EXPECT_GE(image_class(1 << 30, 100'000).inodes, 100'000U);
  EXPECT_EQ(image_class(1 << 30, 100'000), image_class(1 << 30, 131'000));
  EXPECT_EQ(image_class(5ULL << 30, 1000).bytes, 5ULL << 30);
}

TEST_F(NeighbourTest, AnImagesTrueSizeIsTold) {
  Spec spec;
  spec.limits.memory_bytes = 64 << 20;
  spec.limits.disk_bytes = (256 << 20) + 1;
  auto one = sandbox(spec);
  ASSERT_TRUE(one);
  const auto& walls = one->isolation().walls;
  const auto wall = std::ranges::find(walls, "disk_limit", &Wall::name);
  ASSERT_NE(wall, walls.end());
  if (wall->value.find("image") == std::string::npos) GTEST_SKIP() << "needs loop devices and e2fsprogs";
  EXPECT_EQ(wall->value, fmt::format("{} bytes, disk image", 320 << 20));
}

// As a service under a flood of connections.
class TightLimit {
 public:
  explicit TightLimit(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    const rlimit tight{static_cast<rlim_t>(next) + more, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &tight);
  }
  ~TightLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  TightLimit(const TightLimit&) = delete;
  TightLimit& operator=(const TightLimit&) = delete;

 private:
  rlimit before_{};
};

TEST_F(NeighbourTest, AtTheLimitOfOpenFilesOnlyTheNextOneFails) {
  auto before = sandbox();
  ASSERT_TRUE(before);
  for (const rlim_t more : {0, 1, 2}) {
    Spec spec;
    spec.id = new_sandbox_id();
    std::optional<Result<std::unique_ptr<Sandbox>>> refused;
    {
      const TightLimit limit(more);
      refused.emplace(run(provider_->create(std::move(spec))));
    }
    ASSERT_FALSE(*refused);
    EXPECT_EQ(refused->error().code(), Code::resource_exhausted) << refused->error().message();
  }
  EXPECT_TRUE(echoes(*this, *before));
  auto after = sandbox();
  ASSERT_TRUE(after);
  EXPECT_TRUE(echoes(*this, *after));
  // What could not be received is not left over: the control groups of two sandboxes, and some that are
  // ready.
  EXPECT_TRUE(run(before->stop()));
  EXPECT_TRUE(run(after->stop()));
}

// This process's connections to the spawner, at first the one in use before the spare one.
std::vector<int> lines() {
  std::vector<int> found;
  for (int fd = 3; fd < 4096; ++fd) {
    int type = 0;
    socklen_t size = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET)
      found.push_back(fd);
  }
  return found;
}

TEST_F(NeighbourTest, ALostConnectionIsMadeAgainAndSandboxesGoOn) {
  auto one = sandbox();
  auto two = sandbox();
  ASSERT_TRUE(one && two);
  // More often than there are spare ones: each is replaced.
  int in_use = lines().front();
  for (int round = 0; round < 4; ++round) {
    std::vector<int> all;
    for (int i = 0; i < 500 && (all = lines()).size() < 2; ++i) turn(10ms);
    ASSERT_EQ(all.size(), 2U);
    const int spare = all.front() == in_use ? all.back() : all.front();
    ASSERT_EQ(::shutdown(std::exchange(in_use, spare), SHUT_RDWR), 0);
    EXPECT_TRUE(echoes(*this, *one)) << round;
    auto three = sandbox();
    ASSERT_TRUE(three) << round;
    EXPECT_TRUE(run(three->stop()));
  }
  EXPECT_TRUE(run(one->pause()));
  EXPECT_TRUE(run(one->resume()));
  EXPECT_TRUE(run(one->stop()));
  EXPECT_TRUE(run(two->stop()));
}

TEST_F(NeighbourTest, WhatEndedWhileNobodyListenedIsNoticed) {
  auto one = sandbox();
  auto two = sandbox();
  ASSERT_TRUE(one && two);
  const auto& state = dynamic_cast<NativeSandbox&>(*one).state();
  ASSERT_EQ(::shutdown(lines().front(), SHUT_RDWR), 0);
  ASSERT_EQ(::kill(state->spawned.pid, SIGKILL), 0);
  const auto why = run(one->ended());
  ASSERT_TRUE(why);
  EXPECT_TRUE(echoes(*this, *two));
  EXPECT_TRUE(run(two->stop()));
}

}  // namespace
}  // namespace atl::sandbox::native
