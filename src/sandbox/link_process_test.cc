#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <csignal>

#include "sandbox/link_harness.h"

namespace atl::sandbox {
namespace {

using testing::HasSubstr;
using LinkProcessTest = LinkTest;
using namespace std::chrono_literals;

TEST_F(LinkProcessTest, SaysWhichCommandIsMissing) {
  const auto result = execute(command({"no-such-program"}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::not_found);
  EXPECT_EQ(result.error().message(), "command 'no-such-program' not found");
}

TEST_F(LinkProcessTest, SaysWhichDirectoryIsMissing) {
  auto spec = shell("true");
  spec.cwd = "/no/such/place";
  const auto result = execute(spec);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::invalid_argument);
  EXPECT_EQ(result.error().message(), "cwd '/no/such/place' does not exist");
}

TEST_F(LinkProcessTest, SaysWhichUserIsMissing) {
  auto spec = shell("true");
  spec.user = "nobody-here";
  const auto result = execute(spec);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message(), "user 'nobody-here' does not exist");
}

TEST_F(LinkProcessTest, RefusesNulBytesAndEmptyCommands) {
  EXPECT_EQ(execute(command({})).error().code(), Code::invalid_argument);
  EXPECT_EQ(execute(command({std::string("a\0b", 3)})).error().message(), "an argument contains a NUL byte");
  auto spec = shell("true");
  spec.env["A"] = std::string("a\0b", 3);
  EXPECT_EQ(execute(spec).error().message(), "a variable contains a NUL byte");
}

TEST_F(LinkProcessTest, TellsOutputAndExitCode) {
  const auto result = execute(shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(result) << result.error().message();
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->outcome.ending, Ending::exited);
  EXPECT_EQ(result->outcome.exit_code, 7);
}

TEST_F(LinkProcessTest, LooksUpThePathOfTheProcess) {
  EXPECT_EQ(execute(command({"echo", "hi"}))->out, "hi\n");
}

TEST_F(LinkProcessTest, TellsASignalNobodyOfOursSent) {
  const auto result = execute(shell("kill -SEGV $$"));
  EXPECT_EQ(result->outcome.ending, Ending::signaled);
  EXPECT_EQ(result->outcome.signal, SIGSEGV);
}

}  // namespace
}  // namespace atl::sandbox
