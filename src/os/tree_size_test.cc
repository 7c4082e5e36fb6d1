#include "os/tree_size.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "os/directory_test.h"
#include "os/file.h"

namespace atl::os {
namespace {

TEST(TreeSize, WhatIsNoDirectoryIsRefused) {
  const TestDirectory directory;
  ASSERT_TRUE(write_file(directory.at("file"), "text"));
  const auto file = open(directory.at("file").c_str(), O_RDONLY);
  ASSERT_TRUE(file);
  EXPECT_FALSE(measure_tree(file->get()));
  EXPECT_FALSE(measure_tree(-1));
}

TEST(TreeSize, ATreeThatIsMovedMeanwhileIsUnavailableAndNotHalfCounted) {
  const TestDirectory directory;
  ASSERT_TRUE(make_directories(directory.at("tree/inner/deep")));
  ASSERT_TRUE(make_directories(directory.at("elsewhere")));
  const auto tree = open(directory.at("tree").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(tree);
  int moved = 0;
  // The walk is inside `inner` as soon as two are counted. Another one is there for the next attempt.
  const auto move_away = [&](const TreeSize& size) {
    if (size.inodes == 2) {
      std::filesystem::rename(directory.at("tree/inner"),
                              directory.at("elsewhere/" + std::to_string(++moved)));
      std::filesystem::create_directories(directory.at("tree/inner/deep"));
    }
    return false;
  };
  const auto counted = measure_tree(tree->get(), move_away);
  ASSERT_FALSE(counted);
  EXPECT_EQ(counted.error().code(), Code::unavailable);
  EXPECT_GE(moved, 3) << "it is tried a few times";
  // Who stands still is counted afterwards.
  const auto calm = measure_tree(tree->get());
  ASSERT_TRUE(calm) << calm.error().message();
  EXPECT_EQ(calm->inodes, 2U);
}

TEST(TreeSize, ADirectoryThatIsALinkByNowIsNotFollowed) {
  const TestDirectory directory;
  ASSERT_TRUE(make_directories(directory.at("tree/one")));
  ASSERT_TRUE(make_directories(directory.at("outside/a/b/c")));
  const auto tree = open(directory.at("tree").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(tree);
  const auto counted = measure_tree(tree->get(), [&](const TreeSize& size) {
    if (size.inodes == 1 &&
        std::filesystem::is_directory(std::filesystem::symlink_status(directory.at("tree/one")))) {
      std::filesystem::remove(directory.at("tree/one"));
      std::filesystem::create_symlink(directory.at("outside"), directory.at("tree/one"));
    }
    return false;
  });
  ASSERT_TRUE(counted) << counted.error().message();
  EXPECT_EQ(counted->inodes, 1U);
}

TEST(TreeSize, CountsBlocksInodesAndEachFileOnce) {
  const TestDirectory directory;
  ASSERT_TRUE(write_file(directory.at("file"), std::string(100'000, 'x')));
  ASSERT_EQ(::link(directory.at("file").c_str(), directory.at("again").c_str()), 0);
  ASSERT_EQ(::symlink("/", directory.at("link").c_str()), 0);
  ASSERT_TRUE(write_file(directory.at("empty"), ""));
  const auto counted = measure_tree(directory.fd());
  ASSERT_TRUE(counted) << counted.error().message();
  EXPECT_EQ(counted->inodes, 3U);
  EXPECT_GE(counted->bytes, 100'000U);
  EXPECT_LT(counted->bytes, 200'000U);
  // What is only large in name takes nothing.
  ASSERT_EQ(::truncate(directory.at("empty").c_str(), 1L << 30), 0);
  EXPECT_LT(measure_tree(directory.fd())->bytes, 200'000U);
}

TEST(TreeSize, GoesDeeperThanAProcessMayHaveFilesOpenAndEndsWhenItIsEnough) {
  const TestDirectory directory;
  constexpr std::uint64_t kDepth = 3000;
  Fd at = *open(directory.path().c_str(), O_RDONLY | O_DIRECTORY);
  for (std::uint64_t i = 0; i < kDepth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    at = *open_at(at.get(), "d", O_RDONLY | O_DIRECTORY);
  }
  const auto counted = measure_tree(directory.fd());
  ASSERT_TRUE(counted) << counted.error().message();
  EXPECT_EQ(counted->inodes, kDepth);
  const auto some = measure_tree(directory.fd(), [](const TreeSize& size) { return size.inodes >= 10; });
  ASSERT_TRUE(some);
  EXPECT_EQ(some->inodes, 10U);
}

}  // namespace
}  // namespace atl::os
