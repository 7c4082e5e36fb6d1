#include "vfs/text.h"

#include <gtest/gtest.h>

namespace atl::vfs {
namespace {

using namespace std::string_literals;

TEST(Text, RefusesMalformedBytes) {
  auto code = [](std::string_view bytes, Encoding e) { return decode(bytes, e).error().code(); };
  EXPECT_EQ(code("ab\xff", Encoding::utf8), Code::invalid_argument);
  EXPECT_NE(decode("ab\xff", Encoding::utf8).error().message().find("byte 2"), std::string::npos);
  EXPECT_EQ(code("\xed\xa0\x80", Encoding::utf8), Code::invalid_argument);
  EXPECT_EQ(code("a", Encoding::utf16_le), Code::invalid_argument);
  EXPECT_EQ(code("\x00\xd8"s, Encoding::utf16_le), Code::invalid_argument);
  EXPECT_EQ(code("\x00\xd8x\x00"s, Encoding::utf16_le), Code::invalid_argument);
  EXPECT_EQ(code("\x00\xdc"s, Encoding::utf16_le), Code::invalid_argument);
  EXPECT_EQ(code("caf\xe9", Encoding::ascii), Code::invalid_argument);
  EXPECT_EQ(encode("é", Encoding::ascii).error().code(), Code::invalid_argument);
  EXPECT_EQ(encode("€", Encoding::latin1).error().code(), Code::invalid_argument);
  EXPECT_EQ(encode("\xff", Encoding::utf8).error().code(), Code::invalid_argument);
}

TEST(Text, ConvertsBothWays) {
  const std::string text = "a é € \U0001F600 z";
  for (auto encoding : {Encoding::utf8, Encoding::utf16_le, Encoding::utf16_be}) {
    for (auto mark : {ByteOrderMark::none, ByteOrderMark::write}) {
      auto bytes = encode(text, encoding, mark).value();
      EXPECT_EQ(decode(bytes, encoding).value(), text);
      if (mark == ByteOrderMark::write) {
        EXPECT_EQ(decode(bytes, Encoding::detect).value(), text);
      }
    }
  }
  EXPECT_EQ(encode("é", Encoding::latin1).value(), "\xe9");
  EXPECT_EQ(decode("\xe9", Encoding::latin1).value(), "é");
  EXPECT_EQ(encode("é", Encoding::utf16_be).value(), "\x00\xe9"s);
  EXPECT_EQ(decode("abc", Encoding::ascii).value(), "abc");
  EXPECT_EQ(encode("abc", Encoding::detect).value(), "abc");
}

TEST(Text, KnowsNames) {
  EXPECT_EQ(parse_encoding("UTF-8").value(), Encoding::utf8);
  EXPECT_EQ(parse_encoding("Latin1").value(), Encoding::latin1);
  EXPECT_EQ(parse_encoding("utf-16be").value(), Encoding::utf16_be);
  EXPECT_EQ(parse_encoding("ebcdic").error().code(), Code::invalid_argument);
  for (auto e : {Encoding::detect, Encoding::utf8, Encoding::utf16_le, Encoding::utf16_be, Encoding::latin1,
                 Encoding::ascii})
    EXPECT_EQ(parse_encoding(to_string(e)).value(), e);
}

TEST(Text, SplitsLines) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(split_lines(""), Lines{});
  EXPECT_EQ(split_lines("a"), Lines{"a"});
  EXPECT_EQ(split_lines("a\n"), Lines{"a"});
  EXPECT_EQ(split_lines("a\r\nb\rc\n\nd"), (Lines{"a", "b", "c", "", "d"}));
  EXPECT_EQ(split_lines("\n"), Lines{""});
}

}  // namespace
}  // namespace atl::vfs
