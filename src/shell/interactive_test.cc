#include "shell/interactive.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace atl::shell {
namespace {

struct Shell {
  vfs::VirtualFileSystem fs{base_snapshot()};
  SandboxShell shell;
  explicit Shell(ShellOptions options = {}) : shell(fs, std::move(options)) {}
  std::vector<std::string> words(std::string_view line) { return complete(shell, line).words; }
};

using Words = std::vector<std::string>;

TEST(NeedsMore, tells_the_middle_of_a_command_from_its_end) {
  for (const char* text : {"if true", "for i in 1 2; do", "echo 'a", "echo \"a", "echo $(", "cat <<E\nx",
                           "{ a;", "a |", "a &&", "case x in", "f() {", "echo a\\", "echo a\\\n"})
    EXPECT_TRUE(needs_more(text)) << text;
  for (const char* text :
       {"", "echo a", "if true; then a; fi", "echo 'a'", "cat <<E\nx\nE\n", "fi", "a | b", ")"})
    EXPECT_FALSE(needs_more(text)) << text;
}

TEST(Complete, names_commands_where_a_command_begins) {
  Shell s;
  s.shell.execute("zfunction() { :; }; shopt -s expand_aliases; alias zalias=ls");
  EXPECT_EQ(s.words("zf"), Words{"zfunction"});
  EXPECT_EQ(s.words("zal"), Words{"zalias"});
  EXPECT_EQ(s.words("sha25"), Words{"sha256sum"});
  for (const char* before : {"", "true; ", "true | ", "if ", "while ", "! ", "{ ", "(", "a && "})
    EXPECT_EQ(s.words(std::string(before) + "sha25"), Words{"sha256sum"}) << before;
  EXPECT_EQ(complete(s.shell, "true; sha25").word, 6U);
  EXPECT_EQ(s.words("whil"), Words{"while"});
  EXPECT_TRUE(s.words("nosuchcomman").empty());
}

TEST(Complete, names_the_embedders_commands) {
  static const Command own{"zzown", [](Invocation&) { return 0; }, ""};
  ShellOptions options;
  options.commands.push_back(&own);
  Shell s(options);
  EXPECT_EQ(s.words("zzo"), Words{"zzown"});
}

TEST(Complete, names_paths_elsewhere) {
  Shell s;
  s.shell.execute("mkdir -p dir/sub; touch dir/file 'dir/a b' .hidden dog \"it's\"");
  EXPECT_EQ(s.words("cat d"), (Words{"dir/", "dog"}));
  EXPECT_EQ(s.words("cat dir/"), (Words{"dir/a\\ b", "dir/file", "dir/sub/"}));
  EXPECT_EQ(s.words("cat dir/a\\ "), Words{"dir/a\\ b"});
  EXPECT_EQ(s.words("cat > dir/f"), Words{"dir/file"});
  EXPECT_EQ(s.words("cat .h"), Words{".hidden"});
  EXPECT_EQ(s.words("cat it"), Words{"it\\'s"});
  EXPECT_EQ(s.words("cat ~/do"), Words{"~/dog"});
  EXPECT_EQ(s.words("cat /home/us"), Words{"/home/user/"});
  EXPECT_EQ(s.words("./di"), Words{"./dir/"});
  EXPECT_TRUE(s.words("cat none/").empty());
  EXPECT_TRUE(s.words("cat zzz").empty());
}

TEST(Prompt, is_expanded_and_changes_nothing) {
  ShellOptions options;
  options.interactive = true;
  Shell s(options);
  EXPECT_EQ(s.shell.prompt("PS1"), "~ $ ");
  EXPECT_EQ(s.shell.prompt("PS2"), "> ");
  s.shell.execute("cd /tmp; PS1='[\\u \\W $((n = n + 1))]'; n=5");
  EXPECT_EQ(s.shell.prompt("PS1"), "[user tmp 6]");
  EXPECT_EQ(s.shell.variable("n"), "5");
}

TEST(History, holds_what_was_remembered) {
  Shell s;
  s.shell.remember("echo one\n");
  s.shell.remember("  \n");
  s.shell.remember("echo two");
  EXPECT_EQ(s.shell.execute("history").out, "    1  echo one\n    2  echo two\n");
}

TEST(Interactive, says_the_job_it_starts_and_lives_on_after_errors) {
  ShellOptions options;
  options.interactive = true;
  Shell s(options);
  EXPECT_EQ(s.shell.execute("sleep 0 & wait").err.substr(0, 4), "[1] ");
  EXPECT_FALSE(s.shell.execute("${x?missing}").exited);
  EXPECT_FALSE(s.shell.execute("fi").exited);
  EXPECT_TRUE(s.shell.execute("exit 4").exited);
  s.shell.execute("trap 'echo bye' EXIT");
  EXPECT_EQ(s.shell.finish().out, "bye\n");
  EXPECT_EQ(s.shell.finish().out, "");
}

}  // namespace
}  // namespace atl::shell
