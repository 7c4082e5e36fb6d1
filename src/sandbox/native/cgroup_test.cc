#include "sandbox/native/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

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
  const std::string name = CgroupTree::spawner_parent(4711);
  EXPECT_TRUE(name == "atoll-4711" || name.starts_with("atoll-4711-")) << name;
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
