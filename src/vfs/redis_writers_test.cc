#include <gtest/gtest.h>

#include "vfs/backends_test.h"
#include "vfs/storage_kinds.h"
#include "vfs/virtual_file_system.h"

namespace atl::vfs {
namespace {

Path at(std::string_view text) {
  return Path::posix(text).value();
}

FileEntry file(std::string_view path, std::string_view bytes) {
  FileEntry entry;
  entry.path = at(path);
  entry.type = Type::file;
  entry.content = Content(bytes);
  return entry;
}

class RedisWritersTest : public testing::Test {
 protected:
  RedisServer server_;
  std::shared_ptr<RedisStorage> one_ = server_.storage("k", RedisWriters::several);
  std::shared_ptr<RedisStorage> two_ = server_.storage("k", RedisWriters::several);
};

TEST_F(RedisWritersTest, WhoWasSecondIsTold) {
  ASSERT_TRUE(one_->get_all() && two_->get_all());
  ASSERT_TRUE(one_->set(file("/a", "one")));
  const auto lost = two_->set(file("/b", "two"));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), Code::conflict);
  EXPECT_FALSE(*one_->exists(at("/b"))) << "nothing of it was applied";
  EXPECT_FALSE(two_->set(file("/b", "two"))) << "not before it has looked";
  ASSERT_EQ(two_->get_all()->size(), 1U);
  EXPECT_TRUE(two_->set(file("/b", "two")));
  EXPECT_FALSE(one_->set(file("/a", "again")));
  ASSERT_TRUE(one_->get_all());
  ASSERT_TRUE(one_->clear());
  EXPECT_FALSE(two_->set(file("/b", "two")));
}

TEST_F(RedisWritersTest, AFilesystemFollowsTheOther) {
  auto first = VirtualFileSystem::open(one_).value();
  auto second = VirtualFileSystem::open(two_).value();
  ASSERT_TRUE(first->write(at("/note"), "first"));
  EXPECT_FALSE(second->exists(at("/note")));
  EXPECT_EQ(second->write(at("/other"), "x").error().code(), Code::conflict);
  EXPECT_TRUE(second->exists(at("/note"))) << "the other's state is loaded at once";
  EXPECT_FALSE(second->exists(at("/other")));
  EXPECT_TRUE(second->write(at("/other"), "x"));
  // Through an open file as well: what is told at close() is what was lost.
  OpenOptions how;
  how.write = how.create = true;
  auto open = first->open(at("/third"), how);
  ASSERT_FALSE(open) << "it was second here, too";
  EXPECT_EQ(open.error().code(), Code::conflict);
  auto again = first->open(at("/third"), how);
  ASSERT_TRUE(again);
  ASSERT_TRUE((*again)->write("bytes"));
  ASSERT_TRUE(second->reload());
  ASSERT_TRUE(second->write(at("/fourth"), "x"));
  EXPECT_EQ((*again)->close().error().code(), Code::conflict);
  EXPECT_TRUE(first->exists(at("/fourth")));
}

TEST_F(RedisWritersTest, TheKindOpensASpaceAfterTheOther) {
  const StorageKinds kinds;
  const StorageOptions options{{"socket", server_.address("").unix_socket}, {"keys", "kind"}};
  auto a = (*kinds.find("redis")->open(options, "acme/a"));
  auto b = (*kinds.find("redis")->open(options, "acme/b"));
  ASSERT_TRUE(a->set(file("/x", "x")));
  EXPECT_EQ(*b->count(), 0U);
  EXPECT_TRUE(b->set(file("/x", "x"))) << "spaces do not conflict";
  EXPECT_FALSE(kinds.find("redis")->open({{"port", "70000"}}, "x"));
  EXPECT_EQ(kinds.find("mars"), nullptr);
}

}  // namespace
}  // namespace atl::vfs
