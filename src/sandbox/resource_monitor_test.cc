#include "sandbox/resource_monitor.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>

namespace atl::sandbox {
namespace {

using namespace std::chrono_literals;

class ResourceMonitorTest : public testing::Test {
 protected:
  boost::asio::io_context loop_;
  ResourceMonitor monitor_{loop_.get_executor()};
  Usage usage_;
  std::vector<Alert> alerts_;

  MonitorOptions options() {
    MonitorOptions options;
    options.interval = 1ms;
    options.on_alert = [this](const Alert& alert) { alerts_.push_back(alert); };
    return options;
  }
  void let_it_look() { loop_.run_for(20ms); }
};

TEST_F(ResourceMonitorTest, AMissingProcessIsNotWatched) {
  EXPECT_EQ(monitor_.start_process("p", 0x3FFFFFFF, {}, {}).error().code(), Code::not_found);
  EXPECT_TRUE(monitor_.subjects().empty());
}

TEST_F(ResourceMonitorTest, AnotherUsersProcessIsNotWatched) {
  if (::geteuid() == 0) {
    // Root may watch any; nobody may not. In a child, which says what it found.
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setresuid(65534, 65534, 65534) != 0) ::_exit(2);
      ::_exit(monitor_.start_process("init", 1, {}, {}).error().code() == Code::permission_denied ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return;
  }
  EXPECT_EQ(monitor_.start_process("init", 1, {}, {}).error().code(), Code::permission_denied);
  EXPECT_TRUE(monitor_.subjects().empty());
}

TEST_F(ResourceMonitorTest, ASubjectIsWatchedOnce) {
  ASSERT_TRUE(monitor_.start_process("p", ::getpid(), {}, {}));
  EXPECT_EQ(monitor_.start_process("p", ::getpid(), {}, {}).error().code(), Code::already_exists);
}

TEST_F(ResourceMonitorTest, WatchingEndsWithTheSubject) {
  bool gone = false;
  ASSERT_TRUE(monitor_.start(
      "s", [&]() -> Result<Usage> { return gone ? Result<Usage>(fail(Code::not_found, "gone")) : Usage{}; },
      {}, options()));
  gone = true;
  let_it_look();
  EXPECT_EQ(monitor_.current("s").error().code(), Code::not_found);
}

TEST_F(ResourceMonitorTest, EachThresholdAlertsOnceUntilUsageFell) {
  Limits limits;
  limits.memory_bytes = 100;
  usage_.memory_bytes = 50;
  ASSERT_TRUE(monitor_.start(
      "s", [&] { return Result<Usage>(usage_); }, limits, options()));
  let_it_look();
  EXPECT_TRUE(alerts_.empty());
  usage_.memory_bytes = 85;
  let_it_look();
  ASSERT_EQ(alerts_.size(), 1U);
  EXPECT_EQ(alerts_[0].threshold, 0.8);
  EXPECT_EQ(alerts_[0].status.resource, Resource::memory);
  usage_.memory_bytes = 101;
  let_it_look();
  ASSERT_EQ(alerts_.size(), 2U);
  EXPECT_TRUE(alerts_[1].status.is_exceeded());
  usage_.memory_bytes = 10;
  let_it_look();
  usage_.memory_bytes = 85;
  let_it_look();
  EXPECT_EQ(alerts_.size(), 3U);
  EXPECT_EQ(monitor_.peak("s")->memory_bytes, 101U);
  EXPECT_EQ(monitor_.current("s")->memory_bytes, 85U);
}

TEST_F(ResourceMonitorTest, AControllerEndsOnce) {
  Limits limits;
  limits.disk_bytes = 10;
  usage_.disk_bytes = 5;
  std::vector<Resource> ended;
  const LimitEnforcer enforcer(
      monitor_, "s", [&] { return Result<Usage>(usage_); }, limits,
      [&](const LimitStatus& status) { ended.push_back(status.resource); }, options());
  usage_.disk_bytes = 11;
  let_it_look();
  let_it_look();
  EXPECT_EQ(ended, std::vector<Resource>{Resource::disk});
  EXPECT_TRUE(enforcer.has_ended());
}

// Any process that the caller owns, here a child that takes memory and then ends.
TEST_F(ResourceMonitorTest, AnotherProcessIsWatchedUntilItEnds) {
  int gate[2];
  ASSERT_EQ(::pipe(gate), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr std::size_t size = 64 << 20;
    char* const memory =
        static_cast<char*>(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    char byte = 0;
    ::close(gate[1]);
    if (::read(gate[0], &byte, 1) == 1)
      for (std::size_t at = 0; at < size; at += 4096) memory[at] = 1;
    (void)!::read(gate[0], &byte, 1);
    ::_exit(0);
  }
  Limits limits;
  limits.memory_bytes = 64 << 20;
  ASSERT_TRUE(monitor_.start_process("child", child, limits, options()));
  ASSERT_EQ(::write(gate[1], "m", 1), 1);
  for (int i = 0; i < 4000 && alerts_.empty(); ++i) loop_.run_for(5ms);
  ASSERT_FALSE(alerts_.empty()) << "it took more than four fifths of what was allowed";
  EXPECT_EQ(alerts_[0].subject, "child");
  EXPECT_EQ(alerts_[0].status.resource, Resource::memory);
  EXPECT_GE(monitor_.peak("child")->memory_bytes, 50U << 20);
  EXPECT_EQ(monitor_.status("child")->front().limit, 64U << 20);
  ::close(gate[1]);
  ::close(gate[0]);
  ::waitpid(child, nullptr, 0);
  for (int i = 0; i < 4000 && !monitor_.subjects().empty(); ++i) loop_.run_for(5ms);
  EXPECT_TRUE(monitor_.subjects().empty()) << "watching ends with the process";
}

TEST_F(ResourceMonitorTest, AProcessOfThisMachineIsMeasured) {
  const auto usage = process_usage(::getpid());
  ASSERT_TRUE(usage);
  EXPECT_GT(usage->memory_bytes, 1U << 20);
  EXPECT_GE(usage->memory_peak_bytes, usage->memory_bytes);
  EXPECT_GT(usage->wall_time.count(), 0);
}

}  // namespace
}  // namespace atl::sandbox
