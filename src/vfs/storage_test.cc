// What only some storages promise.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "vfs/backends_test.h"
#include "vfs/entry_makers_test.h"
#include "vfs/host_storage.h"
#include "vfs/memory_storage.h"
#include "vfs/sqlite_storage.h"
#include "vfs/wrapper_storage.h"

namespace atl::vfs {
namespace {

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
