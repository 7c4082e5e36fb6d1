#include "shell/shell.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include "shell/pattern.h"

namespace atl::shell {
namespace {

struct Shell {
  vfs::VirtualFileSystem fs{base_snapshot()};
  SandboxShell shell;
  explicit Shell(ShellOptions options = {}) : shell(fs, std::move(options)) {}
};

TEST(SandboxShell, reports_output_errors_and_status) {
  Shell s;
  Executed done = s.shell.execute("echo out; echo err >&2; exit 3");
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.err, "err\n");
  EXPECT_EQ(done.status, 3);
}

TEST(SandboxShell, keeps_state_between_calls) {
  Shell s;
  s.shell.execute("x=5; f() { echo f$1; }; mkdir -p d 2>/dev/null; cd /tmp");
  EXPECT_EQ(s.shell.execute("echo $x; f 1; pwd").out, "5\nf1\n/tmp\n");
}

TEST(SandboxShell, a_fork_goes_its_own_way) {
  Shell s;
  s.shell.execute("x=1; echo base > f");
  auto fs = s.fs.fork();
  auto copy = s.shell.fork(*fs);
  copy->execute("x=2; echo changed > f");
  EXPECT_EQ(s.shell.execute("echo $x; read l < f; echo $l").out, "1\nbase\n");
  EXPECT_EQ(copy->execute("echo $x; read l < f; echo $l").out, "2\nchanged\n");
}

TEST(SandboxShell, takes_nothing_from_the_host) {
  setenv("ATOLL_SECRET_OF_HOST", "leak", 1);
  Shell s;
  EXPECT_EQ(s.shell.execute("echo [$ATOLL_SECRET_OF_HOST]; export -p").out.find("leak"), std::string::npos);
  EXPECT_NE(s.shell.execute("read x < /etc/passwd").status, 0);
}

TEST(SandboxShell, reads_standard_input_across_commands) {
  Shell s;
  EXPECT_EQ(s.shell.execute("read a; read b; echo $b$a", "1\n2\n").out, "21\n");
}

TEST(SandboxShell, deep_nesting_is_an_error_not_a_crash) {
  Shell s;
  for (const char* open : {"$(", "(", "${x:-", "if ", "{ ", "[[ ! ", "((", "case x in x) "}) {
    std::string script;
    for (int i = 0; i < 10'000; ++i) script += open;
    Executed done = s.shell.execute(script);
    EXPECT_TRUE(done.limit == Limit::nesting || !done.err.empty()) << open;
  }
  EXPECT_EQ(s.shell.execute("echo ok").out, "ok\n");
}

TEST(SandboxShell, cancel_ends_a_running_script_soon) {
  Shell s;
  std::promise<void> begun;
  std::thread later([&] {
    begun.get_future().wait_for(std::chrono::seconds(20));
    s.shell.cancel();
  });
  ExecuteOptions options;
  options.on_stdout = [&](std::string_view) { begun.set_value(); };
  Executed done = s.shell.execute("echo begun; while :; do :; done", std::move(options));
  later.join();
  EXPECT_TRUE(done.limited);
  EXPECT_EQ(done.status, canceled_status);
  EXPECT_EQ(s.shell.execute("echo on").out, "on\n");
}

TEST(SandboxShell, a_pipeline_streams_and_ends_with_its_reader) {
  Shell s;
  EXPECT_EQ(s.shell.execute("while :; do echo y; done | { read a; read b; echo $a$b; }").out, "yy\n");
}

TEST(SandboxShell, embedders_commands_come_first) {
  static const Command hello{
      "hello", [](Invocation& call) { return call.out().write("hi " + call.args()[1] + "\n") ? 4 : 1; }, ""};
  ShellOptions options;
  options.commands.push_back(&hello);
  options.environment.emplace_back("PATH", "/bin");
  Shell s(options);
  Executed done = s.shell.execute("hello you");
  EXPECT_EQ(done.out, "hi you\n");
  EXPECT_EQ(done.status, 4);
}

TEST(Pattern, matches_as_bash_does) {
  auto matches = [](std::string_view pattern, std::string_view text) {
    return Pattern(pattern, {}).matches(text);
  };
  EXPECT_TRUE(matches("a*c", "abc"));
  EXPECT_FALSE(matches("a*c", "abd"));
  EXPECT_TRUE(matches("[[:digit:]]?", "5x"));
  EXPECT_TRUE(matches("!(a|b)", "c"));
  EXPECT_FALSE(matches("!(a|b)", "a"));
  EXPECT_TRUE(matches("+(ab|c)", "abcab"));
  EXPECT_TRUE(matches("\\*", "*"));
  EXPECT_TRUE(matches("?", "é"));
  EXPECT_FALSE(matches("[!a-c]", "b"));
}

TEST(Pattern, extended_forms_take_bounded_time) {
  std::string text(3000, 'a');
  EXPECT_FALSE(Pattern("*(a|aa|*(a))b", {}).matches(text));
  EXPECT_FALSE(Pattern("*a*a*a*a*a*a*a*b", {}).matches(text));
}

}  // namespace
}  // namespace atl::shell
