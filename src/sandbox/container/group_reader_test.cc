#include "sandbox/container/group_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/ids.h"

namespace atl::sandbox::container {
namespace {

class GroupReaderTest : public testing::Test {
 protected:
  ~GroupReaderTest() override { std::filesystem::remove_all(root_); }
  std::string group(const std::string& name, const std::vector<std::pair<std::string, std::string>>& files) {
    const std::string path = root_ + "/" + name;
    std::filesystem::create_directories(path);
    for (const auto& [file, text] : files) std::ofstream(path + "/" + file) << text;
    return path;
  }
  const std::string root_ = "/tmp/atoll-groups-" + random_word(10);
};

TEST_F(GroupReaderTest, AProcessThatIsNotThereOrAnothersIsRefused) {
  EXPECT_EQ(GroupReader::of_process(1 << 30, "").error().code(), Code::not_found);
  EXPECT_EQ(GroupReader::of_process(::getpid(), "no-container-has-this-name").error().code(),
            Code::not_found);
}

TEST_F(GroupReaderTest, AGroupThatIsGoneCountsNothingAndLimitsNothing) {
  const GroupReader reader = GroupReader::of_paths({"memory=/no/such", "pids=/no/such", "cpu=/no/such"});
  EXPECT_EQ(reader.usage().memory_bytes, 0U);
  EXPECT_FALSE(reader.cpu_time());
  EXPECT_EQ(reader.oom_kills(), 0U);
  EXPECT_EQ(reader.processes(), 0U);
  EXPECT_FALSE(reader.memory_limit());
  EXPECT_FALSE(reader.cpu_limit());
  EXPECT_FALSE(reader.task_limit());
}

TEST_F(GroupReaderTest, VersionOne) {
  const std::string memory = group("memory", {{"memory.usage_in_bytes", "4096\n"},
                                              {"memory.max_usage_in_bytes", "8192\n"},
                                              {"memory.limit_in_bytes", "1048576\n"},
                                              {"memory.memsw.limit_in_bytes", "9223372036854771712\n"},
                                              {"memory.oom_control", "oom_kill_disable 0\noom_kill 3\n"},
                                              {"memory.stat", "cache 1\ntotal_cache 77\n"}});
  const std::string cpu = group("cpu", {{"cpu.cfs_period_us", "100000\n"}, {"cpu.cfs_quota_us", "50000\n"}});
  const std::string unlimited =
      group("free", {{"cpu.cfs_period_us", "100000\n"}, {"cpu.cfs_quota_us", "-1\n"}});
  const std::string pids = group("pids", {{"pids.max", "80\n"}, {"cgroup.procs", "1\n2\n3\n"}});
  const std::string time = group("time", {{"cpuacct.usage", "5000000\n"}});
  const std::string io = group("io", {{"blkio.throttle.io_service_bytes",
                                       "8:0 Read 10\n8:0 Write 20\n8:0 Total 30\n8:1 Read 1\nTotal 31\n"}});
  const std::vector<std::string> paths = {"memory=" + memory, "cpu=" + cpu, "pids=" + pids, "cpuacct=" + time,
                                          "blkio=" + io};
  const GroupReader reader = GroupReader::of_paths(paths);
  EXPECT_EQ(reader.usage().memory_bytes, 4096U);
  EXPECT_EQ(reader.usage().memory_peak_bytes, 8192U);
  EXPECT_EQ(reader.usage().memory_cache_bytes, 77U);
  EXPECT_EQ(reader.usage().cpu_time.count(), 5000);
  EXPECT_EQ(reader.cpu_time(), std::chrono::microseconds(5000));
  EXPECT_EQ(reader.usage().read_bytes, 11U);
  EXPECT_EQ(reader.usage().written_bytes, 20U);
  EXPECT_EQ(reader.oom_kills(), 3U);
  EXPECT_EQ(reader.processes(), 3U);
  EXPECT_EQ(reader.memory_limit(), 1048576U);
  EXPECT_FALSE(reader.memory_and_swap_limit()) << "the largest number is none";
  EXPECT_DOUBLE_EQ(reader.cpu_limit().value_or(0), 0.5);
  EXPECT_EQ(reader.task_limit(), 80U);
  EXPECT_FALSE(GroupReader::of_paths({"cpu=" + unlimited}).cpu_limit());
  EXPECT_EQ(reader.paths().size(), paths.size());
}

// As on a machine with version 2 alone, in the words of its kernel. Podman's crun keeps the processes in a
// group inside the one that has the limits.
TEST_F(GroupReaderTest, AMachineWithVersionTwoAlone) {
  group("machine.slice/libpod-abc123.scope", {{"memory.max", "4096\n"},
                                              {"memory.swap.max", "0\n"},
                                              {"cpu.max", "50000 100000\n"},
                                              {"pids.max", "64\n"},
                                              {"memory.current", "100\n"},
                                              {"cgroup.procs", ""}});
  group("machine.slice/libpod-abc123.scope/container",
        {{"memory.max", "max\n"}, {"cpu.max", "max 100000\n"}, {"cgroup.procs", "7\n8\n"}});
  group("machine.slice/libpod-abc123.scope/container/deeper", {{"cgroup.procs", "9\n"}});
  for (const char* inner : {"", "/container"}) {
    std::istringstream groups(std::string("0::/machine.slice/libpod-abc123.scope") + inner + "\n"),
        mounts("proc /proc proc rw 0 0\ncgroup2 " + root_ + " cgroup2 rw,nsdelegate 0 0\n");
    const auto reader = GroupReader::of_lines(groups, mounts, "abc123");
    ASSERT_TRUE(reader) << inner;
    EXPECT_EQ(reader->paths(),
              std::vector<std::string>{"unified=" + root_ + "/machine.slice/libpod-abc123.scope"});
    EXPECT_TRUE(reader->counts_memory());
    EXPECT_EQ(reader->memory_limit(), 4096U);
    EXPECT_EQ(reader->memory_and_swap_limit(), 4096U) << "no swap";
    EXPECT_DOUBLE_EQ(reader->cpu_limit().value_or(0), 0.5);
    EXPECT_EQ(reader->task_limit(), 64U);
    EXPECT_EQ(reader->usage().memory_bytes, 100U);
    EXPECT_EQ(reader->processes(), 3U);
  }
}

TEST_F(GroupReaderTest, WhatAKernelSaysOfAnotherOrOfNoGroupIsNoLimit) {
  const auto read = [](const std::string& said, const std::string& mounted) {
    std::istringstream groups(said), mounts(mounted);
    return GroupReader::of_lines(groups, mounts, "abc123");
  };
  const std::string unified = "cgroup2 " + root_ + " cgroup2 rw 0 0\n";
  EXPECT_EQ(read("0::/another.scope\n", unified).error().code(), Code::not_found);
  EXPECT_EQ(read("0::/\n", unified).error().code(), Code::not_found) << "the whole machine is no container";
  EXPECT_EQ(read("nonsense\n", unified).error().code(), Code::not_found);
  const auto unmounted = read("0::/abc123\n", "proc /proc proc rw 0 0\n");
  ASSERT_TRUE(unmounted);
  EXPECT_FALSE(unmounted->counts_memory()) << "nobody shows the group";
  EXPECT_TRUE(unmounted->paths().empty());
  // A machine with both: the controllers are version 1's, and the other one has none.
  const auto both =
      read("4:memory:/docker/abc123\n3:cpu,cpuacct:/docker/abc123\n0::/docker/abc123\n",
           "cgroup /c/memory cgroup rw,memory 0 0\ncgroup /c/cpu cgroup rw,cpu,cpuacct 0 0\n" + unified);
  ASSERT_TRUE(both);
  const std::vector<std::string> expected{"memory=/c/memory/docker/abc123", "cpu=/c/cpu/docker/abc123",
                                          "cpuacct=/c/cpu/docker/abc123"};
  EXPECT_EQ(both->paths(), expected);
}

TEST_F(GroupReaderTest, VersionTwo) {
  const std::string unified = group("unified", {{"cpu.stat", "usage_usec 700\nuser_usec 1\n"},
                                                {"memory.current", "10\n"},
                                                {"memory.peak", "20\n"},
                                                {"memory.stat", "anon 1\nfile 5\n"},
                                                {"memory.max", "4096\n"},
                                                {"memory.swap.max", "0\n"},
                                                {"memory.events", "oom 1\noom_kill 2\n"},
                                                {"cpu.max", "150000 100000\n"},
                                                {"io.stat", "8:0 rbytes=3 wbytes=4 rios=1\n8:1 rbytes=1\n"},
                                                {"pids.max", "max\n"},
                                                {"cgroup.procs", "9\n"}});
  const GroupReader reader = GroupReader::of_paths({"unified=" + unified});
  EXPECT_EQ(reader.usage().cpu_time.count(), 700);
  EXPECT_EQ(reader.cpu_time(), std::chrono::microseconds(700));
  EXPECT_EQ(reader.usage().memory_peak_bytes, 20U);
  EXPECT_EQ(reader.usage().read_bytes, 4U);
  EXPECT_EQ(reader.oom_kills(), 2U);
  EXPECT_EQ(reader.processes(), 1U);
  EXPECT_EQ(reader.memory_and_swap_limit(), 4096U);
  EXPECT_DOUBLE_EQ(reader.cpu_limit().value_or(0), 1.5);
  EXPECT_FALSE(reader.task_limit());
}

}  // namespace
}  // namespace atl::sandbox::container
