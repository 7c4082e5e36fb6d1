// What every filesystem promises, over every backend and wrapper. A new one is one line in backends_test.h.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "vfs/backends_test.h"
#include "vfs/virtual_file_system.h"

namespace atl::vfs {
namespace {

using Names = std::vector<std::string>;

class FileSystemContract : public testing::TestWithParam<FileSystemBackend> {
 protected:
  void SetUp() override {
    place_ = GetParam().make();
    ASSERT_NE(place_, nullptr);
  }
  FileSystem& fs() { return place_->fs(); }
  Path p(std::string_view text) { return Path::posix(text).value(); }
  Code code(const auto& result) { return result ? Code::internal : result.error().code(); }
  std::string text(std::string_view path) {
    auto bytes = fs().read_bytes(p(path));
    return bytes ? *bytes : "<" + std::string(to_string(bytes.error().code())) + ">";
  }
  void put(std::string_view path, std::string_view bytes) { ASSERT_TRUE(fs().write(p(path), bytes)); }
  void mkdir(std::string_view path) { ASSERT_TRUE(fs().make_directory(p(path), 0755, Parents::create)); }
  Names names(std::string_view path) { return fs().list_names(p(path)).value_or(Names{"<error>"}); }

  std::unique_ptr<Place> place_;
};

TEST_P(FileSystemContract, RefusesToReadWhatIsNotThere) {
  mkdir("/d");
  put("/f", "x");
  EXPECT_EQ(code(fs().stat(p("/no"))), Code::not_found);
  EXPECT_EQ(code(fs().stat(p("/no/no"))), Code::not_found);
  EXPECT_EQ(code(fs().stat(p("/f/x"))), Code::not_a_directory);
  EXPECT_EQ(code(fs().read(p("/no"))), Code::not_found);
  EXPECT_EQ(code(fs().read(p("/d"))), Code::is_a_directory);
  EXPECT_EQ(code(fs().list(p("/no"))), Code::not_found);
  EXPECT_EQ(code(fs().list(p("/f"))), Code::not_a_directory);
  EXPECT_EQ(code(fs().read_link(p("/f"))), Code::invalid_argument);
  EXPECT_EQ(code(fs().read_link(p("/no"))), Code::not_found);
  EXPECT_EQ(code(fs().real_path(p("/no"))), Code::not_found);
  EXPECT_EQ(code(fs().open(p("/no"), {})), Code::not_found);
  EXPECT_EQ(code(fs().open(p("/d"), {})), Code::is_a_directory);
  EXPECT_EQ(code(fs().entry(p("/no"))), Code::not_found);
  EXPECT_FALSE(fs().exists(p("/no")));
  EXPECT_FALSE(fs().find(p("/f/x")));
}

TEST_P(FileSystemContract, RefusesToMakeWhatCannotBe) {
  mkdir("/d");
  put("/f", "x");
  EXPECT_EQ(code(fs().make_directory(p("/d"))), Code::already_exists);
  EXPECT_EQ(code(fs().make_directory(p("/f"))), Code::already_exists);
  EXPECT_EQ(code(fs().make_directory(p("/f"), 0755, Parents::create)), Code::already_exists);
  EXPECT_EQ(code(fs().make_directory(p("/no/d"))), Code::not_found);
  EXPECT_EQ(code(fs().make_directory(p("/f/d"))), Code::not_a_directory);
  EXPECT_EQ(code(fs().make_directory(p("/f/d/e"), 0755, Parents::create)), Code::not_a_directory);
  EXPECT_EQ(code(fs().write(p("/d"), "x")), Code::is_a_directory);
  EXPECT_EQ(code(fs().write(p("/"), "x")), Code::is_a_directory);
  EXPECT_EQ(code(fs().write(p("/f/x"), "x")), Code::not_a_directory);
  EXPECT_EQ(code(fs().write(p("/no/x"), "x", {.parents = Parents::must_exist})), Code::not_found);
  EXPECT_EQ(code(fs().write(p("/f"), "y", {.overwrite = Overwrite::no})), Code::already_exists);
  EXPECT_EQ(code(fs().make_symlink(p("/f"), "x")), Code::already_exists);
  EXPECT_EQ(code(fs().make_symlink(p("/no/l"), "x")), Code::not_found);
  EXPECT_EQ(code(fs().make_symlink(p("/l"), "")), Code::not_found);
  EXPECT_EQ(code(fs().make_symlink(p("/l"), std::string(5000, 'x'))), Code::too_large);
  EXPECT_EQ(code(fs().make_fifo(p("/f"))), Code::already_exists);
  EXPECT_EQ(text("/f"), "x");
  EXPECT_EQ(names("/"), (Names{"d", "f"}));
}

TEST_P(FileSystemContract, RefusesToRemoveWhatMustStay) {
  put("/d/f", "x");
  EXPECT_EQ(code(fs().remove_file(p("/no"))), Code::not_found);
  EXPECT_EQ(code(fs().remove_file(p("/d"))), Code::is_a_directory);
  EXPECT_EQ(code(fs().remove_directory(p("/no"))), Code::not_found);
  EXPECT_EQ(code(fs().remove_directory(p("/d"))), Code::not_empty);
  EXPECT_EQ(code(fs().remove_directory(p("/d/f"))), Code::not_a_directory);
  EXPECT_EQ(code(fs().remove_directory(p("/"))), Code::invalid_argument);
  EXPECT_EQ(code(fs().remove_all(p("/no"))), Code::not_found);
  EXPECT_EQ(code(fs().remove(p("/d"))), Code::not_empty);
  EXPECT_EQ(text("/d/f"), "x");
}

TEST_P(FileSystemContract, WritesAndReads) {
  put("/a/b/c.txt", "hello");
  EXPECT_EQ(text("/a/b/c.txt"), "hello");
  EXPECT_TRUE(fs().is_directory(p("/a/b")));
  EXPECT_TRUE(fs().is_file(p("/a/b/c.txt")));
  put("/a/b/c.txt", "");
  EXPECT_EQ(text("/a/b/c.txt"), "");
  EXPECT_TRUE(fs().append(p("/a/b/c.txt"), "one"));
  EXPECT_TRUE(fs().append(p("/a/b/c.txt"), "two"));
  EXPECT_EQ(text("/a/b/c.txt"), "onetwo");
  EXPECT_TRUE(fs().append(p("/new/file"), "x"));
  EXPECT_EQ(text("/new/file"), "x");
  std::string large(300'000, 'L');
  put("/large", large);
  EXPECT_EQ(text("/large"), large);
  auto info = fs().stat(p("/large")).value();
  EXPECT_EQ(info.size, large.size());
  EXPECT_EQ(info.type, Type::file);
  EXPECT_EQ(info.links, 1U);
}

TEST_P(FileSystemContract, ReadsAndWritesText) {
  std::vector<std::string> lines{"one", "", "zwei ü"};
  ASSERT_TRUE(fs().write_lines(p("/t"), lines));
  EXPECT_EQ(fs().read_lines(p("/t")).value(), lines);
  ASSERT_TRUE(fs().write_text(p("/u"), "é", Encoding::utf16_le, ByteOrderMark::write));
  EXPECT_EQ(text("/u"), std::string("\xff\xfe\xe9\0", 4));
  EXPECT_EQ(fs().read_text(p("/u")).value(), "é");
  EXPECT_EQ(fs().read_text(p("/u"), Encoding::utf8).error().code(), Code::invalid_argument);
  ASSERT_TRUE(fs().write_text(p("/big"), std::string(200'000, 'x')));
  EXPECT_EQ(fs().read_text(p("/big")).value().size(), 200'000U);
}

TEST_P(FileSystemContract, ListsInByteOrder) {
  for (auto name : {"b", "a", "B", "a1", "\xff", "a.txt", "aa"}) put("/dir/" + std::string(name), name);
  mkdir("/dir/sub");
  EXPECT_EQ(names("/dir"), (Names{"B", "a", "a.txt", "a1", "aa", "b", "sub", "\xff"}));
  auto listing = fs().list(p("/dir")).value();
  EXPECT_EQ(listing[6].type, Type::directory);
  EXPECT_EQ(listing[0].inode, fs().stat(p("/dir/B")).value().inode);
  auto entries = fs().list_entries(p("/dir")).value();
  ASSERT_EQ(entries.size(), 8U);
  EXPECT_EQ(entries[1].name(), "a");
  EXPECT_EQ(entries[1].content.str(), "a");
  EXPECT_TRUE(entries[6].is_directory());
  EXPECT_TRUE(fs().list(p("/dir/sub")).value().empty());
}

TEST_P(FileSystemContract, KeepsLargeDirectories) {
  for (int i = 0; i < 500; ++i) put(fmt::format("/many/{:04}", i * 7919 % 500), std::to_string(i));
  auto listing = fs().list(p("/many")).value();
  ASSERT_EQ(listing.size(), 500U);
  for (std::size_t i = 0; i < listing.size(); ++i) EXPECT_EQ(listing[i].name, fmt::format("{:04}", i));
  for (int i = 0; i < 500; i += 2) ASSERT_TRUE(fs().remove_file(p(fmt::format("/many/{:04}", i))));
  EXPECT_EQ(fs().list(p("/many")).value().size(), 250U);
  ASSERT_TRUE(fs().remove_all(p("/many")));
  EXPECT_EQ(fs().stats().value(), Stats{});
}

TEST_P(FileSystemContract, FollowsLinks) {
  put("/d/f", "x");
  ASSERT_TRUE(fs().make_symlink(p("/abs"), "/d"));
  ASSERT_TRUE(fs().make_symlink(p("/d/rel"), "../d/f"));
  ASSERT_TRUE(fs().make_symlink(p("/chain"), "abs/rel"));
  ASSERT_TRUE(fs().make_symlink(p("/up"), "../../../d/./f"));
  EXPECT_EQ(text("/abs/f"), "x");
  EXPECT_EQ(text("/d/rel"), "x");
  EXPECT_EQ(text("/chain"), "x");
  EXPECT_EQ(text("/up"), "x");
  EXPECT_EQ(fs().real_path(p("/chain")).value().str(), "/d/f");
  EXPECT_EQ(fs().real_path(p("/abs/rel")).value().str(), "/d/f");
  EXPECT_EQ(fs().read_link(p("/chain")).value(), "abs/rel");
  EXPECT_EQ(fs().stat(p("/abs"), Follow::no).value().type, Type::symlink);
  EXPECT_EQ(fs().stat(p("/abs"), Follow::no).value().size, 2U);
  EXPECT_EQ(fs().stat(p("/abs")).value().type, Type::directory);
  put("/abs/new", "n");
  EXPECT_EQ(text("/d/new"), "n");
  put("/chain", "y");
  EXPECT_EQ(text("/d/f"), "y");
  ASSERT_TRUE(fs().remove_file(p("/abs")));
  EXPECT_EQ(text("/d/f"), "y");
}

TEST_P(FileSystemContract, KnowsDanglingLinksAndLoops) {
  ASSERT_TRUE(fs().make_symlink(p("/a"), "b"));
  ASSERT_TRUE(fs().make_symlink(p("/b"), "/a"));
  EXPECT_EQ(code(fs().stat(p("/a"))), Code::loop);
  EXPECT_EQ(code(fs().read(p("/a/x"))), Code::loop);
  EXPECT_EQ(code(fs().write(p("/a"), "x")), Code::loop);
  EXPECT_TRUE(fs().stat(p("/a"), Follow::no));
  ASSERT_TRUE(fs().make_symlink(p("/gone"), "nowhere"));
  EXPECT_EQ(code(fs().stat(p("/gone"))), Code::not_found);
  EXPECT_EQ(code(fs().open(p("/gone"), {.write = true, .create = true, .exclusive = true})),
            Code::already_exists);
  put("/gone", "made");
  EXPECT_EQ(text("/nowhere"), "made");
  put("/c0", "end");
  for (int i = 1; i <= 41; ++i)
    ASSERT_TRUE(fs().make_symlink(p(fmt::format("/c{}", i)), fmt::format("c{}", i - 1)));
  EXPECT_EQ(text("/c40"), "end");
  EXPECT_EQ(code(fs().read(p("/c41"))), Code::loop);
}

TEST_P(FileSystemContract, ResolvesDotDotLikeAInterpreter) {
  mkdir("/a/b");
  put("/a/f", "right");
  put("/f", "wrong");
  ASSERT_TRUE(fs().make_symlink(p("/l"), "a/b"));
  EXPECT_EQ(resolve(fs(), p("/"), "l/../f").value().str(), "/a/f");
  EXPECT_EQ(resolve(fs(), p("/a"), "../f").value().str(), "/f");
  EXPECT_EQ(resolve(fs(), p("/a"), "x..y").value().str(), "/a/x..y");
  EXPECT_EQ(resolve(fs(), p("/"), "no/../f").error().code(), Code::not_found);
  EXPECT_EQ(resolve(fs(), p("/"), "f/../f").error().code(), Code::not_a_directory);
}

TEST_P(FileSystemContract, RenamesLikePosix) {
  put("/f", "f");
  put("/g", "g");
  put("/d/x", "x");
  mkdir("/empty");
  EXPECT_EQ(code(fs().rename(p("/no"), p("/x"))), Code::not_found);
  EXPECT_EQ(code(fs().rename(p("/f"), p("/no/x"))), Code::not_found);
  EXPECT_EQ(code(fs().rename(p("/f"), p("/d"))), Code::is_a_directory);
  EXPECT_EQ(code(fs().rename(p("/d"), p("/f"))), Code::not_a_directory);
  EXPECT_EQ(code(fs().rename(p("/empty"), p("/d"))), Code::not_empty);
  EXPECT_EQ(code(fs().rename(p("/d"), p("/d/sub"))), Code::loop);
  EXPECT_EQ(code(fs().rename(p("/"), p("/d/x"))), Code::invalid_argument);
  EXPECT_TRUE(fs().rename(p("/f"), p("/f")));
  EXPECT_TRUE(fs().rename(p("/f"), p("/g")));
  EXPECT_EQ(text("/g"), "f");
  EXPECT_TRUE(fs().rename(p("/d"), p("/empty")));
  EXPECT_EQ(text("/empty/x"), "x");
  EXPECT_TRUE(fs().rename(p("/empty"), p("/moved")));
  EXPECT_EQ(names("/"), (Names{"g", "moved"}));
  ASSERT_TRUE(fs().make_symlink(p("/l"), "g"));
  EXPECT_TRUE(fs().rename(p("/l"), p("/l2")));
  EXPECT_EQ(fs().read_link(p("/l2")).value(), "g");
}

TEST_P(FileSystemContract, MovesByTheRulesOfNames) {
  put("/f", "f");
  put("/d/f", "old");
  mkdir("/e");
  EXPECT_EQ(code(fs().move(p("/no"), p("/x"))), Code::not_found);
  EXPECT_EQ(code(fs().move(p("/f"), p("/d"))), Code::already_exists);
  EXPECT_EQ(text("/d/f"), "old");
  EXPECT_EQ(fs().move(p("/f"), p("/f")).value().str(), "/f");
  EXPECT_EQ(fs().move(p("/d/f"), p("/d")).value().str(), "/d/f");
  EXPECT_EQ(fs().move(p("/f"), p("/d"), {.overwrite = Overwrite::yes}).value().str(), "/d/f");
  EXPECT_EQ(text("/d/f"), "f");
  EXPECT_EQ(fs().move(p("/d"), p("/e")).value().str(), "/e/d");
  EXPECT_EQ(text("/e/d/f"), "f");
  EXPECT_EQ(code(fs().move(p("/e"), p("/e/d"))), Code::loop);
  EXPECT_EQ(fs().move(p("/e"), p("/x"), {.into_directory = false}).value().str(), "/x");
  EXPECT_EQ(names("/"), Names{"x"});
}

TEST_P(FileSystemContract, CopiesFilesAndTrees) {
  put("/s/f", "f");
  put("/s/sub/g", "g");
  ASSERT_TRUE(fs().make_symlink(p("/s/link"), "f"));
  mkdir("/t");
  EXPECT_EQ(code(fs().copy(p("/no"), p("/x"))), Code::not_found);
  EXPECT_EQ(code(fs().copy(p("/s/f"), p("/no/x"))), Code::not_found);
  EXPECT_EQ(code(fs().copy(p("/s/f"), p("/s/f"))), Code::invalid_argument);
  EXPECT_EQ(code(fs().copy(p("/s"), p("/s/sub"))), Code::loop);
  EXPECT_EQ(code(fs().copy(p("/s"), p("/s"), {.into_directory = false})), Code::loop);
  EXPECT_EQ(fs().copy(p("/s"), p("/t")).value().str(), "/t/s");
  EXPECT_EQ(text("/t/s/sub/g"), "g");
  EXPECT_EQ(fs().read_link(p("/t/s/link")).value(), "f");
  EXPECT_NE(fs().stat(p("/t/s/f")).value().inode, fs().stat(p("/s/f")).value().inode);
  EXPECT_EQ(code(fs().copy(p("/s"), p("/t"))), Code::already_exists);
  put("/s/f", "changed");
  put("/t/s/other", "stays");
  EXPECT_EQ(text("/t/s/f"), "f");
  EXPECT_TRUE(fs().copy(p("/s"), p("/t"), {.overwrite = Overwrite::yes}));
  EXPECT_EQ(text("/t/s/f"), "changed");
  EXPECT_EQ(text("/t/s/other"), "stays");
  EXPECT_EQ(fs().copy(p("/s/link"), p("/copy"), {.follow = Follow::yes}).value().str(), "/copy");
  EXPECT_EQ(fs().stat(p("/copy"), Follow::no).value().type, Type::file);
  EXPECT_EQ(code(fs().copy(p("/s"), p("/copy"), {.overwrite = Overwrite::yes})), Code::not_a_directory);
  EXPECT_EQ(code(fs().copy(p("/copy"), p("/s"), {.overwrite = Overwrite::yes, .into_directory = false})),
            Code::is_a_directory);
}

TEST_P(FileSystemContract, LinksHard) {
  put("/f", "one");
  mkdir("/d");
  EXPECT_EQ(code(fs().make_link(p("/no"), p("/x"))), Code::not_found);
  EXPECT_EQ(code(fs().make_link(p("/d"), p("/x"))), Code::permission_denied);
  EXPECT_EQ(code(fs().make_link(p("/f"), p("/d"))), Code::already_exists);
  ASSERT_TRUE(fs().make_link(p("/f"), p("/d/g")));
  EXPECT_EQ(fs().stat(p("/f")).value().inode, fs().stat(p("/d/g")).value().inode);
  EXPECT_EQ(fs().stat(p("/f")).value().links, 2U);
  put("/d/g", "two");
  EXPECT_EQ(text("/f"), "two");
  EXPECT_EQ(fs().stats().value().bytes, 3U);
  EXPECT_TRUE(fs().rename(p("/f"), p("/d/g")));
  EXPECT_TRUE(fs().exists(p("/f")));
  ASSERT_TRUE(fs().make_link(p("/f"), p("/h")));
  EXPECT_EQ(fs().stat(p("/h")).value().links, 3U);
  ASSERT_TRUE(fs().remove_all(p("/d")));
  ASSERT_TRUE(fs().remove_file(p("/f")));
  EXPECT_EQ(text("/h"), "two");
  EXPECT_EQ(fs().stat(p("/h")).value().links, 1U);
  ASSERT_TRUE(fs().remove_file(p("/h")));
  EXPECT_EQ(fs().stats().value(), Stats{});
}

TEST_P(FileSystemContract, KeepsAttributes) {
  put("/f", "x");
  ASSERT_TRUE(fs().make_symlink(p("/l"), "f"));
  auto before = fs().stat(p("/f")).value();
  ASSERT_TRUE(fs().set_mode(p("/l"), 04751));
  EXPECT_EQ(fs().stat(p("/f")).value().mode, 04751U);
  WallTime then(std::chrono::seconds(1'000'000'000) + Duration(123));
  ASSERT_TRUE(fs().set_times(p("/f"), {then, then + std::chrono::seconds(1)}));
  EXPECT_EQ(fs().stat(p("/f")).value().accessed, then);
  EXPECT_EQ(fs().stat(p("/f")).value().modified, then + std::chrono::seconds(1));
  ASSERT_TRUE(fs().set_times(p("/f"), {std::nullopt, then}));
  EXPECT_EQ(fs().stat(p("/f")).value().accessed, then);
  EXPECT_EQ(fs().stat(p("/f")).value().inode, before.inode);
  EXPECT_GE(fs().stat(p("/f")).value().changed, before.changed);
  EXPECT_EQ(code(fs().set_mode(p("/no"), 0)), Code::not_found);
  EXPECT_EQ(code(fs().set_times(p("/no"), {})), Code::not_found);
  EXPECT_EQ(code(fs().set_owner(p("/no"), 1, 1)), Code::not_found);
  if (place_->may_change_owner()) {
    ASSERT_TRUE(fs().set_owner(p("/f"), 12, std::nullopt));
    EXPECT_EQ(fs().stat(p("/f")).value().uid, 12U);
    EXPECT_EQ(fs().stat(p("/f")).value().gid, before.gid);
  }
  ASSERT_TRUE(fs().touch(p("/f")));
  EXPECT_GT(fs().stat(p("/f")).value().modified, then);
  ASSERT_TRUE(fs().touch(p("/fresh")));
  EXPECT_EQ(text("/fresh"), "");
}

TEST_P(FileSystemContract, OpensFiles) {
  EXPECT_EQ(code(fs().open(p("/no/f"), {.write = true, .create = true})), Code::not_found);
  auto file = fs().open(p("/f"), {.write = true, .create = true}).value();
  ASSERT_TRUE(file->write("hello world"));
  EXPECT_EQ(file->position(), 11U);
  EXPECT_EQ(file->seek(-5, Whence::end).value(), 6U);
  char buffer[16];
  EXPECT_EQ(file->read(buffer).value(), 5U);
  EXPECT_EQ(std::string_view(buffer, 5), "world");
  EXPECT_EQ(file->read(buffer).value(), 0U);
  EXPECT_EQ(code(file->seek(-1, Whence::start)), Code::invalid_argument);
  EXPECT_EQ(file->seek(1, Whence::current).value(), 12U);
  ASSERT_TRUE(file->write("!"));
  EXPECT_EQ(text("/f"), std::string("hello world\0!", 13));
  ASSERT_TRUE(file->truncate(5));
  ASSERT_TRUE(file->write_at(0, "J"));
  EXPECT_EQ(file->content().value().str(), "Jello");
  EXPECT_EQ(file->stat().value().size, 5U);
  ASSERT_TRUE(file->flush());
  ASSERT_TRUE(file->close());
  EXPECT_EQ(code(file->close()), Code::conflict);
  EXPECT_EQ(code(file->read(buffer)), Code::conflict);
  EXPECT_EQ(code(fs().open(p("/f"), {.write = true, .create = true, .exclusive = true})),
            Code::already_exists);
  auto reader = fs().open_read(p("/f")).value();
  EXPECT_EQ(code(reader->write("x")), Code::permission_denied);
  auto writer = fs().open_write(p("/deep/er/f")).value();
  EXPECT_EQ(code(writer->read(buffer)), Code::permission_denied);
  ASSERT_TRUE(fs().open(p("/f"), {.write = true, .truncate = true}));
  EXPECT_EQ(text("/f"), "");
}

TEST_P(FileSystemContract, AppendsAtTheEndWhateverHappens) {
  auto one = fs().open_write(p("/log"), true).value();
  auto two = fs().open_write(p("/log"), true).value();
  ASSERT_TRUE(one->write("1"));
  ASSERT_TRUE(two->write("22"));
  ASSERT_TRUE(one->write("3"));
  EXPECT_EQ(text("/log"), "1223");
  put("/log", "");
  ASSERT_TRUE(two->write("4"));
  EXPECT_EQ(text("/log"), "4");
}

TEST_P(FileSystemContract, KeepsOpenFilesThroughRenameAndRemoval) {
  put("/d/f", "abc");
  auto file = fs().open(p("/d/f"), {.write = true}).value();
  ASSERT_TRUE(fs().rename(p("/d"), p("/e")));
  ASSERT_TRUE(file->write("X"));
  EXPECT_EQ(text("/e/f"), "Xbc");
  put("/e/f", "other");
  EXPECT_EQ(file->content().value().str(), "other");
  put("/new", "replaces");
  ASSERT_TRUE(fs().rename(p("/new"), p("/e/f")));
  EXPECT_EQ(file->content().value().str(), "other");
  EXPECT_EQ(file->stat().value().links, 0U);
  ASSERT_TRUE(file->write_at(0, "O"));
  EXPECT_EQ(text("/e/f"), "replaces");
  EXPECT_EQ(file->content().value().str(), "Other");
  auto second = fs().open(p("/e/f"), {.write = true}).value();
  ASSERT_TRUE(fs().remove_all(p("/e")));
  ASSERT_TRUE(second->write("R"));
  EXPECT_EQ(second->content().value().str(), "Replaces");
  EXPECT_EQ(names("/"), Names{});
}

TEST_P(FileSystemContract, KeepsFifos) {
  ASSERT_TRUE(fs().make_fifo(p("/pipe"), 0600));
  EXPECT_EQ(fs().stat(p("/pipe")).value().type, Type::fifo);
  EXPECT_EQ(code(fs().read(p("/pipe"))), Code::invalid_argument);
  EXPECT_EQ(code(fs().open(p("/pipe"), {.write = true})), Code::invalid_argument);
  ASSERT_TRUE(fs().copy(p("/pipe"), p("/pipe2")));
  EXPECT_EQ(fs().list(p("/")).value()[1].type, Type::fifo);
  ASSERT_TRUE(fs().remove(p("/pipe")));
}

TEST_P(FileSystemContract, CountsWhatItHolds) {
  EXPECT_EQ(fs().stats().value(), Stats{});
  put("/a/b/f", "12345");
  put("/a/g", "123");
  EXPECT_EQ(fs().stats().value(), (Stats{8, 2, 2}));
  put("/a/g", "1");
  ASSERT_TRUE(fs().append(p("/a/g"), "22"));
  EXPECT_EQ(fs().stats().value(), (Stats{8, 2, 2}));
  ASSERT_TRUE(fs().copy(p("/a"), p("/c")));
  EXPECT_EQ(fs().stats().value(), (Stats{16, 4, 4}));
  EXPECT_EQ(fs().stats().value().nodes(), 8U);
  ASSERT_TRUE(fs().remove_all(p("/a")));
  EXPECT_EQ(fs().stats().value(), (Stats{8, 2, 2}));
  ASSERT_TRUE(fs().remove_all(p("/")));
  EXPECT_EQ(fs().stats().value(), Stats{});
  EXPECT_EQ(names("/"), Names{});
}

TEST_P(FileSystemContract, IsStillThereAfterReopening) {
  put("/d/f", "kept");
  ASSERT_TRUE(fs().set_mode(p("/d/f"), 0640));
  ASSERT_TRUE(fs().make_symlink(p("/l"), "d/f"));
  ASSERT_TRUE(fs().make_fifo(p("/pipe")));
  put("/gone", "x");
  ASSERT_TRUE(fs().remove_file(p("/gone")));
  ASSERT_TRUE(fs().rename(p("/d"), p("/e")));
  ASSERT_TRUE(fs().make_symlink(p("/d"), "e"));
  auto file = fs().open_write(p("/h"), true).value();
  ASSERT_TRUE(file->write("handle"));
  ASSERT_TRUE(file->close());
  WallTime modified = fs().stat(p("/e/f")).value().modified;
  auto before = fs().stats().value();
  if (!place_->reopen()) return;
  EXPECT_EQ(names("/"), (Names{"d", "e", "h", "l", "pipe"}));
  EXPECT_EQ(text("/l"), "kept");
  EXPECT_EQ(text("/h"), "handle");
  EXPECT_EQ(fs().stat(p("/e/f")).value().mode, 0640U);
  EXPECT_EQ(fs().stat(p("/e/f")).value().modified, modified);
  EXPECT_EQ(fs().stats().value(), before);
}

TEST_P(FileSystemContract, IsConsistentForManyThreads) {
  put("/d/a", "0");
  put("/d/b", "0");
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      while (!stop) {
        auto names_now = fs().list_names(p("/"));
        if (!names_now || names_now->size() != 1) ++wrong;
        auto listing = fs().list(p("/d"));
        if (listing && listing->size() != 2) ++wrong;
        if (!listing && listing.error().code() != Code::not_found) ++wrong;
      }
    });
  for (int i = 0; i < 25; ++i) {
    put("/d/a", std::to_string(i));
    ASSERT_TRUE(fs().rename(p("/d"), p("/e")));
    ASSERT_TRUE(fs().rename(p("/e"), p("/d")));
  }
  stop = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemContract, testing::ValuesIn(file_system_backends()),
                         [](const auto& backend) { return backend.param.name; });

}  // namespace
}  // namespace atl::vfs
