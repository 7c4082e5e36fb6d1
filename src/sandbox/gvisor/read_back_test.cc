#include "sandbox/gvisor/read_back.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "os/file.h"

namespace atl::sandbox::gvisor {
namespace {

class ReadBackTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/tmp/atoll-groups-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string hierarchy(const std::string& name, const char* controllers = nullptr) {
    std::filesystem::create_directories(root_ + name);
    if (controllers != nullptr) {
      EXPECT_TRUE(os::write_file(root_ + name + "/cgroup.controllers", controllers));
    }
    return root_ + name;
  }
  static bool can(const std::string& lines) {
    std::istringstream mounts(lines);
    return can_make_groups(mounts);
  }
  std::string root_;
};

TEST_F(ReadBackTest, GroupsThatLimitNothingAreNone) {
  EXPECT_FALSE(can(""));
  EXPECT_FALSE(can("proc /proc proc rw 0 0\n"));
  EXPECT_FALSE(can("cgroup " + hierarchy("/cpu") + " cgroup rw,cpu 0 0\n"));
  EXPECT_FALSE(can("none " + hierarchy("/both", "hugetlb\n") + " cgroup2 rw 0 0\n"))
      << "beside version 1, whose the memory is";
  EXPECT_FALSE(can("none " + hierarchy("/empty", "\n") + " cgroup2 rw 0 0\n")) << "nothing is delegated";
  EXPECT_FALSE(can("none /no/such/hierarchy/memory cgroup rw,memory 0 0\n")) << "nobody may write there";
}

TEST_F(ReadBackTest, BothVersionsCanLimitMemory) {
  EXPECT_TRUE(can("none " + hierarchy("/memory") + " cgroup rw,memory 0 0\n"));
  EXPECT_TRUE(can("none " + hierarchy("/unified", "cpuset cpu io memory hugetlb pids\n") +
                  " cgroup2 rw,nsdelegate 0 0\n"));
}

TEST_F(ReadBackTest, ProcessesOfAllGroupsAreListed) {
  EXPECT_TRUE(os::write_file(hierarchy("/unified/box") + "/cgroup.procs", "11\n12\n"));
  const std::vector<pid_t> expected{11, 12};
  EXPECT_EQ(group_processes({"unified=" + root_ + "/unified/box", "memory=/no/such"}), expected);
}

}  // namespace
}  // namespace atl::sandbox::gvisor
