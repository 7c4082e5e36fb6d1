#include <atoll/core.h>
#include <gtest/gtest.h>

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
  EXPECT_EQ(files.remove_directory(path("/none")).error().code(), atl::Code::not_found);
  EXPECT_FALSE(atl::Path::posix(std::string("/a\0b", 4)));
}

TEST(EmbeddedTest, AQuotaHolds) {
  atl::VirtualFileSystem files({.quota = {.bytes_max = 10}});
  EXPECT_TRUE(files.write(path("/f"), "0123456789"));
  EXPECT_EQ(files.append(path("/f"), "x").error().code(), atl::Code::no_space);
  EXPECT_EQ(files.read(path("/f"))->str(), "0123456789");
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

TEST(EmbeddedTest, AScriptThatFailsIsNoErrorOfOurs) {
  atl::VirtualFileSystem files(atl::base_snapshot());
  atl::SandboxShell shell(files);
  EXPECT_EQ(shell.execute("exit 3").status, 3);
  EXPECT_EQ(shell.execute("nothing-of-this-name").status, 127);
  EXPECT_NE(shell.execute("if").status, 0);
  EXPECT_EQ(shell.execute("X=1; cd /tmp").status, 0);
  EXPECT_EQ(shell.execute("echo $X $PWD").out, "1 /tmp\n");
  EXPECT_EQ(shell.execute("cat", "from outside").out, "from outside");
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

TEST(EmbeddedTest, Verdicts) {
  EXPECT_FALSE(atl::shipped_policy("nothing"));
  atl::SecurityManager manager(*atl::shipped_policy("strict"));
  EXPECT_FALSE(manager.validate_python("import os; os.system('x')").allowed);
  EXPECT_FALSE(manager.validate_shell("rm -rf /").allowed);
  EXPECT_TRUE(manager.validate_javascript("1 + 1").allowed);
  EXPECT_EQ(manager.check_imports("import os, json", atl::policy::Language::python).size(), 2U);
}

}  // namespace
}  // namespace embedded
