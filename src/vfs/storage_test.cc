// What every storage promises.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "vfs/backends_test.h"
#include "vfs/host_storage.h"
#include "vfs/memory_storage.h"
#include "vfs/sqlite_storage.h"
#include "vfs/wrapper_storage.h"

namespace atl::vfs {
namespace {

Path p(std::string_view text) {
  return Path::posix(text).value();
}

FileEntry file(std::string_view path, std::string_view bytes) {
  FileEntry entry;
  entry.path = p(path);
  entry.content = Content(bytes);
  entry.uid = ::geteuid();
  entry.gid = ::getegid();
  entry.inode = std::hash<std::string_view>{}(path)&0xFFFF;
  entry.created_at = entry.modified_at = entry.changed_at = entry.accessed_at =
      WallTime(std::chrono::seconds(1'600'000'000) + Duration(7));
  return entry;
}

FileEntry directory(std::string_view path) {
  FileEntry entry = file(path, "");
  entry.type = Type::directory;
  entry.mode = 0755;
  return entry;
}

std::vector<std::string> texts(const Result<std::vector<Path>>& paths) {
  std::vector<std::string> out;
  if (!paths) return {"<" + paths.error().message() + ">"};
  for (const Path& path : *paths) out.push_back(path.str());
  return out;
}

using Texts = std::vector<std::string>;

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

// ---- what only some have ----

TEST(ReadOnlyStorage, RefusesEveryChange) {
  auto inner = std::make_shared<MemoryStorage>();
  ASSERT_TRUE(inner->set(file("/f", "x")));
  ReadOnlyStorage storage(inner);
  EXPECT_EQ(storage.set(file("/g", "x")).error().code(), Code::read_only);
  EXPECT_EQ(storage.remove(p("/f")).error().code(), Code::read_only);
  EXPECT_EQ(storage.clear().error().code(), Code::read_only);
  EXPECT_EQ(storage.get(p("/f")).value()->content.str(), "x");
  EXPECT_EQ(storage.count().value(), 1U);
  auto fs = VirtualFileSystem::open(std::make_shared<ReadOnlyStorage>(inner)).value();
  EXPECT_EQ(fs->write(p("/f"), "y").error().code(), Code::read_only);
  EXPECT_EQ(fs->read_bytes(p("/f")).value(), "x");
}

TEST(OverlayStorage, LeavesTheBaseAlone) {
  auto base = std::make_shared<MemoryStorage>();
  ASSERT_TRUE(base->set_many(
      {directory("/d"), file("/d/a", "1"), directory("/d/sub"), file("/d/sub/b", "2"), file("/f", "3")}));
  auto top = std::make_shared<MemoryStorage>();
  auto before = base->to_bytes().value();
  {
    auto fs = VirtualFileSystem::open(std::make_shared<OverlayStorage>(base, top)).value();
    ASSERT_TRUE(fs->write(p("/d/a"), "changed"));
    ASSERT_TRUE(fs->remove_all(p("/d/sub")));
    ASSERT_TRUE(fs->remove_file(p("/f")));
    ASSERT_TRUE(fs->make_directory(p("/f")));
    ASSERT_TRUE(fs->write(p("/f/inner"), "new"));
  }
  EXPECT_EQ(base->to_bytes().value(), before);
  OverlayStorage again(base, top);
  EXPECT_EQ(texts(again.all_paths()), (Texts{"/d", "/d/a", "/f", "/f/inner"}));
  EXPECT_EQ(texts(again.children(p("/d"))), Texts{"/d/a"});
  EXPECT_EQ(texts(again.children(p("/d/sub"))), Texts{});
  EXPECT_EQ(again.get(p("/d/a")).value()->content.str(), "changed");
  EXPECT_FALSE(again.get(p("/d/sub")).value());
  EXPECT_EQ(again.count().value(), 4U);
}

TEST(OverlayStorage, ForgetsWhatLayBelowADirectoryMadeAgain) {
  auto base = std::make_shared<MemoryStorage>();
  ASSERT_TRUE(base->set_many({directory("/d"), file("/d/old", "1")}));
  auto top = std::make_shared<MemoryStorage>();
  {
    auto fs = VirtualFileSystem::open(std::make_shared<OverlayStorage>(base, top)).value();
    ASSERT_TRUE(fs->remove_all(p("/d")));
    ASSERT_TRUE(fs->make_directory(p("/d")));
    ASSERT_TRUE(fs->write(p("/d/new"), "2"));
  }
  auto fs = VirtualFileSystem::open(std::make_shared<OverlayStorage>(base, top)).value();
  EXPECT_EQ(fs->list_names(p("/d")).value(), Texts{"new"});
}

TEST(QuotaStorage, RefusesWhatDoesNotFit) {
  auto inner = std::make_shared<MemoryStorage>();
  ASSERT_TRUE(inner->set(file("/old", "12345")));
  auto storage = QuotaStorage::open(inner, Quota{10, 3}).value();
  EXPECT_EQ(storage->set(file("/f", "123456")).error().code(), Code::no_space);
  EXPECT_EQ(storage->count().value(), 1U);
  ASSERT_TRUE(storage->set(file("/f", "12345")));
  EXPECT_EQ(storage->set(file("/old", "123456")).error().code(), Code::no_space);
  ASSERT_TRUE(storage->set(file("/old", "1")));
  ASSERT_TRUE(storage->set(file("/e", "")));
  EXPECT_EQ(storage->set(file("/four", "")).error().code(), Code::no_space);
  ASSERT_TRUE(storage->remove(p("/e")));
  ASSERT_TRUE(storage->set(directory("/four")));
  EXPECT_EQ(storage->stats().value(), (Stats{6, 2, 1}));
  ASSERT_TRUE(storage->clear());
  EXPECT_EQ(storage->stats().value(), Stats{});
}

TEST(PrefixStorage, StaysBelowItsDirectory) {
  auto inner = std::make_shared<MemoryStorage>();
  ASSERT_TRUE(inner->set(file("/outside", "x")));
  auto storage = PrefixStorage::open(inner, p("/in")).value();
  ASSERT_TRUE(storage->set(file("/f", "1")));
  EXPECT_EQ(inner->get(p("/in/f")).value()->content.str(), "1");
  ASSERT_TRUE(storage->clear());
  EXPECT_EQ(texts(inner->all_paths()), (Texts{"/in", "/outside"}));
  EXPECT_EQ(PrefixStorage::open(inner, p("/outside")).error().code(), Code::not_a_directory);
}

TEST(MountStorage, RoutesAndUndoes) {
  auto base = std::make_shared<MemoryStorage>();
  auto full = QuotaStorage::open(std::make_shared<MemoryStorage>(), Quota{4, 10}).value();
  auto storage = MountStorage::open(base, {{p("/m"), full}}).value();
  ASSERT_TRUE(storage->set_many({file("/a", "base"), file("/m/b", "1234")}));
  EXPECT_EQ(texts(full->all_paths()), Texts{"/b"});
  EXPECT_EQ(texts(storage->all_paths()), (Texts{"/a", "/m", "/m/b"}));
  EXPECT_EQ(texts(storage->children(p("/m"))), Texts{"/m/b"});
  Batch batch;
  batch.entries = {file("/a", "changed"), file("/c", "new"), file("/m/b", "12345")};
  EXPECT_EQ(storage->apply(batch).error().code(), Code::no_space);
  EXPECT_EQ(texts(storage->all_paths()), (Texts{"/a", "/m", "/m/b"}));
  EXPECT_EQ(storage->get(p("/a")).value()->content.str(), "base");
  EXPECT_EQ(storage->remove(p("/m")).error().code(), Code::conflict);
  ASSERT_TRUE(storage->clear());
  EXPECT_EQ(texts(storage->all_paths()), Texts{"/m"});
  EXPECT_EQ(MountStorage::open(base, {{Path(), full}}).error().code(), Code::invalid_argument);
  EXPECT_EQ(MountStorage::open(base, {{p("/x"), full}, {p("/x/y"), base}}).error().code(),
            Code::invalid_argument);
}

TEST(MemoryStorage, TakesAndRestoresSnapshots) {
  MemoryStorage storage;
  ASSERT_TRUE(storage.set(file("/f", "before")));
  auto taken = storage.take_snapshot().value();
  ASSERT_TRUE(storage.set(file("/f", "after")));
  auto bytes = storage.to_bytes().value();
  auto json = storage.to_json().value();
  ASSERT_TRUE(storage.restore_snapshot(*taken));
  EXPECT_EQ(storage.get(p("/f")).value()->content.str(), "before");
  EXPECT_EQ(storage.from_bytes("nonsense").error().code(), Code::unsupported);
  EXPECT_EQ(storage.from_json("nonsense").error().code(), Code::data_loss);
  EXPECT_EQ(storage.get(p("/f")).value()->content.str(), "before");
  ASSERT_TRUE(storage.from_bytes(bytes));
  EXPECT_EQ(storage.get(p("/f")).value()->content.str(), "after");
  ASSERT_TRUE(storage.set(file("/g", "x")));
  ASSERT_TRUE(storage.from_json(json));
  EXPECT_EQ(texts(storage.all_paths()), Texts{"/f"});
  class Other final : public Snapshotable::State {};
  EXPECT_EQ(storage.restore_snapshot(Other()).error().code(), Code::invalid_argument);
}

TEST(SqliteStorage, RefusesForeignNewerAndDamagedFiles) {
  TemporaryDirectory directory;
  std::string file_path = directory.path() + "/db";
  EXPECT_EQ(SqliteStorage::open(directory.path() + "/no/db").error().code(), Code::not_found);
  std::ofstream(file_path) << std::string(5000, 'x');
  EXPECT_EQ(SqliteStorage::open(file_path).error().code(), Code::data_loss);
  std::filesystem::remove(file_path);
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file_path.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "CREATE TABLE other(x)", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(SqliteStorage::open(file_path).error().code(), Code::unsupported);
  std::filesystem::remove(file_path);
  ASSERT_TRUE(SqliteStorage::open(file_path).value()->set(file("/f", "kept")));
  EXPECT_EQ(SqliteStorage::open(file_path).value()->get(p("/f")).value()->content.str(), "kept");
  ASSERT_EQ(sqlite3_open(file_path.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "UPDATE entries SET attributes=x'ff'", nullptr, nullptr, nullptr);
  EXPECT_EQ(SqliteStorage::open(file_path).value()->get(p("/f")).error().code(), Code::data_loss);
  EXPECT_EQ(VirtualFileSystem::open(SqliteStorage::open(file_path).value()).error().code(), Code::data_loss);
  sqlite3_exec(db, "PRAGMA user_version=99", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  EXPECT_EQ(SqliteStorage::open(file_path).error().code(), Code::unsupported);
}

TEST(RedisStorage, SaysWhenTheServerIsGone) {
  RedisAddress nowhere;
  nowhere.unix_socket = "/nonexistent/socket";
  EXPECT_EQ(RedisStorage::connect(nowhere).error().code(), Code::unavailable);
  RedisServer server;
  auto storage = server.storage("mine");
  ASSERT_NE(storage, nullptr);
  ASSERT_TRUE(storage->set(file("/f", "x")));
  EXPECT_TRUE(server.storage("other")->all_paths().value().empty());
  server.end();
  auto code = Code::internal;
  for (int i = 0; i < 100 && code != Code::unavailable; ++i) {
    auto got = storage->get(p("/f"));
    if (!got) code = got.error().code();
    ::usleep(10'000);
  }
  EXPECT_EQ(code, Code::unavailable);
  EXPECT_EQ(storage->set(file("/f", "y")).error().code(), Code::unavailable);
  EXPECT_EQ(storage->count().error().code(), Code::unavailable);
}

TEST(HostStorage, CannotBeLedOutside) {
  TemporaryDirectory outside, inside;
  std::ofstream(outside.path() + "/secret") << "secret";
  std::filesystem::create_symlink(outside.path(), inside.path() + "/out");
  std::filesystem::create_symlink(outside.path() + "/secret", inside.path() + "/file");
  auto fs = HostFileSystem::open(inside.path()).value();
  EXPECT_EQ(fs->read(p("/out/secret")).error().code(), Code::not_found);
  EXPECT_EQ(fs->read(p("/file")).error().code(), Code::not_found);
  // The target counts from our root, where it does not exist: nothing may appear outside.
  EXPECT_FALSE(fs->write(p("/out/new"), "x"));
  EXPECT_FALSE(std::filesystem::exists(outside.path() + "/new"));
  ASSERT_TRUE(fs->remove_all(p("/out")));
  EXPECT_TRUE(std::filesystem::exists(outside.path() + "/secret"));
  auto storage = HostStorage::open(inside.path()).value();
  EXPECT_FALSE(storage->get(p("/out/secret")).value());
  EXPECT_EQ(HostFileSystem::open(inside.path() + "/no").error().code(), Code::not_found);
}

// Somebody swaps a directory for a link to the outside all the time; not one read may get there.
TEST(HostStorage, WinsEveryRace) {
  TemporaryDirectory outside, inside;
  std::filesystem::create_directory(inside.path() + "/d");
  std::ofstream(inside.path() + "/d/f") << "inside";
  std::ofstream(outside.path() + "/f") << "outside";
  std::filesystem::create_symlink(outside.path(), inside.path() + "/l");
  std::atomic<bool> stop = false;
  std::thread swapper([&] {
    std::string d = inside.path() + "/d", l = inside.path() + "/l";
    while (!stop) (void)::renameat2(AT_FDCWD, d.c_str(), AT_FDCWD, l.c_str(), RENAME_EXCHANGE);
  });
  auto fs = HostFileSystem::open(inside.path()).value();
  int good = 0;
  for (int i = 0; i < 3000; ++i) {
    if (auto content = fs->read(p("/d/f"))) {
      ASSERT_EQ(content->str(), "inside");
      ++good;
    }
    (void)fs->write(p("/d/g"), "x", {.parents = Parents::must_exist});
  }
  stop = true;
  swapper.join();
  EXPECT_GT(good, 0);
  EXPECT_FALSE(std::filesystem::exists(outside.path() + "/g"));
}

}  // namespace
}  // namespace atl::vfs
