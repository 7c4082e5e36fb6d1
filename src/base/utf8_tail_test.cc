#include "base/utf8_tail.h"

#include <gtest/gtest.h>

namespace atl::utf8 {
namespace {

TEST(Utf8TailTest, WholeCharactersLeaveNothing) {
  for (const char* whole : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80z"})
    EXPECT_EQ(incomplete_tail(whole), 0U) << whole;
}

TEST(Utf8TailTest, ACharacterThatIsCutIsFound) {
  EXPECT_EQ(incomplete_tail("a\xc3"), 1U);
  EXPECT_EQ(incomplete_tail("a\xe2\x82"), 2U);
  EXPECT_EQ(incomplete_tail("\xf0\x9f\x98"), 3U);
}

TEST(Utf8TailTest, MalformedBytesAreNotWaitedFor) {
  EXPECT_EQ(incomplete_tail("\x80\x80\x80\x80"), 0U);
  EXPECT_EQ(incomplete_tail("\xc3\xa9\xa9\xa9\xa9"), 0U);
}

}  // namespace
}  // namespace atl::utf8
