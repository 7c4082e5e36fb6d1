#include "volume/tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "os/file.h"

namespace atl::volume {
namespace {

class TreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-volume-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
  }
  // What is deeper than files can be open is nothing for the standard library.
  void TearDown() override { ASSERT_TRUE(os::remove_tree(AT_FDCWD, directory_)); }

  Tree tree(Bounds bounds = {.bytes_max = 1 << 20, .inodes_max = 10'000}) {
    return std::move(*Tree::open(directory_, bounds));
  }
  // What a sandbox that has the volume mounted would do.
  std::string files() const { return directory_ + "/files"; }

  static void put(const Tree& tree, std::string_view path, std::string_view bytes) {
    if (const auto slash = path.rfind('/'); slash != std::string_view::npos && slash > 0) {
      ASSERT_TRUE(tree.make_directory(path.substr(0, slash), {}, Parents::create));
    }
    auto incoming = tree.write(path, {}, Existing::replace);
    ASSERT_TRUE(incoming) << incoming.error().message();
    ASSERT_TRUE(incoming->write(bytes));
    auto done = incoming->finish();
    ASSERT_TRUE(done) << done.error().message();
  }
  static std::string text(const Tree& tree, std::string_view path) {
    auto file = tree.read(path);
    if (!file) return "<" + file.error().message() + ">";
    char buffer[256];
    const ssize_t size = ::read(file->get(), buffer, sizeof buffer);
    return std::string(buffer, size < 0 ? 0 : static_cast<std::size_t>(size));
  }

  std::string directory_;
};

template <class T>
Code code_of(const Result<T>& result) {
  return result ? Code::internal : result.error().code();
}

TEST_F(TreeTest, KeepsWhatIsWritten) {
  const Tree t = tree();
  put(t, "/a/b/hello.txt", "hello");
  EXPECT_EQ(text(t, "a/b/hello.txt"), "hello");
  put(t, "/a/b/hello.txt", "again");
  EXPECT_EQ(text(t, "/a//b/./x/../hello.txt"), "again");
  auto info = t.stat("/a/b/hello.txt");
  ASSERT_TRUE(info);
  EXPECT_EQ(info->name, "hello.txt");
  EXPECT_EQ(info->path, "/a/b/hello.txt");
  EXPECT_EQ(info->type, EntryType::file);
  EXPECT_EQ(info->size, 5U);
  EXPECT_EQ(info->mode, 0644U);
  EXPECT_TRUE(t.stat("/"));
}

TEST_F(TreeTest, MissingThingsAreNotFound) {
  const Tree t = tree();
  EXPECT_EQ(code_of(t.stat("/none")), Code::not_found);
  EXPECT_EQ(code_of(t.stat("/none/below")), Code::not_found);
  EXPECT_EQ(code_of(t.list("/none", 1, 10)), Code::not_found);
  EXPECT_EQ(code_of(t.remove("/none")), Code::not_found);
  EXPECT_EQ(code_of(t.read("/none")), Code::not_found);
  EXPECT_EQ(code_of(t.change("/none", {.mode = 0600})), Code::not_found);
  EXPECT_EQ(code_of(t.write("/none/file", {}, Existing::replace)), Code::not_found);
  EXPECT_EQ(code_of(t.make_directory("/none/dir", {}, Parents::must_exist)), Code::not_found);
}

TEST_F(TreeTest, ListsInOrderToTheDepthAskedFor) {
  const Tree t = tree();
  put(t, "/b/two/deep", "1");
  put(t, "/a", "1");
  auto flat = t.list("/", 1, 100);
  ASSERT_TRUE(flat);
  ASSERT_EQ(flat->size(), 2U);
  EXPECT_EQ((*flat)[0].path, "/a");
  EXPECT_EQ((*flat)[1].path, "/b");
  auto deep = t.list("/", 3, 100);
  ASSERT_TRUE(deep);
  ASSERT_EQ(deep->size(), 4U);
  EXPECT_EQ((*deep)[2].path, "/b/two");
  EXPECT_EQ((*deep)[3].path, "/b/two/deep");
  EXPECT_EQ(code_of(t.list("/", 3, 3)), Code::too_large);
  EXPECT_EQ(code_of(t.list("/a", 1, 10)), Code::invalid_argument);
}

TEST_F(TreeTest, DirectoriesAreMadeOnce) {
  const Tree t = tree();
  EXPECT_TRUE(t.make_directory("/d", {.mode = 0700}, Parents::must_exist));
  EXPECT_EQ(t.stat("/d")->mode, 0700U);
  EXPECT_EQ(code_of(t.make_directory("/d", {}, Parents::must_exist)), Code::already_exists);
  EXPECT_TRUE(t.make_directory("/d", {}, Parents::create));
  EXPECT_TRUE(t.make_directory("/x/y/z", {}, Parents::create));
  put(t, "/f", "1");
  EXPECT_EQ(code_of(t.make_directory("/f", {}, Parents::create)), Code::already_exists);
  EXPECT_EQ(code_of(t.make_directory("/f/below", {}, Parents::create)), Code::invalid_argument);
}

TEST_F(TreeTest, NeverFollowsALink) {
  const Tree t = tree();
  const std::string outside = directory_ + "/outside";
  std::filesystem::create_directory(outside);
  std::ofstream(outside + "/secret") << "secret";
  std::filesystem::create_symlink(outside, files() + "/link");
  std::filesystem::create_symlink("/etc/passwd", files() + "/passwd");
  EXPECT_EQ(code_of(t.read("/link/secret")), Code::invalid_argument);
  EXPECT_EQ(code_of(t.read("/passwd")), Code::invalid_argument);
  EXPECT_EQ(code_of(t.list("/link", 2, 10)), Code::invalid_argument);
  EXPECT_EQ(code_of(t.change("/passwd", {.mode = 0777})), Code::invalid_argument);
  EXPECT_EQ(code_of(t.write("/link/new", {}, Existing::replace)), Code::invalid_argument);
  EXPECT_EQ(code_of(t.make_directory("/link/new", {}, Parents::create)), Code::invalid_argument);
  EXPECT_EQ(code_of(t.remove("/link/secret")), Code::invalid_argument);
  EXPECT_EQ(t.stat("/passwd")->type, EntryType::symlink);
  EXPECT_EQ(t.stat("/passwd")->target, "/etc/passwd");
  // Writing to the link's own name replaces the link; removing removes the link.
  put(t, "/passwd", "mine");
  EXPECT_EQ(text(t, "/passwd"), "mine");
  EXPECT_TRUE(t.remove("/link"));
  EXPECT_TRUE(std::filesystem::exists(outside + "/secret"));
}

TEST_F(TreeTest, OpensNothingButRegularFiles) {
  const Tree t = tree();
  ASSERT_EQ(::mkfifo((files() + "/pipe").c_str(), 0666), 0);
  EXPECT_EQ(code_of(t.read("/pipe")), Code::invalid_argument);
  EXPECT_EQ(code_of(t.change("/pipe", {.mode = 0600})), Code::invalid_argument);
  EXPECT_EQ(t.stat("/pipe")->type, EntryType::unknown);
  EXPECT_TRUE(t.make_directory("/d", {}, Parents::must_exist));
  EXPECT_EQ(code_of(t.read("/d")), Code::invalid_argument);
  EXPECT_EQ(code_of(t.write("/d", {}, Existing::replace)), Code::conflict);
  EXPECT_EQ(code_of(t.write("/", {}, Existing::replace)), Code::conflict);
  // It became one meanwhile.
  auto late = t.write("/late", {}, Existing::replace);
  ASSERT_TRUE(late);
  ASSERT_TRUE(t.make_directory("/late", {}, Parents::must_exist));
  EXPECT_EQ(code_of(late->finish()), Code::conflict);
}

TEST_F(TreeTest, ReplacesOnlyWhereThatWasSaid) {
  const Tree t = tree();
  put(t, "/kept", "first");
  EXPECT_EQ(code_of(t.write("/kept", {}, Existing::refuse)), Code::already_exists);
  EXPECT_EQ(text(t, "/kept"), "first");
  // Both began when there was none: the first to end wins, and the other's bytes are gone.
  auto one = t.write("/race", {}, Existing::refuse), two = t.write("/race", {}, Existing::refuse);
  ASSERT_TRUE(one && two);
  ASSERT_TRUE(one->write("one"));
  ASSERT_TRUE(two->write("two"));
  ASSERT_TRUE(one->finish());
  EXPECT_EQ(code_of(two->finish()), Code::already_exists);
  EXPECT_EQ(text(t, "/race"), "one");
  std::filesystem::create_symlink("nowhere", files() + "/link");
  EXPECT_EQ(code_of(t.write("/link", {}, Existing::refuse)), Code::already_exists);
}

TEST_F(TreeTest, DirectoriesMadeOnTheWayAreOwnedAlike) {
  const Tree t = tree();
  ASSERT_TRUE(t.make_directory("/a/b/c", {.mode = 0700}, Parents::create));
  for (const char* path : {"/a", "/a/b", "/a/b/c"}) EXPECT_EQ(t.stat(path)->mode, 0700U) << path;
}

TEST_F(TreeTest, RefusesBadPathsAndOwners) {
  const Tree t = tree();
  put(t, "/f", "1");
  EXPECT_EQ(code_of(t.stat(std::string_view("/a\0b", 4))), Code::invalid_argument);
  EXPECT_EQ(code_of(t.stat("/" + std::string(300, 'n'))), Code::too_large);
  EXPECT_EQ(code_of(t.stat(std::string(5000, '/'))), Code::too_large);
  EXPECT_EQ(t.stat("/../../f")->path, "/f");
  EXPECT_EQ(code_of(t.change("/f", {.uid = 70'000})), Code::invalid_argument);
  EXPECT_EQ(code_of(t.change("/f", {.mode = 04755})), Code::invalid_argument);
  EXPECT_EQ(code_of(t.remove("/")), Code::invalid_argument);
  EXPECT_EQ(code_of(t.remove("/f/..")), Code::invalid_argument);
  EXPECT_TRUE(t.change("/f", {.mode = 0600}));
  EXPECT_EQ(t.stat("/f")->mode, 0600U);
}

TEST_F(TreeTest, TheSizeIsBounded) {
  const Tree t = tree({.bytes_max = 64 << 10});
  auto incoming = t.write("/big", {}, Existing::refuse);
  ASSERT_TRUE(incoming);
  const std::string piece(16 << 10, 'x');
  Result<void> written;
  int pieces = 0;
  while ((written = incoming->write(piece)) && pieces < 100) ++pieces;
  EXPECT_EQ(code_of(written), Code::no_space);
  EXPECT_LE(pieces, 4);
  { auto dropped = std::move(*incoming); }
  EXPECT_EQ(code_of(t.stat("/big")), Code::not_found);
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/incoming"));
  // What sandboxes wrote counts.
  std::ofstream(files() + "/theirs") << std::string(128 << 10, 'y');
  EXPECT_GT(t.holding()->bytes, 100U << 10);
  auto none = t.write("/one", {}, Existing::refuse);
  EXPECT_EQ(code_of(none), Code::no_space);
  EXPECT_NE(none.error().message().find("may hold 65536"), std::string::npos) << none.error().message();
}

TEST_F(TreeTest, WhatIsOnItsWayCounts) {
  const Tree t = tree({.bytes_max = 64 << 10, .inodes_max = 100});
  auto first = t.write("/first", {}, Existing::refuse), second = t.write("/second", {}, Existing::refuse);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->write(std::string(48 << 10, 'x')));
  ASSERT_TRUE(second->write(std::string(48 << 10, 'x')));
  EXPECT_GE(t.holding()->bytes, 96U << 10);
  EXPECT_EQ(t.holding()->inodes, 2U);
  EXPECT_EQ(code_of(t.write("/third", {}, Existing::refuse)), Code::no_space);
  { auto given_up = std::move(*second); }
  auto third = t.write("/third", {}, Existing::refuse);
  ASSERT_TRUE(third);
  EXPECT_EQ(code_of(third->write(std::string(20 << 10, 'x'))), Code::no_space);
  ASSERT_TRUE(first->finish());
  EXPECT_EQ(t.holding()->inodes, 2U) << "the file and what is on its way";
}

TEST_F(TreeTest, CountsAtAnyDepth) {
  const Tree t = tree({.bytes_max = 1 << 30});
  const std::uint64_t before = t.holding()->inodes;
  // Deeper than a path can say and than files can be open, as a program inside makes it with mkdir and chdir.
  constexpr int depth = 3000;
  os::Fd at(::open(files().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < depth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "deeper", 0755), 0);
    at = os::Fd(::openat(at.get(), "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(at.is_open());
  }
  const os::Fd file(::openat(at.get(), "hidden", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  const std::string bytes(1 << 20, 'x');
  ASSERT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  const auto held = t.holding();
  ASSERT_TRUE(held) << held.error().message();
  EXPECT_GE(held->bytes, bytes.size());
  EXPECT_EQ(held->inodes, before + depth + 1);
  // Listed to its depth, or refused; never silently less.
  EXPECT_EQ(code_of(t.list("/", 4000, 10'000)), Code::too_large);
  EXPECT_EQ(t.list("/", 100, 10'000)->size(), 100U);
}

TEST_F(TreeTest, EmptyFilesCount) {
  const Tree t = tree({.bytes_max = 1 << 30, .inodes_max = 50});
  for (int i = 0; i < 49; ++i) std::ofstream(files() + "/empty" + std::to_string(i));
  EXPECT_TRUE(t.write("/fits", {}, Existing::refuse));
  const std::ofstream one_more(files() + "/one-more");
  auto refused = t.write("/over", {}, Existing::refuse);
  EXPECT_EQ(code_of(refused), Code::no_space);
  EXPECT_NE(refused.error().message().find("may hold 50"), std::string::npos) << refused.error().message();
  // Another name of the same file is no other file.
  std::filesystem::remove(files() + "/one-more");
  for (int i = 0; i < 20; ++i)
    std::filesystem::create_hard_link(files() + "/empty0", files() + "/name" + std::to_string(i));
  EXPECT_EQ(t.holding()->inodes, 49U);
}

TEST_F(TreeTest, ListingsHaveBoundsInCountAndDepth) {
  const Tree t = tree();
  put(t, "/a/file", "x");
  EXPECT_EQ(code_of(t.list("/a/file", 1, 100)), Code::invalid_argument);
  EXPECT_EQ(code_of(t.list("/missing", 1, 100)), Code::not_found);
  for (int i = 0; i < 5; ++i) std::ofstream(files() + "/a/" + std::to_string(i)) << "x";
  EXPECT_EQ(code_of(t.list("/a", 1, 5)), Code::too_large) << "in one directory";
  EXPECT_EQ(t.list("/a", 1, 6)->size(), 6U);
  EXPECT_EQ(code_of(t.list("/", 9, 6)), Code::too_large) << "over all of them";
  // Deeper than descriptors are spent on it.
  const os::Fd top = *os::open(files().c_str(), O_RDONLY | O_DIRECTORY);
  os::Fd at = *os::open_at(top.get(), ".", O_RDONLY | O_DIRECTORY);
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
    at = *os::open_at(at.get(), "d", O_RDONLY | O_DIRECTORY);
  }
  const auto deep = t.list("/d", 1000, 100'000);
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().code(), Code::too_large);
  EXPECT_EQ(deep.error().field(), "depth");
  EXPECT_EQ(t.list("/d", 200, 100'000)->size(), 200U);
}

TEST_F(TreeTest, WhatIsNeitherFileNorDirectoryIsShownAndLeftAlone) {
  const Tree t = tree();
  ASSERT_EQ(::mkfifo((files() + "/pipe").c_str(), 0644), 0);
  ASSERT_EQ(::symlink("/etc/passwd", (files() + "/link").c_str()), 0);
  EXPECT_EQ(t.stat("/pipe")->type, EntryType::unknown);
  const auto link = t.stat("/link");
  ASSERT_TRUE(link);
  EXPECT_EQ(link->type, EntryType::symlink);
  EXPECT_EQ(link->target, "/etc/passwd");
  for (const char* path : {"/pipe", "/link"}) {
    EXPECT_EQ(code_of(t.change(path, {.mode = 0600})), Code::invalid_argument) << path;
    EXPECT_EQ(code_of(t.read(path)), Code::invalid_argument) << path;
    EXPECT_EQ(code_of(t.write(path, {}, Existing::refuse)), Code::already_exists) << path;
    EXPECT_TRUE(t.remove(path)) << path;
  }
  EXPECT_TRUE(std::filesystem::exists("/etc/passwd"));
}

TEST_F(TreeTest, TheRootStaysAndIsNoFile) {
  const Tree t = tree();
  EXPECT_EQ(code_of(t.remove("/")), Code::invalid_argument);
  EXPECT_EQ(code_of(t.remove("a/..")), Code::invalid_argument);
  EXPECT_EQ(code_of(t.write("/", {}, Existing::replace)), Code::conflict);
  EXPECT_EQ(code_of(t.read("/")), Code::invalid_argument);
  const auto root = t.stat("/");
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "");
  EXPECT_EQ(root->path, "/");
}

// Somebody in a sandbox makes the file between the look and the end of an upload.
TEST_F(TreeTest, AFileThatWasMadeMeanwhileStays) {
  const Tree t = tree();
  auto incoming = t.write("/late", {}, Existing::refuse);
  ASSERT_TRUE(incoming);
  ASSERT_TRUE(incoming->write("ours"));
  std::ofstream(files() + "/late") << "theirs";
  EXPECT_EQ(code_of(incoming->finish()), Code::already_exists);
  EXPECT_EQ(text(t, "/late"), "theirs");
  auto second = t.write("/place", {}, Existing::replace);
  ASSERT_TRUE(second);
  std::filesystem::create_directory(files() + "/place");
  EXPECT_EQ(code_of(second->finish()), Code::conflict);
  // Uploads that did not end leave nothing.
  { auto given_up = t.write("/given-up", {}, Existing::replace); }
  incoming = t.write("/other", {}, Existing::replace);
  EXPECT_EQ(code_of(t.read("/given-up")), Code::not_found);
}

TEST_F(TreeTest, AnUploadEndsAtTheBoundAndNotBehindIt) {
  const Tree t = tree({.bytes_max = 64 << 10, .inodes_max = 10});
  auto incoming = t.write("/large", {}, Existing::replace);
  ASSERT_TRUE(incoming);
  EXPECT_TRUE(incoming->write(std::string(1 << 10, 'x')));
  EXPECT_EQ(code_of(incoming->write(std::string(64 << 10, 'x'))), Code::no_space);
  EXPECT_EQ(code_of(check_room({1, 11}, {.bytes_max = 0, .inodes_max = 10})), Code::no_space);
  EXPECT_TRUE(check_room({1ULL << 60, 1ULL << 40}, {.bytes_max = 0, .inodes_max = 0})) << "without bounds";
}

TEST_F(TreeTest, WhatCannotBeAVolumeIsRefused) {
  std::ofstream(directory_ + "/file") << "x";
  EXPECT_FALSE(Tree::open(directory_ + "/file/below", {}));
  std::filesystem::create_directory(directory_ + "/taken");
  std::ofstream(directory_ + "/taken/files") << "x";
  EXPECT_FALSE(Tree::open(directory_ + "/taken", {})) << "a file where the files should be";
  // Nobody can make it lead elsewhere.
  std::filesystem::create_directory(directory_ + "/bent");
  ASSERT_EQ(::symlink("/etc", (directory_ + "/bent/files").c_str()), 0);
  EXPECT_FALSE(Tree::open(directory_ + "/bent", {}));
}

}  // namespace
}  // namespace atl::volume
