// What every storage promises. Rooms whose storages stand elsewhere compile this file, too.
#include <gtest/gtest.h>
#include <unistd.h>

#include "vfs/backends_test.h"
#include "vfs/entry_makers_test.h"

namespace atl::vfs {
namespace {

class StorageContract : public testing::TestWithParam<StorageBackend> {
 protected:
  void SetUp() override {
    storage_ = GetParam().make();
    ASSERT_NE(storage_, nullptr);
  }
  std::shared_ptr<FileStorage> storage_;
};

TEST_P(StorageContract, IsEmptyAtFirst) {
  EXPECT_EQ(storage_->count().value(), 0U);
  EXPECT_FALSE(storage_->get(p("/a")).value());
  EXPECT_FALSE(storage_->get(Path()).value());
  EXPECT_FALSE(storage_->exists(p("/a")).value());
  EXPECT_FALSE(storage_->remove(p("/a")).value());
  EXPECT_TRUE(storage_->all_paths().value().empty());
  EXPECT_TRUE(storage_->children(Path()).value().empty());
  EXPECT_TRUE(storage_->children(p("/no")).value().empty());
  EXPECT_TRUE(storage_->get_all().value().empty());
  EXPECT_TRUE(storage_->apply({}));
}

TEST_P(StorageContract, RefusesTheRootAsAnEntry) {
  EXPECT_EQ(storage_->set(directory("/")).error().code(), Code::invalid_argument);
}

TEST_P(StorageContract, GivesBackWhatWasSet) {
  auto entry = file("/f", std::string("bytes \0\xff", 8));
  entry.mode = 0604;
  ASSERT_TRUE(storage_->set(entry));
  auto got = storage_->get(p("/f")).value();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->path, entry.path);
  EXPECT_EQ(got->type, Type::file);
  EXPECT_EQ(got->content, entry.content);
  EXPECT_EQ(got->mode, 0604U);
  EXPECT_EQ(got->uid, entry.uid);
  EXPECT_EQ(got->modified_at, entry.modified_at);
  EXPECT_EQ(got->accessed_at, entry.accessed_at);
  if (GetParam().keeps_identity) {
    EXPECT_EQ(got->inode & 0xFFFF, entry.inode);
    EXPECT_EQ(got->created_at, entry.created_at);
  }
  ASSERT_TRUE(storage_->set(file("/f", "")));
  EXPECT_EQ(storage_->get(p("/f")).value()->content.size(), 0U);
  std::string large(200'000, 'x');
  ASSERT_TRUE(storage_->set(file("/f", large)));
  EXPECT_EQ(storage_->get(p("/f")).value()->content.str(), large);
  EXPECT_EQ(storage_->count().value(), 1U);
}

TEST_P(StorageContract, AnswersForPathsPrefixesAndChildren) {
  ASSERT_TRUE(storage_->set_many({directory("/a"), file("/a/x", "1"), file("/a/y", "2"), directory("/a/z"),
                                  file("/a/z/deep", "3"), file("/ab", "4"), file("/\xff", "5")}));
  EXPECT_EQ(texts(storage_->all_paths()), (Texts{"/a", "/a/x", "/a/y", "/a/z", "/a/z/deep", "/ab", "/\xff"}));
  EXPECT_EQ(texts(storage_->paths_by_prefix("/a")),
            (Texts{"/a", "/a/x", "/a/y", "/a/z", "/a/z/deep", "/ab"}));
  EXPECT_EQ(texts(storage_->paths_by_prefix("/a/")), (Texts{"/a/x", "/a/y", "/a/z", "/a/z/deep"}));
  EXPECT_EQ(texts(storage_->paths_by_prefix("/\xff")), Texts{"/\xff"});
  EXPECT_EQ(texts(storage_->paths_by_prefix("/q")), Texts{});
  EXPECT_EQ(texts(storage_->children(Path())), (Texts{"/a", "/ab", "/\xff"}));
  EXPECT_EQ(texts(storage_->children(p("/a"))), (Texts{"/a/x", "/a/y", "/a/z"}));
  EXPECT_EQ(texts(storage_->children(p("/a/x"))), Texts{});
  EXPECT_EQ(storage_->count().value(), 7U);
  auto all = storage_->get_all().value();
  ASSERT_EQ(all.size(), 7U);
  EXPECT_EQ(all[4].content.str(), "3");
  if (auto* stats = dynamic_cast<StorageStats*>(storage_.get())) {
    EXPECT_EQ(stats->stats().value(), (Stats{5, 5, 2}));
  }
}

TEST_P(StorageContract, RemovesBeforeItSets) {
  ASSERT_TRUE(storage_->set_many({directory("/a"), file("/a/x", "1"), file("/b", "2")}));
  Batch batch;
  batch.removals = {p("/a/x"), p("/a"), p("/never")};
  batch.entries = {file("/a", "now a file"), directory("/c"), file("/c/x", "3")};
  ASSERT_TRUE(storage_->apply(batch));
  EXPECT_EQ(texts(storage_->all_paths()), (Texts{"/a", "/b", "/c", "/c/x"}));
  EXPECT_EQ(storage_->get(p("/a")).value()->content.str(), "now a file");
  EXPECT_TRUE(storage_->remove(p("/b")).value());
  EXPECT_FALSE(storage_->exists(p("/b")).value());
  EXPECT_EQ(storage_->count().value(), 3U);
}

TEST_P(StorageContract, KeepsLinksAndFifos) {
  auto link = file("/l", "somewhere/else");
  link.type = Type::symlink;
  link.mode = 0777;
  auto fifo = file("/p", "");
  fifo.type = Type::fifo;
  ASSERT_TRUE(storage_->set_many({link, fifo}));
  EXPECT_EQ(storage_->get(p("/l")).value()->type, Type::symlink);
  EXPECT_EQ(storage_->get(p("/l")).value()->content.str(), "somewhere/else");
  EXPECT_EQ(storage_->get(p("/p")).value()->type, Type::fifo);
  EXPECT_FALSE(storage_->get(p("/l/x")).value());
}

TEST_P(StorageContract, AppliesAllOrNothing) {
  ASSERT_TRUE(storage_->set_many({directory("/d"), file("/d/keep", "1"), file("/gone", "2")}));
  Batch batch;
  batch.removals = {p("/gone")};
  batch.entries = {file("/d/keep", "changed"), file("/new", "3"), directory("/")};
  EXPECT_FALSE(storage_->apply(batch));
  EXPECT_EQ(texts(storage_->all_paths()), (Texts{"/d", "/d/keep", "/gone"}));
  EXPECT_EQ(storage_->get(p("/d/keep")).value()->content.str(), "1");
  EXPECT_EQ(storage_->get(p("/gone")).value()->content.str(), "2");
}

TEST_P(StorageContract, Clears) {
  ASSERT_TRUE(storage_->set_many({directory("/d"), file("/d/f", "1")}));
  ASSERT_TRUE(storage_->clear());
  EXPECT_EQ(storage_->count().value(), 0U);
  EXPECT_TRUE(storage_->all_paths().value().empty());
  ASSERT_TRUE(storage_->set(file("/d", "again")));
  EXPECT_EQ(texts(storage_->all_paths()), Texts{"/d"});
}

INSTANTIATE_TEST_SUITE_P(All, StorageContract, testing::ValuesIn(storage_backends()),
                         [](const auto& backend) { return backend.param.name; });

}  // namespace
}  // namespace atl::vfs
