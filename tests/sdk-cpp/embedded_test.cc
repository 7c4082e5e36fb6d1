#include <atoll/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <stop_token>
#include <thread>

// The core without a daemon. The Python module keeps to the same contract (tests/sdk/test_native.py).
namespace embedded {
namespace {

atl::Path path(const char* text) {
  auto made = atl::Path::posix(text);
  EXPECT_TRUE(made) << text;
  return *made;
}

TEST(EmbeddedTest, FilesThatAreNot) {
  atl::VirtualFileSystem files;
  EXPECT_EQ(files.read(path("/none")).error().code(), atl::Code::not_found);
  EXPECT_EQ(files.read(path("/")).error().code(), atl::Code::is_a_directory);
  EXPECT_EQ(files.write(path("/a/b"), "x", {.parents = atl::vfs::Parents::must_exist}).error().code(),
            atl::Code::not_found);
  EXPECT_EQ(files.remove(path("/none")).error().code(), atl::Code::not_found);
  EXPECT_FALSE(atl::Path::posix(std::string("/a\0b", 4)));
  ASSERT_TRUE(files.write(path("/d/f"), "x"));
  EXPECT_EQ(files.remove_directory(path("/d")).error().code(), atl::Code::not_empty);
  ASSERT_TRUE(files.remove_all(path("/d")));
  EXPECT_FALSE(files.exists(path("/d")));
}

TEST(EmbeddedTest, AQuotaHolds) {
  atl::VirtualFileSystem files({.quota = {.bytes_max = 10}});
  EXPECT_TRUE(files.write(path("/f"), "0123456789"));
  EXPECT_EQ(files.append(path("/f"), "x").error().code(), atl::Code::no_space);
  EXPECT_EQ(files.read(path("/f"))->str(), "0123456789");
}

TEST(EmbeddedTest, ContentsAndNames) {
  atl::VirtualFileSystem files(atl::base_snapshot());
  const std::string bytes("\0\xff", 2);
  ASSERT_TRUE(files.write(path("/tmp/\xc3\xa4"), bytes));
  EXPECT_EQ(files.read(path("/tmp/\xc3\xa4"))->str(), bytes);
  ASSERT_TRUE(files.make_directory(path("/tmp/d/e"), 0755, atl::vfs::Parents::create));
  ASSERT_TRUE(files.make_symlink(path("/tmp/l"), "\xc3\xa4"));
  EXPECT_EQ(*files.read_link(path("/tmp/l")), "\xc3\xa4");
  EXPECT_TRUE(files.stat(path("/tmp/l"), atl::vfs::Follow::no)->is_symlink());
  EXPECT_EQ(*files.list_names(path("/tmp")), (std::vector<std::string>{"d", "l", "\xc3\xa4"}));
  EXPECT_EQ(files.copy(path("/tmp/\xc3\xa4"), path("/tmp/d"))->str(), "/tmp/d/\xc3\xa4");
  ASSERT_TRUE(files.rename(path("/tmp/d/\xc3\xa4"), path("/tmp/b")));
  ASSERT_TRUE(files.set_mode(path("/tmp/b"), 0600));
  EXPECT_EQ(files.stat(path("/tmp/b"))->mode, 0600U);
  EXPECT_EQ(files.stat(path("/tmp/b"))->size, 2U);
  EXPECT_GE(files.stats()->files, 3U);
}

TEST(EmbeddedTest, SnapshotsAndForks) {
  atl::VirtualFileSystem files;
  ASSERT_TRUE(files.write(path("/f"), "one"));
  atl::Snapshot before = files.snapshot();
  auto copy = files.fork();
  ASSERT_TRUE(files.write(path("/f"), "two"));
  EXPECT_EQ(copy->read(path("/f"))->str(), "one");
  ASSERT_TRUE(files.restore(before));
  EXPECT_EQ(files.read(path("/f"))->str(), "one");
}

// A directory of the machine for one test.
struct OwnDirectory {
  OwnDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll-embedded-XXXXXX").string();
    name = ::mkdtemp(pattern.data());
  }
  ~OwnDirectory() { std::filesystem::remove_all(name); }
  std::string name;
};

TEST(EmbeddedTest, StoragesKeepWhatWasWritten) {
  OwnDirectory own;
  auto keeps = [](const auto& open) {
    ASSERT_TRUE((*atl::VirtualFileSystem::open(*open()))->write(path("/a/b"), "kept"));
    EXPECT_EQ((*atl::VirtualFileSystem::open(*open()))->read(path("/a/b"))->str(), "kept");
  };
  keeps([&] { return atl::SqliteStorage::open(own.name + "/f.db"); });
  std::filesystem::create_directory(own.name + "/host");
  keeps([&] { return atl::HostStorage::open(own.name + "/host"); });
  EXPECT_FALSE(atl::HostStorage::open(own.name + "/none"));
}

// Keeps entries in memory, counts the batches that come, and can be out of order.
class OwnStorage final : public atl::FileStorage {
 public:
  atl::Result<std::optional<atl::FileEntry>> get(const atl::Path& file) const override {
    return memory_.get(file);
  }
  atl::Result<void> apply(const atl::vfs::Batch& batch) override {
    if (broken) return atl::fail(atl::Code::unavailable, "out of order");
    ++batches;
    return memory_.apply(batch);
  }
  atl::Result<std::vector<atl::Path>> paths_by_prefix(std::string_view prefix) const override {
    return memory_.paths_by_prefix(prefix);
  }
  atl::Result<std::vector<atl::Path>> children(const atl::Path& directory) const override {
    return memory_.children(directory);
  }
  atl::Result<std::vector<atl::FileEntry>> get_all() const override { return memory_.get_all(); }
  atl::Result<std::uint64_t> count() const override { return memory_.count(); }
  atl::Result<void> clear() override { return memory_.clear(); }

  std::atomic<bool> broken = false;
  std::atomic<int> batches = 0;

 private:
  atl::MemoryStorage memory_;
};

TEST(EmbeddedTest, AStorageOfOnesOwn) {
  auto own = std::make_shared<OwnStorage>();
  auto files = *atl::VirtualFileSystem::open(own);
  ASSERT_TRUE(files->write(path("/notes/today"), "It rained."));
  EXPECT_GE(own->batches, 1);
  EXPECT_EQ((*own->get(path("/notes/today")))->content.str(), "It rained.");
  own->broken = true;
  auto refused = files->write(path("/notes/today"), "No.");
  EXPECT_EQ(refused.error().code(), atl::Code::unavailable);
  EXPECT_NE(refused.error().message().find("out of order"), std::string::npos);
  EXPECT_EQ(files->read(path("/notes/today"))->str(), "It rained.");
  own->broken = false;
  atl::FileEntry entry;
  entry.path = path("/new");
  entry.content = atl::Content("x");
  ASSERT_TRUE(own->set(entry));
  EXPECT_EQ((*atl::VirtualFileSystem::open(own))->read(path("/new"))->str(), "x");
}

TEST(EmbeddedTest, AScriptThatFailsIsNoErrorOfOurs) {
  atl::VirtualFileSystem files(atl::base_snapshot());
  atl::SandboxShell shell(files);
  EXPECT_EQ(shell.execute("exit 3").status, 3);
  EXPECT_EQ(shell.execute("nothing-of-this-name").status, 127);
  EXPECT_NE(shell.execute("if").status, 0);
  EXPECT_EQ(shell.execute("X=1; cd /tmp").status, 0);
  EXPECT_EQ(shell.execute("echo $X $PWD").out, "1 /tmp\n");
  EXPECT_EQ(shell.execute("cat", "from outside").out, "from outside");
  EXPECT_EQ(shell.cwd(), "/tmp");
  EXPECT_EQ(shell.variable("X"), "1");
  shell.set_variable("Y", "z");
  EXPECT_EQ(shell.execute("echo $Y >&2").err, "z\n");
  atl::ShellOptions options;
  options.environment = {{"A", "b"}};
  options.cwd = "/tmp";
  EXPECT_EQ(atl::SandboxShell(files, options).execute("echo $A; pwd").out, "b\n/tmp\n");
}

TEST(EmbeddedTest, OutputWhileItRuns) {
  atl::VirtualFileSystem files(atl::base_snapshot());
  atl::SandboxShell shell(files);
  std::string seen;
  atl::shell::ExecuteOptions how;
  how.on_stdout = [&](std::string_view text) { seen += text; };
  EXPECT_EQ(shell.execute("echo a; echo b >&2", how).err, "b\n");
  EXPECT_EQ(seen, "a\n");
}

TEST(EmbeddedTest, LimitsAndCancellation) {
  atl::VirtualFileSystem files(atl::base_snapshot());
  atl::ShellOptions options;
  options.limits.commands = 1000;
  atl::SandboxShell shell(files, options);
  atl::Executed done = shell.execute("while :; do :; done");
  EXPECT_TRUE(done.limited);
  EXPECT_EQ(shell.execute("echo on").out, "on\n");
  atl::SandboxShell sleeping(files);
  std::stop_source stop;
  std::jthread other([&] { stop.request_stop(); });
  atl::shell::ExecuteOptions how;
  how.stop = stop.get_token();
  EXPECT_TRUE(sleeping.execute("sleep 600", how).canceled);
}

TEST(EmbeddedTest, ForkedShellsInThreads) {
  atl::VirtualFileSystem files(atl::base_snapshot());
  atl::SandboxShell base(files);
  base.execute("x=1; echo 0 > f");
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int number = 0; number < 8; ++number) {
      threads.emplace_back([&, number] {
        auto copy = files.fork();
        base.fork(*copy)->execute("echo $((x + " + std::to_string(number) + ")) > f");
        good += copy->read(path("/home/user/f"))->str() == std::to_string(number + 1) + "\n";
      });
    }
  }
  EXPECT_EQ(good, 8);
  EXPECT_EQ(base.execute("cat f").out, "0\n");
}

TEST(EmbeddedTest, Verdicts) {
  auto nothing = atl::shipped_policy("nothing");
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message().find("strict"), std::string::npos);
  atl::SecurityManager manager(*atl::shipped_policy("strict"));
  EXPECT_FALSE(manager.validate_python("import os; os.system('x')").allowed);
  EXPECT_FALSE(manager.validate_shell("rm -rf /").allowed);
  EXPECT_TRUE(manager.validate_javascript("1 + 1").allowed);
  EXPECT_EQ(manager.check_imports("import os, json", atl::policy::Language::python).size(), 2U);
  OwnDirectory own;
  std::ofstream(own.name + "/own.yaml") << "extends: strict\nnonsense: 1\n";
  auto wrong = atl::load_policy(own.name + "/own.yaml");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("own.yaml:2"), std::string::npos) << wrong.error().message();
  std::ofstream(own.name + "/own.yaml") << "extends: strict\n";
  atl::SecurityManager extended(*atl::load_policy(own.name + "/own.yaml"));
  EXPECT_FALSE(extended.validate_python("import os; os.system('x')").allowed);
}

}  // namespace
}  // namespace embedded
