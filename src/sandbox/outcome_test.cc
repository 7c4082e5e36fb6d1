#include "sandbox/outcome.h"

#include <gtest/gtest.h>

#include "sandbox/interpreter.h"

namespace atl::sandbox {
namespace {

TEST(Outcome, ExitStatusFollowsTheShell) {
  EXPECT_EQ(exit_status({.ending = Ending::exited, .exit_code = 3}), 3);
  EXPECT_EQ(exit_status({.ending = Ending::signaled, .signal = 15}), 143);
  EXPECT_EQ(exit_status({.ending = Ending::timed_out, .signal = 9}), 124);
  EXPECT_EQ(exit_status({.ending = Ending::out_of_memory, .signal = 9}), 137);
  EXPECT_FALSE(Outcome{.ending = Ending::killed}.succeeded());
}

TEST(Language, AcceptsTheUsualSpellingsOnly) {
  EXPECT_EQ(parse_language("python3"), Language::python);
  EXPECT_EQ(parse_language("bash"), Language::shell);
  EXPECT_EQ(parse_language("ts"), Language::typescript);
  EXPECT_EQ(parse_language("Python"), std::nullopt);
  EXPECT_EQ(parse_language(""), std::nullopt);
}

}  // namespace
}  // namespace atl::sandbox
