#include "shell/regex/quick.h"

#include <gtest/gtest.h>

#include <random>

#include "shell/regex/regex.h"

namespace atl::shell {
namespace {

const std::vector<std::string> kPatterns = {
    "ab",           "a.b",        "a*b",           "ab*c",          "(ab|ba)c", "^a",
    "^ab*",         "b$",         "^a.*c$",        "[ab]c",         "[^ab]c",   "a{2}b",
    "a{1,2}b",      "(a|b)(b|c)", "a?b?c?a",       "[[:alpha:]]+b", "a\\.b",    "a|^b|c$",
    "(ab|a).*c",    "\\bab",      "ab\\b",         "a\\w+c",        "^$",       "a+",
    "[a-c]*[xy]",   "aa?bb?[bc]", "(a|ab)(c|bcd)", "c.{2}b",        "x|a{3}",   "[]a]b",
    "ab[[:digit:]]"};

std::string random_text(std::mt19937& random) {
  static constexpr std::string_view kLetters = "aaabbbccc.xy 1]";
  std::string text(random() % 14, ' ');
  for (char& c : text) c = kLetters[random() % kLetters.size()];
  return text;
}

TEST(Quick, says_what_re2_says) {
  std::mt19937 random(7);
  for (const std::string& pattern : kPatterns)
    for (bool ignore_case : {false, true})
      for (bool whole_line : {false, true}) {
        RegexOptions options;
        options.captures = false;
        options.ignore_case = ignore_case;
        options.whole_line = whole_line;
        auto slow = Regex::compile(pattern, Syntax::extended, options);
        options.quick = true;
        auto quick = Regex::compile(pattern, Syntax::extended, options);
        ASSERT_TRUE(slow && quick) << pattern;
        for (int i = 0; i < 600; ++i) {
          std::string text = random_text(random);
          ASSERT_EQ(slow->matches(text), quick->matches(text)) << pattern << " on '" << text << "'";
          if (!slow->matches(text)) continue;
          std::string_view required = quick->required();
          ASSERT_NE(text.find(required), std::string::npos)
              << pattern << " on '" << text << "' without " << required;
          ASSERT_TRUE(!quick->required_at_start() || text.starts_with(required))
              << pattern << " on '" << text << "'";
        }
      }
}

TEST(Quick, lines_are_found_as_one_by_one) {
  std::mt19937 random(8);
  for (const std::string& pattern : kPatterns) {
    RegexOptions options;
    options.captures = false;
    auto line = Regex::compile(pattern, Syntax::extended, options);
    options.lines = true;
    auto lines = Regex::compile(pattern, Syntax::extended, options);
    ASSERT_TRUE(line && lines) << pattern;
    for (int i = 0; i < 300; ++i) {
      std::string one = random_text(random), two = random_text(random), text = one + "\n" + two + "\n";
      Regex::Span span;
      bool found = lines->search(text, 0, span) && span.begin < text.size();
      std::size_t expected = line->matches(one) ? 0 : line->matches(two) ? 1 : 2;
      std::size_t got = !found ? 2 : span.begin <= one.size() ? 0 : 1;
      ASSERT_EQ(expected, got) << pattern << " on '" << text << "'";
    }
  }
}

TEST(Quick, is_not_for_what_may_explode) {
  for (const char* pattern :
       {"(a*)*b", "a*a*b", "(a|aa)+b", "a?a?a?a?b", "(a|a)(a|a)(a|a)b", "a{2,}b*", "é*", "a{100}"})
    EXPECT_EQ(Quick::create(pattern, false), nullptr) << pattern;
}

TEST(Quick, leaves_long_and_other_texts_to_re2) {
  auto quick = Quick::create("a.b", false);
  ASSERT_NE(quick, nullptr);
  for (int i = 0; i < 100; ++i) quick->matches("axb");
  EXPECT_FALSE(quick
                   ->matches("a\xC3\xA4"
                             "b")
                   .has_value());
  EXPECT_FALSE(quick->matches(std::string(1000, 'a')).has_value());
}

TEST(Quick, what_a_match_must_contain) {
  auto text = [](std::string_view pattern) { return required_text(pattern).text; };
  EXPECT_EQ(text("abc.*de"), "abc");
  EXPECT_EQ(text("abc*de"), "ab");
  EXPECT_EQ(text("[0-9]{3}"), "");
  EXPECT_EQ(text("a{3}"), "");
  EXPECT_EQ(text("(abc)"), "");
  EXPECT_EQ(text("abc|d"), "");
  EXPECT_EQ(text("[[:alpha:]]x"), "x");
  EXPECT_EQ(text("[]x]yz"), "yz");
  EXPECT_EQ(text("a\\.b+c"), "a.b");
  EXPECT_TRUE(required_text("^abc").at_start);
  EXPECT_FALSE(required_text("^a*bc").at_start);
  EXPECT_FALSE(required_text("^.abc").at_start);
}

}  // namespace
}  // namespace atl::shell
