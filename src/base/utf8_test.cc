#include "base/utf8.h"

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace atl::utf8 {
namespace {

struct Sample {
  std::string_view text;
  char32_t code;
};
constexpr Sample samples[] = {
    {"A", U'A'},
    {"\x7F", 0x7F},
    {"\xC2\x80", 0x80},
    {"\xDF\xBF", 0x7FF},
    {"\xE0\xA0\x80", 0x800},
    {"\xE2\x82\xAC", 0x20AC},
    {"\xEF\xBF\xBF", 0xFFFF},
    {"\xF0\x90\x80\x80", 0x10000},
    {"\xF4\x8F\xBF\xBF", 0x10FFFF},
};

TEST(Utf8, EncodesAndDecodesTheEdgesOfEveryLength) {
  for (const Sample& sample : samples) {
    std::string out;
    append(out, sample.code);
    EXPECT_EQ(out, sample.text);
    std::size_t length = 0;
    EXPECT_EQ(read(sample.text, length), sample.code);
    EXPECT_EQ(length, sample.text.size());
    EXPECT_EQ(sequence(sample.text), sample.text.size());
    EXPECT_EQ(well_formed_sequence(sample.text), sample.text.size());
  }
}

TEST(Utf8, EveryCharacterSurvivesARoundTrip) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code < 0xE000) continue;
    std::string text;
    append(text, code);
    std::size_t length = 0;
    ASSERT_EQ(read(text, length), code);
    ASSERT_EQ(length, text.size());
  }
}

TEST(Utf8, MalformedBytesAreOneReplacementEach) {
  for (std::string_view text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xC3", "\xFF"}) {
    std::size_t length = 0;
    EXPECT_EQ(read(text, length), replacement) << to_hex(text);
    EXPECT_EQ(length, 1U) << to_hex(text);
    EXPECT_EQ(read_length(text), 1U) << to_hex(text);
    EXPECT_EQ(well_formed_sequence(text), 0U) << to_hex(text);
    EXPECT_FALSE(is_utf8(text)) << to_hex(text);
  }
  std::size_t length = 7;
  EXPECT_EQ(read("", length), U'\0');
  EXPECT_EQ(length, 1U);
  EXPECT_EQ(well_formed_sequence(""), 0U);
}

TEST(Utf8, SequenceLooksAtTheShapeOnly) {
  EXPECT_EQ(sequence("\xED\xA0\x80"), 3U);  // a surrogate
  EXPECT_EQ(sequence("\xF4\x90\x80\x80"), 4U);
  EXPECT_EQ(sequence("\xE2\x82"), 1U);
  EXPECT_EQ(sequence("\xE2\x82Z"), 1U);
  EXPECT_EQ(sequence("\x80"), 1U);
  EXPECT_EQ(sequence("\xC1\x80"), 1U);
}

TEST(Utf8, CountsCharactersAndFindsThem) {
  const std::string_view text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x80z";
  EXPECT_EQ(length(text), 6U);
  EXPECT_EQ(count_starts(text), 5U);
  EXPECT_EQ(offset(text, 0), 0U);
  EXPECT_EQ(offset(text, 2), 3U);
  EXPECT_EQ(offset(text, 4), 10U);
  EXPECT_EQ(offset(text, 5), 11U);
  EXPECT_EQ(offset(text, 99), text.size());
}

TEST(Utf8, ChangesTheCaseOfLettersItKnows) {
  EXPECT_EQ(to_upper(std::string_view("stra\xC3\x9F"
                                      "e \xC3\xA9 \xCE\xB1 \xD1\x8F \x80")),
            "STRA\xC3\x9F"
            "E \xC3\x89 \xCE\x91 \xD0\xAF \x80");
  EXPECT_EQ(to_lower(std::string_view("\xC3\x89 \xCE\x91 \xD0\xAF Z")), "\xC3\xA9 \xCE\xB1 \xD1\x8F z");
  EXPECT_EQ(to_upper(char32_t{0xFF}), char32_t{0x178});
  EXPECT_EQ(to_lower(char32_t{0x178}), char32_t{0xFF});
}

TEST(Utf8Tail, WholeCharactersLeaveNothing) {
  for (const char* whole : {"", "a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80z"})
    EXPECT_EQ(incomplete_tail(whole), 0U) << whole;
}

TEST(Utf8Tail, ACharacterThatIsCutIsFound) {
  EXPECT_EQ(incomplete_tail("a\xc3"), 1U);
  EXPECT_EQ(incomplete_tail("a\xe2\x82"), 2U);
  EXPECT_EQ(incomplete_tail("\xf0\x9f\x98"), 3U);
}

TEST(Utf8Tail, MalformedBytesAreNotWaitedFor) {
  EXPECT_EQ(incomplete_tail("\x80\x80\x80\x80"), 0U);
  EXPECT_EQ(incomplete_tail("\xc3\xa9\xa9\xa9\xa9"), 0U);
}

}  // namespace
}  // namespace atl::utf8
