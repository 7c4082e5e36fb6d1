#include "sandbox/native/roots.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/ids.h"
#include "os/file.h"

namespace atl::sandbox::native {
namespace {

class RootsTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"/layers/one", "/layers/two/tree", "/snapshots/a/root", "/volumes/v", "/outside/secret"})
      ASSERT_TRUE(os::make_directories(base_ + name));
    paths_.layers = {base_ + "/layers"};
    paths_.snapshots = {base_ + "/snapshots"};
    paths_.mounts = {{.path = base_ + "/volumes", .writable = true}, {.path = base_ + "/outside/shown"}};
    ASSERT_TRUE(os::make_directories(base_ + "/outside/shown"));
    auto roots = Roots::open(paths_);
    ASSERT_TRUE(roots) << roots.error().message();
    roots_ = std::move(*roots);
  }
  void TearDown() override { std::filesystem::remove_all(base_); }
  static ino_t inode(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
  }
  static ino_t inode(const os::Fd& fd) {
    struct stat info {};
    return ::fstat(fd.get(), &info) == 0 ? info.st_ino : 0;
  }
  void refuses(const std::string& path) {
    EXPECT_FALSE(roots_.layer(path)) << path;
    EXPECT_FALSE(roots_.snapshot(path)) << path;
    EXPECT_FALSE(roots_.snapshot_part(path, "root")) << path;
    EXPECT_FALSE(roots_.snapshot_place(path)) << path;
    EXPECT_FALSE(roots_.mount(path, Roots::Access::read)) << path;
  }

  const std::string base_ = "/tmp/atoll-roots-" + random_word(10);
  RootPaths paths_;
  Roots roots_;
};

TEST_F(RootsTest, WhatIsNotBeneathARootIsRefused) {
  refuses("/");
  refuses("");
  refuses("/etc");
  refuses(base_);
  refuses(base_ + "/layersome");
  refuses(base_ + "/outside");
  refuses(base_ + "/outside/secret");
  for (const char* root : {"/layers", "/snapshots", "/volumes"}) {
    for (const char* rest : {"/..", "/../outside", "/one/../../outside", "/./one", "//one", "/one//.."})
      refuses(base_ + root + rest);
    refuses(base_ + root + std::string("/one\0/x", 7));
  }
  // A root for one purpose is none for another.
  EXPECT_FALSE(roots_.snapshot(base_ + "/layers/one"));
  EXPECT_FALSE(roots_.layer(base_ + "/snapshots/a"));
  EXPECT_FALSE(roots_.mount(base_ + "/layers/one", Roots::Access::read));
  EXPECT_EQ(roots_.layer("/etc").error().code(), Code::permission_denied);
}

TEST_F(RootsTest, WhatIsBeneathIsFound) {
  EXPECT_EQ(inode(*roots_.layer(base_ + "/layers/two/tree")), inode(base_ + "/layers/two/tree"));
  EXPECT_EQ(inode(*roots_.layer(base_ + "/layers/")), inode(base_ + "/layers"));
  EXPECT_EQ(inode(*roots_.snapshot_part(base_ + "/snapshots/a", "root")), inode(base_ + "/snapshots/a/root"));
  const auto place = roots_.snapshot_place(base_ + "/snapshots/b");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->name, "b");
  EXPECT_EQ(inode(place->directory), inode(base_ + "/snapshots"));
  EXPECT_EQ(inode(*roots_.mount(base_ + "/volumes/v", Roots::Access::write)), inode(base_ + "/volumes/v"));
  EXPECT_TRUE(roots_.mount(base_ + "/outside/shown", Roots::Access::read));
}

TEST_F(RootsTest, AReadOnlyMountIsNotGivenForWriting) {
  const auto refused = roots_.mount(base_ + "/outside/shown", Roots::Access::write);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::permission_denied);
}

TEST_F(RootsTest, TheDirectoryOfSnapshotsIsNoSnapshot) {
  EXPECT_FALSE(roots_.snapshot(base_ + "/snapshots"));
  EXPECT_FALSE(roots_.snapshot_place(base_ + "/snapshots"));
  EXPECT_FALSE(roots_.snapshot_place(base_ + "/snapshots/"));
}

TEST_F(RootsTest, LinksLeadNowhere) {
  for (const char* root : {"/layers", "/snapshots", "/volumes"}) {
    ASSERT_EQ(::symlink((base_ + "/outside").c_str(), (base_ + root + "/link").c_str()), 0);
    ASSERT_EQ(::symlink("../outside", (base_ + root + "/near").c_str()), 0);
    for (const char* name : {"/link", "/link/secret", "/near", "/near/secret"}) {
      EXPECT_FALSE(roots_.layer(base_ + root + name)) << name;
      EXPECT_FALSE(roots_.snapshot(base_ + root + name)) << name;
      EXPECT_FALSE(roots_.snapshot_part(base_ + root + name, "secret")) << name;
      EXPECT_FALSE(roots_.mount(base_ + root + name, Roots::Access::read)) << name;
    }
    EXPECT_FALSE(roots_.snapshot_place(base_ + root + "/link/secret"));
  }
  // One that is to be removed is named, not followed: what is removed is the link.
  EXPECT_TRUE(roots_.snapshot_place(base_ + "/snapshots/link"));
}

TEST_F(RootsTest, ARootStaysWhereItWas) {
  ASSERT_EQ(::rename((base_ + "/layers").c_str(), (base_ + "/moved").c_str()), 0);
  ASSERT_EQ(::symlink("/etc", (base_ + "/layers").c_str()), 0);
  EXPECT_EQ(inode(*roots_.layer(base_ + "/layers")), inode(base_ + "/moved"));
  EXPECT_FALSE(roots_.layer(base_ + "/layers/ssl"));
}

// A directory that is a link every other moment.
TEST_F(RootsTest, NoMomentLeadsOutside) {
  const std::string path = base_ + "/snapshots/a", aside = base_ + "/snapshots/.a",
                    link = base_ + "/snapshots/.l";
  ASSERT_EQ(::symlink((base_ + "/outside").c_str(), link.c_str()), 0);
  ASSERT_TRUE(os::make_directories(path + "/secret"));
  std::atomic<bool> over = false;
  std::thread swapper([&] {
    while (!over) {
      ::rename(path.c_str(), aside.c_str()), ::rename(link.c_str(), path.c_str());
      ::rename(path.c_str(), link.c_str()), ::rename(aside.c_str(), path.c_str());
    }
  });
  const ino_t outside = inode(base_ + "/outside/secret"), around = inode(base_ + "/outside");
  int found = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (const auto part = roots_.snapshot_part(path, "secret")) {
      ++found;
      EXPECT_NE(inode(*part), outside);
    }
    if (const auto place = roots_.snapshot_place(path + "/secret")) {
      ++found;
      EXPECT_NE(inode(place->directory), around);
    }
  }
  over = true;
  swapper.join();
  EXPECT_GT(found, 0);
}

TEST_F(RootsTest, OnlyNamedStacksAreTrustedWhereAnyAreNamed) {
  EXPECT_TRUE(roots_.may_trust({base_ + "/layers/one"}));
  paths_.trusted = {{base_ + "/layers/one"}};
  const auto strict = Roots::open(paths_);
  ASSERT_TRUE(strict);
  EXPECT_TRUE(strict->may_trust({base_ + "/layers/one"}));
  EXPECT_FALSE(strict->may_trust({base_ + "/layers/two"}));
  EXPECT_FALSE(strict->may_trust({base_ + "/layers/one", base_ + "/layers/two"}));
}

TEST_F(RootsTest, OneThatIsMissingIsTold) {
  paths_.layers = {base_ + "/nothing"};
  const auto roots = Roots::open(paths_);
  ASSERT_TRUE(roots);
  EXPECT_EQ(roots->layer(base_ + "/nothing/x").error().code(), Code::not_found);
}

}  // namespace
}  // namespace atl::sandbox::native
