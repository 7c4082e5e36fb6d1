#include "sandbox/native/cgroup.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace atl::sandbox::native {
namespace {

constexpr const char* kGroup = "s1";

// The tree of a spawner of this name, with one empty group; empty if this machine gives none.
CgroupTree tree_with_group(const std::string& parent) {
  auto tree = CgroupTree::create(parent);
  if (!tree || tree->version() == "none" || !tree->make_group(kGroup)) return {};
  return std::move(*tree);
}

TEST(CgroupTest, ASpawnerIsNamedByItsProcess) {
  const std::string name = CgroupTree::spawner_parent(::getpid());
  EXPECT_TRUE(name.starts_with(fmt::format("atoll-{}.", ::getpid()))) << name;
  EXPECT_NE(name, CgroupTree::spawner_parent(::getppid()));
}

// A number that a dead spawner had is somebody else's now: what it left is cleared away, and the new
// spawner's own groups, whose name differs, are not.
TEST(CgroupTest, ANumberThatCameAgainIsNotTheSpawnerThatDied) {
  const std::string mine = CgroupTree::spawner_parent(::getpid());
  const std::string before =
      fmt::format("atoll-{}.1{}", ::getpid(), mine.substr(std::min(mine.find('-', 6), mine.size())));
  CgroupTree left = tree_with_group(before), living = tree_with_group(mine);
  auto other = CgroupTree::create(CgroupTree::spawner_parent(::getppid()));
  ASSERT_TRUE(other);
  if (!left.exists(kGroup)) GTEST_SKIP() << "this machine gives no control groups";
  other->clear_leftovers();
  EXPECT_FALSE(left.exists(kGroup));
  EXPECT_TRUE(living.exists(kGroup)) << "its process lives";
  EXPECT_TRUE(living.make_group("another"));
  EXPECT_TRUE(living.remove_group("another"));
  EXPECT_TRUE(living.remove_group(kGroup));
  living.remove_parent();
  other->remove_parent();
}

// Numbers beyond the kernel's largest process id belong to nobody.
TEST(CgroupTest, OnlyDeadSpawnersOfThisNamespaceAreClearedAway) {
  const std::string dead = CgroupTree::spawner_parent(1 << 24), elsewhere = dead + "-17",
                    mine = CgroupTree::spawner_parent(::getpid());
  CgroupTree left = tree_with_group(dead), foreign = tree_with_group(elsewhere);
  auto own = CgroupTree::create(mine);
  ASSERT_TRUE(own);
  if (!left.exists(kGroup)) GTEST_SKIP() << "this machine gives no control groups";
  own->clear_leftovers();
  EXPECT_FALSE(left.exists(kGroup));
  EXPECT_TRUE(foreign.exists(kGroup)) << "a process of another namespace may live";
  EXPECT_TRUE(foreign.remove_group(kGroup));
  foreign.remove_parent();
  own->remove_parent();
}

}  // namespace
}  // namespace atl::sandbox::native
