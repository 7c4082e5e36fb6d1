#include "sandbox/native/watch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sandbox/native/native.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::native {
namespace {

using namespace std::chrono_literals;

class WatchTest : public testing::Test, protected TestLoop {
 protected:
  void TearDown() override {
    if (provider_) {
      EXPECT_TRUE(run(provider_->shut_down()));
    }
  }
  std::unique_ptr<Sandbox> watched(std::vector<double> thresholds, Spec spec,
                                   std::chrono::milliseconds interval = 20ms) {
    NativeOptions options;
    options.alerts.interval = interval;
    options.alerts.thresholds = std::move(thresholds);
    options.alerts.on_alert = [this](const Alert& alert) { alerts_.push_back(alert); };
    auto provider = start(context().get_executor(), std::move(options));
    EXPECT_TRUE(provider) << provider.error().message();
    if (!provider) return nullptr;
    provider_ = std::move(*provider);
    return create(*provider_, std::move(spec));
  }
  static bool stands(const Sandbox& sandbox, std::string_view wall) {
    return std::ranges::any_of(sandbox.isolation().walls,
                               [&](const Wall& each) { return each.name == wall; });
  }
  bool told_of(Resource resource, double threshold) const {
    return std::ranges::any_of(alerts_, [&](const Alert& alert) {
      return alert.status.resource == resource && alert.threshold == threshold;
    });
  }

  std::unique_ptr<Provider> provider_;
  std::vector<Alert> alerts_;
};

Spec small() {
  Spec spec;
  spec.id = "watched";
  spec.limits.memory_bytes = 96 << 20;
  spec.limits.disk_bytes = 16 << 20;
  return spec;
}

TEST_F(WatchTest, TellsOfThresholdsThatAreCrossed) {
  const auto sandbox = watched({0.5}, small());
  ASSERT_TRUE(sandbox);
  ProcessSpec process;
  process.argv = {"python3", "-c", "import time\nx = bytearray(b'x') * (60 << 20)\ntime.sleep(2)"};
  EXPECT_TRUE(finish(*sandbox, process).outcome.succeeded());
  ASSERT_TRUE(told_of(Resource::memory, 0.5));
  EXPECT_EQ(alerts_[0].subject, "watched");
  EXPECT_GE(alerts_[0].usage.memory_bytes, 48U << 20);
  EXPECT_FALSE(told_of(Resource::wall_time, 0.5)) << "that binds an execution, not the sandbox";
}

TEST_F(WatchTest, ADiskThatFillsUpIsTold) {
  const auto sandbox = watched({0.8}, small());
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(shell(*sandbox, "head -c 14M /dev/zero > big; sleep 1").outcome.succeeded());
  EXPECT_TRUE(told_of(Resource::disk, 0.8));
}

// The kernel's own word: nobody would have seen it by looking now and then.
TEST_F(WatchTest, OutOfMemoryIsToldByTheKernel) {
  const auto sandbox = watched({}, small());
  ASSERT_TRUE(sandbox);
  if (!stands(*sandbox, "memory_limit")) GTEST_SKIP() << "the kernel does not count here";
  ProcessSpec process;
  process.argv = {"python3", "-c", "x = bytearray(b'x') * (300 << 20)"};
  EXPECT_EQ(finish(*sandbox, process).outcome.ending, Ending::out_of_memory);
  for (int i = 0; i < 200 && alerts_.empty(); ++i) context().run_for(10ms);
  EXPECT_TRUE(told_of(Resource::memory, 1.0));
}

TEST_F(WatchTest, AThresholdIsToldByTheKernelWhereItCan) {
  const auto sandbox = watched({0.5}, small(), 1h);
  ASSERT_TRUE(sandbox);
  const auto& walls = sandbox->isolation().walls;
  const bool v1 = std::ranges::any_of(walls, [](const Wall& wall) {
    return wall.name == "cgroup" && (wall.value == "v1" || wall.value == "hybrid");
  });
  if (!v1 || !stands(*sandbox, "memory_limit"))
    GTEST_SKIP() << "only version 1 of control groups speaks of thresholds";
  ProcessSpec process;
  process.argv = {"python3", "-c", "import time\nx = bytearray(b'x') * (60 << 20)\ntime.sleep(1)"};
  EXPECT_TRUE(finish(*sandbox, process).outcome.succeeded());
  EXPECT_TRUE(told_of(Resource::memory, 0.5)) << "nobody looks for an hour";
}

TEST_F(WatchTest, ASumThatTheKernelDoesNotKeepIsKeptByTheHost) {
  Spec spec = small();
  spec.limits.processes_max = 10;
  const auto sandbox = watched({}, spec);
  ASSERT_TRUE(sandbox);
  if (stands(*sandbox, "memory_limit")) GTEST_SKIP() << "the kernel counts here";
  const std::string hog = "python3 -c \"import time; x = bytearray(b'x') * (40 << 20); time.sleep(60)\"";
  const Ran ran = shell(*sandbox, hog + " & " + hog + " & " + hog + " & wait");
  EXPECT_EQ(ran.outcome.ending, Ending::out_of_memory);
  EXPECT_NE(ran.outcome.reason.find("100663296"), std::string::npos) << ran.outcome.reason;
  EXPECT_EQ(shell(*sandbox, "echo alive").out, "alive\n");
}

TEST_F(WatchTest, DisksAreSharedFairlyOrItIsSaidThatTheyAreNot) {
  Spec spec = small();
  spec.limits.io_bytes_per_second = 20 << 20;
  const auto sandbox = watched({}, spec);
  ASSERT_TRUE(sandbox);
  const bool missing = std::ranges::any_of(sandbox->isolation().missing,
                                           [](const Wall& wall) { return wall.name == "io_limit"; });
  EXPECT_NE(stands(*sandbox, "io_limit"), missing);
}

}  // namespace
}  // namespace atl::sandbox::native
