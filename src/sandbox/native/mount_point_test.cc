#include "sandbox/native/mount_point.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "os/file.h"

namespace atl::sandbox::native {
namespace {

namespace fs = std::filesystem;

class MountPointTest : public testing::Test {
 protected:
  MountPointTest() {
    std::string pattern = (fs::temp_directory_path() / "atoll-mount-point-XXXXXX").string();
    top_ = ::mkdtemp(pattern.data());
    fs::create_directories(top_ + "/root/home/user");
    fs::create_directories(top_ + "/outside");
    root_ = *os::open((top_ + "/root").c_str(), O_PATH | O_DIRECTORY);
  }
  ~MountPointTest() override { fs::remove_all(top_); }
  Result<os::Fd> clear(const std::string& path, const std::string& below = "/home/user") {
    return clear_in_root(root_.get(), path, below, ::getuid());
  }
  // Where a handle leads, seen from the root.
  std::string place_of(const os::Fd& fd) const {
    return fs::read_symlink("/proc/self/fd/" + std::to_string(fd.get())).string().substr(top_.size() + 5);
  }
  std::string top_;
  os::Fd root_;
};

TEST_F(MountPointTest, WhatIsNotBelowIsRefused) {
  EXPECT_EQ(clear("/etc/skills").error().code(), Code::invalid_argument);
  EXPECT_EQ(clear("/home/user/../../../outside").error().code(), Code::invalid_argument);
  EXPECT_FALSE(fs::exists(top_ + "/outside/skills"));
}

TEST_F(MountPointTest, MissingDirectoriesAreMade) {
  EXPECT_EQ(place_of(*clear("/home/user/.agents/skills")), "/home/user/.agents/skills");
  EXPECT_EQ(place_of(*clear("/work/here/skills", "/work/here")), "/work/here/skills");
  EXPECT_EQ(place_of(*clear("/skills", "/")), "/skills");
}

TEST_F(MountPointTest, LinksAndFilesInThePlaceAreReplacedAndNeverFollowed) {
  for (const char* target :
       {"/nowhere", "skills", "../../../outside", "/outside", "mine", "/proc/self/root"}) {
    SCOPED_TRACE(target);
    fs::create_directories(top_ + "/root/home/user/mine");
    for (const char* link : {"/home/user/skills", "/home/user/.agents"}) {
      fs::remove_all(top_ + "/root" + link);
      fs::create_symlink(target, top_ + "/root" + link);
    }
    EXPECT_EQ(place_of(*clear("/home/user/skills")), "/home/user/skills");
    EXPECT_EQ(place_of(*clear("/home/user/.agents/skills")), "/home/user/.agents/skills");
    EXPECT_TRUE(fs::is_empty(top_ + "/outside"));
    EXPECT_TRUE(fs::is_empty(top_ + "/root/home/user/mine"));
  }
  fs::remove_all(top_ + "/root/home/user/skills");
  std::ofstream(top_ + "/root/home/user/skills") << "a file";
  EXPECT_EQ(place_of(*clear("/home/user/skills")), "/home/user/skills");
}

TEST_F(MountPointTest, ADirectoryKeepsWhatItHolds) {
  fs::create_directories(top_ + "/root/home/user/skills");
  std::ofstream(top_ + "/root/home/user/skills/mine") << "kept";
  ASSERT_TRUE(clear("/home/user/skills"));
  EXPECT_TRUE(fs::exists(top_ + "/root/home/user/skills/mine"));
}

// An image may have its working directory behind a link; that one leads on, inside the root.
TEST_F(MountPointTest, TheWayToTheClearedDirectoryStaysInTheRoot) {
  fs::create_directories(top_ + "/root/var/home/user");
  fs::remove_all(top_ + "/root/home");
  fs::create_symlink("/var/home", top_ + "/root/home");
  EXPECT_EQ(place_of(*clear("/home/user/skills")), "/var/home/user/skills");
  fs::create_symlink("../../../../outside", top_ + "/root/out");
  EXPECT_FALSE(open_in_root(root_.get(), "/out"));
  EXPECT_FALSE(clear("/out/skills", "/out"));
  EXPECT_FALSE(make_in_root(root_.get(), "/out/skills", ::getuid()));
  EXPECT_TRUE(fs::is_empty(top_ + "/outside"));
}

}  // namespace
}  // namespace atl::sandbox::native
