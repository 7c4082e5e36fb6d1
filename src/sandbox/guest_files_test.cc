#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sandbox/guest_harness.h"

namespace atl::sandbox {
namespace {

using testing::ElementsAre;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

class GuestFilesTest : public GuestTest {
 protected:
  GuestFilesTest() {
    char name[] = "/tmp/atoll-files-XXXXXX";
    root_ = ::mkdtemp(name);
    fs::permissions(root_, fs::perms::all);
  }
  ~GuestFilesTest() override { fs::remove_all(root_); }

  Files& files() { return connection()->files(); }
  std::string at(std::string_view name) const { return fmt::format("{}/{}", root_, name); }
  void put(std::string_view name, std::string_view text) { std::ofstream(at(name)) << text; }

  Result<std::string> read(std::string path, std::uint64_t offset = 0,
                           std::optional<std::uint64_t> length = {}, std::string user = "") {
    const auto go = [](Files& files, std::string what, std::uint64_t from, std::optional<std::uint64_t> most,
                       std::string who) -> Task<std::string> {
      CO_TRY(const auto reader, co_await files.open_read(std::move(what), from, most, std::move(who)));
      std::string all;
      for (;;) {
        CO_TRY(const std::string piece, co_await reader->next());
        if (piece.empty()) co_return all;
        all += piece;
      }
    };
    return run(go(files(), std::move(path), offset, length, std::move(user)));
  }
  Result<FileInfo> write(std::string path, std::string text, WriteOptions options = {}) {
    const auto go = [](Files& files, std::string what, std::string bytes,
                       WriteOptions how) -> Task<FileInfo> {
      CO_TRY(const auto writer, co_await files.open_write(std::move(what), std::move(how)));
      CO_CHECK(co_await writer->write(std::move(bytes)));
      co_return co_await writer->finish();
    };
    return run(go(files(), std::move(path), std::move(text), std::move(options)));
  }
  std::vector<std::string> names(std::uint32_t depth) {
    auto listed = run(files().list(root_, depth, 1000, ""));
    std::vector<std::string> out;
    if (listed)
      for (const FileInfo& info : *listed) out.push_back(info.path.substr(root_.size() + 1));
    return out;
  }

  std::string root_;
};

TEST_F(GuestFilesTest, SaysWhatIsNotThere) {
  EXPECT_EQ(run(files().stat(at("no"), "")).error().code(), Code::not_found);
  EXPECT_EQ(run(files().stat(at("no"), "")).error().message(), at("no") + ": No such file or directory");
  EXPECT_EQ(read(at("no")).error().code(), Code::not_found);
  EXPECT_EQ(run(files().remove(at("no"), Recursive::yes, "")).error().code(), Code::not_found);
  EXPECT_EQ(run(files().list(at("no"), 1, 10, "")).error().code(), Code::not_found);
  EXPECT_EQ(run(files().watch(at("no"), Recursive::no, "")).error().code(), Code::not_found);
  EXPECT_EQ(run(files().move(at("no"), at("b"), "", Overwrite::no)).error().code(), Code::not_found);
  EXPECT_EQ(run(files().chmod(at("no"), 0600, "")).error().code(), Code::not_found);
}

TEST_F(GuestFilesTest, RefusesPathsThatAreNone) {
  const std::string odd[] = {"", "relative", std::string("/a\0b", 4), "/" + std::string(5000, 'x')};
  for (const std::string& path : odd)
    EXPECT_EQ(run(files().stat(path, "")).error().code(), Code::invalid_argument);
  EXPECT_EQ(run(files().stat("/" + std::string(300, 'x'), "")).error().code(), Code::too_large);
  EXPECT_EQ(run(files().stat("/", "who")).error().message(), "user 'who' does not exist");
}

TEST_F(GuestFilesTest, DoesNotOpenWhatIsNoFile) {
  ::mkfifo(at("fifo").c_str(), 0666);
  EXPECT_EQ(read(at("fifo")).error().code(), Code::invalid_argument);
  EXPECT_EQ(write(at("fifo"), "x").error().code(), Code::invalid_argument);
  EXPECT_EQ(read("/dev/zero").error().code(), Code::invalid_argument);
  EXPECT_EQ(read(root_).error().code(), Code::is_a_directory);
  EXPECT_EQ(write(root_, "x").error().code(), Code::is_a_directory);
  EXPECT_EQ(run(files().stat(at("fifo"), ""))->type, FileType::other);
}

TEST_F(GuestFilesTest, ChecksThePermissionsOfTheUser) {
  put("secret", "x");
  fs::permissions(at("secret"), fs::perms::owner_read);
  EXPECT_EQ(read(at("secret"), 0, {}, "nobody").error().code(), Code::permission_denied);
  EXPECT_EQ(read(at("secret")).value_or(""), "x");
  WriteOptions options;
  options.user = "nobody";
  EXPECT_EQ(write("/etc/atoll-test-denied", "x", options).error().code(), Code::permission_denied);
  EXPECT_EQ(run(files().remove("/etc/hostname", Recursive::no, "nobody")).error().code(),
            Code::permission_denied);
  EXPECT_EQ(run(files().chmod(at("secret"), 0777, "nobody")).error().code(), Code::permission_denied);
  const auto made = write(at("deep/er/file"), "mine", options);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->owner, "nobody");
  EXPECT_EQ(run(files().stat(at("deep"), ""))->owner, "nobody");
  // Afterwards the guest is root again.
  EXPECT_EQ(write(at("root"), "x")->owner, "root");
}

TEST_F(GuestFilesTest, WritesReadsAndDescribes) {
  const auto made = write(at("a/b.txt"), "hello");
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->name, "b.txt");
  EXPECT_EQ(made->path, at("a/b.txt"));
  EXPECT_EQ(made->size, 5U);
  EXPECT_EQ(made->mode, 0644U);
  EXPECT_EQ(made->type, FileType::file);
  EXPECT_EQ(read(at("a/b.txt")).value_or(""), "hello");
  EXPECT_EQ(read(at("a/b.txt"), 1, 3).value_or(""), "ell");
  EXPECT_EQ(read(at("a/b.txt"), 100).value_or("?"), "");
  WriteOptions more;
  more.append = true;
  EXPECT_EQ(write(at("a/b.txt"), " world", more)->size, 11U);
  EXPECT_EQ(write(at("a/b.txt"), "short")->size, 5U);
  WriteOptions strict;
  strict.create_parents = false;
  EXPECT_EQ(write(at("x/y/z"), "", strict).error().code(), Code::not_found);
  EXPECT_THAT(std::string(read("/proc/self/status").value_or("")), testing::HasSubstr("Name:"));
}

TEST_F(GuestFilesTest, CarriesLargeFiles) {
  std::string text(5U << 20, 'a');
  for (std::size_t i = 0; i < text.size(); i += 4096) text[i] = static_cast<char>('a' + (i / 4096) % 26);
  ASSERT_EQ(write(at("big"), text)->size, text.size());
  EXPECT_EQ(read(at("big")).value_or(""), text);
}

TEST_F(GuestFilesTest, FollowsLinksAndTellsThem) {
  put("file", "abc");
  fs::create_symlink("file", at("link"));
  fs::create_symlink("nowhere", at("dangling"));
  const auto connection = run(files().stat(at("link"), ""));
  EXPECT_EQ(connection->type, FileType::symlink);
  EXPECT_EQ(connection->target_type, FileType::file);
  EXPECT_EQ(connection->target, at("file"));
  EXPECT_EQ(connection->size, 3U);
  const auto dangling = run(files().stat(at("dangling"), ""));
  EXPECT_EQ(dangling->target_type, FileType::unknown);
  EXPECT_EQ(dangling->target, "");
  EXPECT_TRUE(run(files().remove(at("link"), Recursive::yes, "")));
  EXPECT_TRUE(fs::exists(at("file")));
}

// Whoever moves a tree out from under its removal gets in the way of nobody but that removal: a conflict, no
// passing failure.
TEST_F(GuestFilesTest, RemovingWhatIsRenamedIsAConflict) {
  std::atomic<bool> stop{false};
  fs::create_directories(at("elsewhere"));
  std::thread mover([&] {
    std::error_code ignored;
    while (!stop) {
      fs::rename(at("tree/a/b"), at("elsewhere/b"), ignored);
      fs::rename(at("elsewhere/b"), at("tree/a/b"), ignored);
    }
  });
  int conflicts = 0;
  for (int round = 0; round < 400 && conflicts == 0; ++round) {
    std::error_code ignored;
    fs::create_directories(at("tree/a/b/c"), ignored);
    for (int i = 0; i < 40; ++i) put("tree/a/b/c/" + std::to_string(i), "x");
    const auto removed = run(files().remove(at("tree"), Recursive::yes, ""));
    if (removed) continue;
    const Code code = removed.error().code();
    ASSERT_TRUE(code == Code::conflict || code == Code::not_empty || code == Code::not_found)
        << removed.error().message();
    conflicts += code == Code::conflict ? 1 : 0;
    if (code == Code::conflict) {
      EXPECT_THAT(removed.error().message(), testing::HasSubstr("moved"));
      EXPECT_EQ(row(code).http_status, 409);
    }
  }
  stop = true;
  mover.join();
  EXPECT_GT(conflicts, 0);
}

TEST_F(GuestFilesTest, ReplacesAttributesByPrefix) {
  WriteOptions options;
  options.attributes = std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}};
  options.attribute_prefix = "meta.";
  const auto made = write(at("x"), "", options);
  if (!made && made.error().code() == Code::unsupported) GTEST_SKIP() << "no attributes on this filesystem";
  ASSERT_TRUE(made) << made.error().message();
  options.attributes = std::map<std::string, std::string>{{"c", "3"}};
  const auto again = write(at("x"), "", options);
  EXPECT_EQ(again->attributes, (std::map<std::string, std::string>{{"user.meta.c", "3"}}));
}

TEST_F(GuestFilesTest, ListsSortedAndBounded) {
  fs::create_directories(at("b/c"));
  put("b/z", ""), put("b/c/d", ""), put("a", "");
  EXPECT_THAT(names(1), ElementsAre("a", "b"));
  EXPECT_THAT(names(2), ElementsAre("a", "b", "b/c", "b/z"));
  EXPECT_THAT(names(9), ElementsAre("a", "b", "b/c", "b/c/d", "b/z"));
  EXPECT_EQ(run(files().list(root_, 9, 4, "")).error().code(), Code::too_large);
  EXPECT_EQ(run(files().list(at("a"), 1, 4, "")).error().code(), Code::not_a_directory);
}

TEST_F(GuestFilesTest, ListsThousands) {
  for (int i = 0; i < 3000; ++i) put(fmt::format("file{:05}", i), "");
  const auto listed = run(files().list(root_, 1, 3000, ""));
  ASSERT_TRUE(listed) << listed.error().message();
  EXPECT_EQ(listed->size(), 3000U);
  EXPECT_EQ(listed->back().name, "file02999");
}

TEST_F(GuestFilesTest, MakesMovesCopiesRemoves) {
  EXPECT_EQ(run(files().make_directory(at("d/e/f"), ""))->type, FileType::directory);
  EXPECT_EQ(run(files().make_directory(at("d"), "")).error().code(), Code::already_exists);
  put("d/file", "text");
  fs::create_symlink("file", at("d/link"));
  EXPECT_EQ(run(files().copy(at("d"), at("new/copy"), "", Overwrite::no))->path, at("new/copy"));
  EXPECT_EQ(read(at("new/copy/file")).value_or(""), "text");
  EXPECT_TRUE(fs::is_symlink(at("new/copy/link")));
  EXPECT_TRUE(fs::is_directory(at("new/copy/e/f")));
  EXPECT_EQ(run(files().copy(at("d"), at("new/copy"), "", Overwrite::no)).error().code(),
            Code::already_exists);
  EXPECT_TRUE(run(files().copy(at("d"), at("new/copy"), "", Overwrite::yes)));
  EXPECT_EQ(run(files().copy(at("d"), at("d/e/inside"), "", Overwrite::no)).error().code(), Code::loop);
  EXPECT_EQ(run(files().move(at("d"), at("d/e/inside"), "", Overwrite::no)).error().code(), Code::loop);
  EXPECT_EQ(run(files().move(at("d/file"), at("new/copy/file"), "", Overwrite::no)).error().code(),
            Code::already_exists);
  EXPECT_TRUE(run(files().move(at("d/file"), at("new/copy/file"), "", Overwrite::yes)));
  EXPECT_FALSE(fs::exists(at("d/file")));
  EXPECT_EQ(run(files().remove(at("new"), Recursive::no, "")).error().code(), Code::not_empty);
  EXPECT_TRUE(run(files().remove(at("new"), Recursive::yes, "")));
  EXPECT_FALSE(fs::exists(at("new")));
  EXPECT_TRUE(run(files().chmod(at("d"), 0700, "")));
  EXPECT_EQ(run(files().stat(at("d"), ""))->mode, 0700U);
}

TEST_F(GuestFilesTest, MovesAcrossFilesystems) {
  put("file", "text");
  const std::string there = fmt::format("/dev/shm/atoll-files-{}", ::getpid());
  const auto moved = run(files().move(at("file"), there, "", Overwrite::no));
  ASSERT_TRUE(moved) << moved.error().message();
  EXPECT_EQ(read(there).value_or(""), "text");
  EXPECT_FALSE(fs::exists(at("file")));
  EXPECT_TRUE(run(files().remove(there, Recursive::no, "")));
}

TEST_F(GuestFilesTest, RemovesWhatIsDeeperThanAnyPath) {
  const auto made = execute(shell(fmt::format(
      "cd {} && python3 -c 'import os\nfor i in range(600): os.mkdir(\"d\"*20); os.chdir(\"d\"*20)'",
      root_)));
  ASSERT_TRUE(made->outcome.succeeded()) << made->err;
  const auto listed = run(files().list(root_, 100'000, 100'000, ""));
  ASSERT_TRUE(listed) << listed.error().message();
  EXPECT_LT(listed->size(), 600U);
  const auto removed = run(files().remove(at(std::string(20, 'd')), Recursive::yes, ""));
  EXPECT_TRUE(removed) << removed.error().message();
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(GuestFilesTest, WatchesDirectoriesThatComeLater) {
  fs::create_directory(at("old"));
  const auto go = [](Files& files, std::string root) -> Task<std::vector<std::string>> {
    CO_TRY(const auto watch, co_await files.watch(root, Recursive::yes, ""));
    fs::create_directories(root + "/new/deep");
    std::ofstream(root + "/new/deep/file") << "x";
    std::ofstream(root + "/old/file") << "x";
    fs::rename(root + "/old/file", root + "/old/renamed");
    fs::remove(root + "/old/renamed");
    std::vector<std::string> seen;
    constexpr std::string_view kWords[] = {"create", "write", "remove", "rename", "chmod"};
    while (std::ranges::find(seen, "remove old/renamed") == seen.end()) {
      CO_TRY(const auto events, co_await watch->next());
      for (const WatchEvent& event : events)
        seen.push_back(fmt::format("{} {}", kWords[static_cast<int>(event.type)], event.name));
    }
    co_return seen;
  };
  const auto seen = run(go(files(), root_));
  ASSERT_TRUE(seen) << seen.error().message();
  for (const char* wanted : {"create new", "create new/deep", "create new/deep/file", "create old/file",
                             "write old/file", "rename old/file", "create old/renamed", "remove old/renamed"})
    EXPECT_THAT(*seen, testing::Contains(wanted));
}

// A transfer that was begun and goes no further.
Task<void> break_off(Files& files, std::string path, std::size_t size, WriteOptions options = {}) {
  CO_TRY(const auto writer, co_await files.open_write(std::move(path), std::move(options)));
  std::string bytes(size, 'x');
  co_return co_await writer->write(std::move(bytes));
}

TEST_F(GuestFilesTest, AFileThatIsReplacedStaysTheSameFile) {
  put("file", "old");
  fs::permissions(at("file"), fs::perms::owner_all);
  fs::create_hard_link(at("file"), at("twin"));
  fs::create_symlink(at("file"), at("link"));
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(at("file").c_str(), &before), 0);
  for (const std::size_t size : {std::size_t{100}, std::size_t{1} << 20}) {
    ASSERT_TRUE(write(at("link"), std::string(size, 'n')));
    EXPECT_EQ(read(at("twin")).value_or(""), std::string(size, 'n'));
  }
  ASSERT_EQ(::stat(at("file").c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(before.st_mode, after.st_mode);
  EXPECT_TRUE(fs::is_symlink(at("link")));
  WriteOptions append;
  append.append = true;
  ASSERT_TRUE(write(at("file"), std::string(1U << 20, 'm'), append));
  EXPECT_EQ(read(at("file")).value_or(""), std::string(1U << 20, 'n') + std::string(1U << 20, 'm'));
}

TEST_F(GuestFilesTest, WhatBreaksOffIsTakenBack) {
  put("file", "old");
  fs::create_symlink(at("nothing"), at("dangling"));
  ASSERT_TRUE(run(files().make_directory(at("mine"), "nobody")));
  auto watch = run(files().watch(root_, Recursive::no, "root"));
  ASSERT_TRUE(watch);
  for (const std::size_t size : {std::size_t{100}, std::size_t{1} << 20}) {
    EXPECT_TRUE(run(break_off(files(), at("file"), size)));
    EXPECT_EQ(read(at("file")).value_or(""), "old");
  }
  EXPECT_TRUE(run((*watch)->poll())->empty()) << "nobody sees what waits";
  for (const char* name : {"new", "dangling"}) EXPECT_TRUE(run(break_off(files(), at(name), 1U << 20)));
  WriteOptions theirs;
  theirs.user = "nobody";
  EXPECT_TRUE(run(break_off(files(), at("mine/new"), 1U << 20, theirs)));
  EXPECT_THAT(names(2), testing::UnorderedElementsAre("file", "dangling", "mine"));
  EXPECT_TRUE(fs::is_symlink(at("dangling")));
}

// The name is another file's by then.
TEST_F(GuestFilesTest, OnlyWhatWasMadeIsTakenBack) {
  const auto go = [](Files& files, std::string path) -> Task<void> {
    WriteOptions options;
    CO_TRY(const auto writer, co_await files.open_write(path, std::move(options)));
    std::string half = "half";
    CO_CHECK(co_await writer->write(std::move(half)));
    fs::remove(path);
    std::ofstream(path) << "somebody else's";
    co_return Result<void>();
  };
  ASSERT_TRUE(run(go(files(), at("file"))));
  EXPECT_EQ(read(at("file")).value_or(""), "somebody else's");
}

TEST_F(GuestFilesTest, WhatDoesNotFitLeavesWhatWasThere) {
  fs::create_directory(at("small"));
  if (::mount("none", at("small").c_str(), "tmpfs", 0, "size=1m,mode=777") != 0) GTEST_SKIP() << "needs root";
  EXPECT_TRUE(write(at("small/kept"), std::string(600U << 10, 'k')));
  EXPECT_EQ(write(at("small/kept"), std::string(600U << 10, 'n')).error().code(), Code::no_space);
  EXPECT_EQ(read(at("small/kept")).value_or(""), std::string(600U << 10, 'k'));
  EXPECT_EQ(write(at("small/new"), std::string(600U << 10, 'n')).error().code(), Code::no_space);
  EXPECT_FALSE(fs::exists(at("small/new")));
  WriteOptions append;
  append.append = true;
  EXPECT_EQ(write(at("small/kept"), std::string(300U << 10, 'n'), append).error().code(), Code::no_space);
  EXPECT_EQ(fs::file_size(at("small/kept")), 600U << 10);
  ::umount2(at("small").c_str(), MNT_DETACH);
}

TEST_F(GuestFilesTest, AnAbandonedReaderCostsNothing) {
  put("file", std::string(1U << 20, 'x'));
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(run(files().open_read(at("file"), 0, {}, "")));
  EXPECT_EQ(read(at("file"))->size(), 1U << 20);
}

// What was done before poll() is in its answer: nothing has to be waited for, in a hundred rounds.
TEST_F(GuestFilesTest, PollsWhatWasDoneBefore) {
  auto watch = run(files().watch(root_, Recursive::no, "root"));
  ASSERT_TRUE(watch) << watch.error().message();
  EXPECT_TRUE(run((*watch)->poll())->empty());
  WriteOptions options;
  options.ownership = Ownership::hand_over;
  for (int round = 0; round < 100; ++round) {
    const std::string name = fmt::format("f{}", round);
    ASSERT_TRUE(write(at(name), "text", options));
    const auto seen = run((*watch)->poll());
    ASSERT_TRUE(seen);
    std::vector<WatchEventType> kinds;
    for (const WatchEvent& event : *seen) {
      EXPECT_EQ(event.name, name);
      kinds.push_back(event.type);
    }
    using enum WatchEventType;
    EXPECT_THAT(kinds, ElementsAre(create, chmod, WatchEventType::write)) << "round " << round;
  }
  // One that is there is handed over before it is emptied and written.
  ASSERT_TRUE(write(at("f0"), "other", options));
  const auto again = run((*watch)->poll());
  ASSERT_TRUE(again);
  ASSERT_EQ(again->size(), 2U);
  EXPECT_EQ(again->front().type, WatchEventType::chmod);
  EXPECT_EQ(again->back().type, WatchEventType::write);
}

// The rights of root are needed to hand anything over.
class HandOverTest : public GuestFilesTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can hand something over";
    fs::permissions(root_, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    options_.user = "nobody";
    options_.ownership = Ownership::hand_over;
  }
  WriteOptions options_;
};

TEST_F(HandOverTest, MakesWhatTheUserMayNot) {
  WriteOptions own = options_;
  own.ownership = Ownership::users;
  EXPECT_EQ(write(at("a/b/x"), "1", own).error().code(), Code::permission_denied);
  const auto made = write(at("a/b/x"), "1", options_);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->owner, "nobody");
  EXPECT_EQ(run(files().stat(at("a"), ""))->owner, "nobody");
  EXPECT_EQ(run(files().stat(at("a/b"), ""))->owner, "nobody");
  EXPECT_EQ(run(files().stat(root_, ""))->owner, "root");

  EXPECT_EQ(run(files().make_directory(at("d/e"), "nobody")).error().code(), Code::permission_denied);
  const auto directory = run(files().make_directory(at("d/e"), "nobody", Ownership::hand_over));
  ASSERT_TRUE(directory) << directory.error().message();
  EXPECT_EQ(directory->owner, "nobody");
  EXPECT_EQ(run(files().make_directory(at("d/e"), "nobody", Ownership::hand_over)).error().code(),
            Code::already_exists);
}

TEST_F(HandOverTest, TakesAFileThatIsRoots) {
  put("roots", "a longer text");
  fs::permissions(at("roots"), fs::perms::owner_all);
  const auto written = write(at("roots"), "short", options_);
  ASSERT_TRUE(written) << written.error().message();
  EXPECT_EQ(written->owner, "nobody");
  EXPECT_EQ(*read(at("roots")), "short");
}

TEST_F(HandOverTest, WhatBreaksOffIsTakenBack) {
  put("roots", "roots");
  EXPECT_TRUE(run(break_off(files(), at("roots"), 1U << 20, options_)));
  EXPECT_EQ(read(at("roots")).value_or(""), "roots");
  EXPECT_TRUE(run(break_off(files(), at("new"), 1U << 20, options_)));
  EXPECT_EQ(run(files().stat(at("new"), "")).error().code(), Code::not_found);
}

TEST_F(HandOverTest, FollowsNoLink) {
  put("secret", "keep");
  fs::permissions(at("secret"), fs::perms::owner_all);
  fs::create_directory(at("inner"));
  fs::permissions(at("inner"), fs::perms::owner_all);
  fs::create_symlink(at("secret"), at("link"));
  fs::create_symlink(at("inner"), at("way"));
  fs::create_hard_link(at("secret"), at("twin"));
  EXPECT_FALSE(write(at("link"), "gone", options_));
  EXPECT_FALSE(write(at("way/x"), "gone", options_));
  EXPECT_FALSE(write(at("twin"), "gone", options_));
  EXPECT_FALSE(run(files().make_directory(at("way/d"), "nobody", Ownership::hand_over)));
  EXPECT_EQ(*read(at("secret")), "keep");
  EXPECT_EQ(run(files().stat(at("secret"), ""))->owner, "root");
  EXPECT_TRUE(fs::is_empty(at("inner")));
}

}  // namespace
}  // namespace atl::sandbox
