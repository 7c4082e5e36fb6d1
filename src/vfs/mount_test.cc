#include <gtest/gtest.h>

#include "vfs/mount_file_system.h"
#include "vfs/virtual_file_system.h"

namespace atl::vfs {
namespace {

Path p(std::string_view text) {
  return Path::posix(text).value();
}

struct Mounted : testing::Test {
  std::shared_ptr<VirtualFileSystem> base = std::make_shared<VirtualFileSystem>();
  std::shared_ptr<VirtualFileSystem> work = std::make_shared<VirtualFileSystem>();
  std::shared_ptr<VirtualFileSystem> skills = std::make_shared<VirtualFileSystem>();
  MountFileSystem fs{base};
  void SetUp() override {
    ASSERT_TRUE(skills->write(p("/tool/run"), "code"));
    ASSERT_TRUE(fs.mount(p("/home/work"), work));
    ASSERT_TRUE(fs.mount(p("/skills"), skills, MountFileSystem::Access::read_only));
  }
};

TEST_F(Mounted, RefusesWhatABorderForbids) {
  ASSERT_TRUE(fs.write(p("/f"), "x"));
  EXPECT_EQ(fs.write(p("/skills/tool/run"), "y").error().code(), Code::read_only);
  EXPECT_EQ(fs.open(p("/skills/new"), {.write = true, .create = true}).error().code(), Code::read_only);
  EXPECT_EQ(fs.remove_all(p("/skills/tool")).error().code(), Code::read_only);
  EXPECT_EQ(fs.set_mode(p("/skills/tool"), 0).error().code(), Code::read_only);
  EXPECT_EQ(fs.make_directory(p("/skills/d")).error().code(), Code::read_only);
  EXPECT_EQ(fs.remove_directory(p("/home/work")).error().code(), Code::conflict);
  EXPECT_EQ(fs.remove_all(p("/home")).error().code(), Code::conflict);
  EXPECT_EQ(fs.rename(p("/home"), p("/house")).error().code(), Code::conflict);
  EXPECT_EQ(fs.rename(p("/f"), p("/home/work/f")).error().code(), Code::unsupported);
  EXPECT_EQ(fs.make_link(p("/f"), p("/home/work/f")).error().code(), Code::unsupported);
  EXPECT_EQ(fs.mount(Path(), base).error().code(), Code::invalid_argument);
}

TEST_F(Mounted, LooksLikeOneTree) {
  ASSERT_TRUE(fs.write(p("/home/work/a/b"), "bytes"));
  EXPECT_EQ(work->read_bytes(p("/a/b")).value(), "bytes");
  EXPECT_EQ(fs.list_names(p("/home")).value(), std::vector<std::string>{"work"});
  EXPECT_EQ(fs.list_names(p("/skills")).value(), std::vector<std::string>{"tool"});
  EXPECT_EQ(fs.read_bytes(p("/skills/tool/run")).value(), "code");
  ASSERT_TRUE(fs.make_symlink(p("/home/work/link"), "/skills/tool"));
  EXPECT_EQ(fs.read_bytes(p("/home/work/link/run")).value(), "code");
  EXPECT_EQ(fs.real_path(p("/home/work/link/run")).value().str(), "/skills/tool/run");
  EXPECT_EQ(fs.list(p("/home")).value()[0].inode, fs.stat(p("/home/work")).value().inode);
  EXPECT_NE(fs.stat(p("/home/work")).value().inode, fs.stat(p("/")).value().inode);
  EXPECT_EQ(fs.stats().value().bytes, 9U + std::string_view("/skills/tool").size());
}

TEST_F(Mounted, MovesAndCopiesAcrossBorders) {
  ASSERT_TRUE(fs.write(p("/d/f"), "x"));
  EXPECT_EQ(fs.move(p("/d"), p("/home/work")).value().str(), "/home/work/d");
  EXPECT_FALSE(base->exists(p("/d")));
  EXPECT_EQ(work->read_bytes(p("/d/f")).value(), "x");
  EXPECT_EQ(fs.copy(p("/skills/tool"), p("/home/work")).value().str(), "/home/work/tool");
  EXPECT_EQ(work->read_bytes(p("/tool/run")).value(), "code");
}

}  // namespace
}  // namespace atl::vfs
