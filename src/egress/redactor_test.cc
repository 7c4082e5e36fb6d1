#include "egress/redactor.h"

#include <gtest/gtest.h>

namespace atl::egress {
namespace {

std::string through(const std::vector<std::string>& texts, const std::string& input, std::size_t piece) {
  Redactor redactor;
  for (const auto& text : texts) redactor.keep_out(text);
  std::string out;
  for (std::size_t at = 0; at < input.size(); at += piece) out += redactor.pass(input.substr(at, piece));
  return out + redactor.finish();
}

TEST(Redactor, CoversTextsHoweverTheyAreCut) {
  for (std::size_t piece = 1; piece < 40; ++piece) {
    EXPECT_EQ(through({"password", "pass12"}, "a password, pass12, passwor and pass1password.", piece),
              "a ********, ******, passwor and pass1********.")
        << piece;
    EXPECT_EQ(through({"aaaaab"}, "aaaaaaaaab", piece), "aaaa******") << piece;
  }
}

TEST(Redactor, PassesOnWhatCannotBecomeOne) {
  Redactor redactor;
  redactor.keep_out("password");
  EXPECT_EQ(redactor.pass("hello"), "hello");
  EXPECT_EQ(redactor.pass("pass"), "");
  EXPECT_EQ(redactor.pass("ing by"), "passing by");
  EXPECT_EQ(redactor.finish(), "");
}

TEST(Redactor, LeavesShortTextsAlone) {
  EXPECT_EQ(through({"abc"}, "abc abc", 2), "abc abc");
}

}  // namespace
}  // namespace atl::egress
