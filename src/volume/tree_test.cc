#include "volume/tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace atl::volume {
namespace {

class TreeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-volume-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Tree tree(std::uint64_t bytes_max = 1 << 20) { return std::move(*Tree::open(directory_, bytes_max)); }
  // What a sandbox that has the volume mounted would do.
  std::string files() const { return directory_ + "/files"; }

  static void put(const Tree& tree, std::string_view path, std::string_view bytes) {
    auto incoming = tree.write(path, {}, Parents::create);
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
  EXPECT_EQ(code_of(t.write("/none/file", {}, Parents::must_exist)), Code::not_found);
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
  EXPECT_EQ(code_of(t.write("/link/new", {}, Parents::create)), Code::invalid_argument);
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
  auto over_directory = t.write("/d", {}, Parents::must_exist);
  ASSERT_TRUE(over_directory);
  EXPECT_EQ(code_of(over_directory->finish()), Code::invalid_argument);
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
  const Tree t = tree(64 << 10);
  auto incoming = t.write("/big", {}, Parents::must_exist);
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
  EXPECT_GT(*t.bytes_used(), 100U << 10);
  auto none = t.write("/one", {}, Parents::must_exist);
  ASSERT_TRUE(none);
  EXPECT_EQ(code_of(none->write("x")), Code::no_space);
}

}  // namespace
}  // namespace atl::volume
