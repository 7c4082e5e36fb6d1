#include "os/file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "os/directory_test.h"

namespace atl::os {
namespace {

TEST(File, OpenNamesWhatWentWrongWithoutThePath) {
  const auto missing = open("/nonexistent/secret", O_RDONLY);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), Code::not_found);
  EXPECT_EQ(missing.error().message().find("secret"), std::string::npos);
  EXPECT_EQ(missing.error().detail(), "/nonexistent/secret");
}

TEST(File, EveryDescriptorIsCloseOnExec) {
  const auto fd = open("/dev/null", O_RDONLY);
  ASSERT_TRUE(fd);
  EXPECT_TRUE(::fcntl(fd->get(), F_GETFD) & FD_CLOEXEC);
}

TEST(File, BeneathRefusesLinksAndWaysOut) {
  const TestDirectory directory;
  ASSERT_TRUE(make_directories(directory.at("a/b")));
  ASSERT_TRUE(write_file(directory.at("a/b/file"), "text"));
  ASSERT_EQ(::symlink("b/file", directory.at("a/link").c_str()), 0);
  ASSERT_EQ(::symlink("/etc", directory.at("a/out").c_str()), 0);
  const auto top = open(directory.at("a").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(top);
  EXPECT_TRUE(open_beneath(top->get(), "b/file", O_RDONLY));
  EXPECT_TRUE(open_beneath(top->get(), "b/../b/file", O_RDONLY));
  for (const char* path : {"link", "out/passwd", "../a/b/file", "/etc/passwd", "b/../../a"})
    EXPECT_FALSE(open_beneath(top->get(), path, O_RDONLY)) << path;
}

TEST(File, ReadsWholeFilesUpToALimit) {
  const TestDirectory directory;
  const std::string path = directory.at("file");
  const std::string text(40'000, 'x');
  ASSERT_TRUE(write_file(path, text, 0600));
  EXPECT_EQ(read_file(path), text);
  EXPECT_EQ(read_file(path, text.size()), text);
  const auto small = read_file(path, text.size() - 1);
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code(), Code::too_large);
  EXPECT_EQ(read_file(directory.at("none")).error().code(), Code::not_found);
  EXPECT_EQ(read_file(directory.path()).error().code(), Code::is_a_directory);
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST(File, ControlFilesMustExist) {
  const TestDirectory directory;
  EXPECT_EQ(write_control(directory.at("none"), "1").error().code(), Code::not_found);
  EXPECT_FALSE(exists(directory.at("none")));
  ASSERT_TRUE(write_file(directory.at("limit"), "max"));
  EXPECT_TRUE(write_control(directory.at("limit"), "12"));
  EXPECT_EQ(read_file(directory.at("limit")), "12x");  // one write, no truncation
  EXPECT_FALSE(write_control("/dev/full", "1"));
}

TEST(File, WritesReportAFullDisk) {
  const auto full = open("/dev/full", O_WRONLY);
  ASSERT_TRUE(full);
  const auto written = write_all(full->get(), "text");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), Code::no_space);
}

TEST(File, DurableOnesAreReplacedWhole) {
  const TestDirectory directory;
  const std::string path = directory.at("key");
  ASSERT_TRUE(write_file_durably(path, "first", 0600));
  ASSERT_TRUE(write_file_durably(path, "second", 0600));
  EXPECT_EQ(read_file(path), "second");
  EXPECT_FALSE(exists(path + ".new"));
  EXPECT_EQ(write_file_durably(directory.at("none/key"), "x").error().code(), Code::not_found);
}

TEST(File, DirectoriesMayExistAlready) {
  const TestDirectory directory;
  EXPECT_TRUE(make_directories(directory.at("x/y/z")));
  EXPECT_TRUE(make_directories(directory.at("x/y/z")));
  EXPECT_TRUE(exists(directory.at("x/y/z")));
  ASSERT_TRUE(write_file(directory.at("x/file"), ""));
  EXPECT_FALSE(make_directories(directory.at("x/file/below")));
  EXPECT_EQ(make_directory(directory.at("none/below")).error().code(), Code::not_found);
}

TEST(RemoveTree, AMissingNameIsSuccess) {
  const TestDirectory directory;
  EXPECT_TRUE(remove_tree(directory.fd(), "none"));
}

TEST(RemoveTree, RemovesFilesLinksAndFullDirectories) {
  const TestDirectory directory;
  ASSERT_TRUE(make_directories(directory.at("tree/a/b")));
  ASSERT_TRUE(write_file(directory.at("tree/a/b/file"), "text"));
  ASSERT_TRUE(write_file(directory.at("kept"), "text"));
  ASSERT_EQ(::symlink("../kept", directory.at("tree/link").c_str()), 0);
  ASSERT_EQ(::symlink("..", directory.at("tree/a/up").c_str()), 0);
  ASSERT_EQ(::mkfifo(directory.at("tree/a/fifo").c_str(), 0600), 0);
  EXPECT_TRUE(remove_tree(directory.fd(), "tree"));
  EXPECT_FALSE(exists(directory.at("tree")));
  EXPECT_TRUE(exists(directory.at("kept")));
  EXPECT_TRUE(remove_tree(directory.fd(), "kept"));
  EXPECT_FALSE(exists(directory.at("kept")));
}

// The working directory of this process must not move: the chain is made by descriptors.
TEST(RemoveTree, DepthCostsNeitherStackNorDescriptors) {
  const TestDirectory directory;
  ASSERT_TRUE(make_directory(directory.at("deep")));
  auto at = open(directory.at("deep").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(at);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_EQ(::mkdirat(at->get(), "d", 0755), 0);
    at = open_at(at->get(), "d", O_RDONLY | O_DIRECTORY);
    ASSERT_TRUE(at);
  }
  at->reset();
  EXPECT_TRUE(remove_tree(directory.fd(), "deep"));
  EXPECT_FALSE(exists(directory.at("deep")));
}

TEST(RemoveTree, NamesThatLookLikeItsOwnDoNotStopIt) {
  const TestDirectory directory;
  for (const char* path :
       {"tree/.atoll-remove-0/full", "tree/.atoll-remove-1/full", "tree/a/b/c", "tree/a/d/e"})
    ASSERT_TRUE(make_directories(directory.at(path)));
  EXPECT_TRUE(remove_tree(directory.fd(), "tree"));
  EXPECT_FALSE(exists(directory.at("tree")));
}

TEST(SealedProgram, CannotBeChangedAnyMore) {
  const auto program = sealed_program("test", "#!/bin/sh\n");
  ASSERT_TRUE(program);
  EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(program->get())), "#!/bin/sh\n");
  EXPECT_LT(::ftruncate(program->get(), 0), 0);
  EXPECT_LT(::pwrite(program->get(), "x", 1, 0), 0);
  EXPECT_TRUE(::fcntl(program->get(), F_GET_SEALS) & F_SEAL_SEAL);
}

TEST(Space, TellsSizeAndUse) {
  const TestDirectory directory;
  const auto space = filesystem_space(directory.fd());
  ASSERT_TRUE(space);
  EXPECT_GT(space->bytes, 0U);
  EXPECT_LE(space->bytes_used, space->bytes);
  EXPECT_FALSE(filesystem_space(-1));
}

}  // namespace
}  // namespace atl::os
