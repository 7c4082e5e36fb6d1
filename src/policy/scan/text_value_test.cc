#include "policy/scan/text_value.h"

#include <gtest/gtest.h>

#include "policy/scan/nfkc.h"
#include "policy/scan/shell_words.h"
#include "policy/scan/source.h"

namespace atl::policy {
namespace {

TEST(TextValue, PythonLiterals) {
  EXPECT_EQ(decode_python_literal("'a'"), "a");
  EXPECT_EQ(decode_python_literal("\"\"\"a\nb\"\"\""), "a\nb");
  EXPECT_EQ(decode_python_literal("r'\\n'"), "\\n");
  EXPECT_EQ(decode_python_literal("b'\\x41\\u0041'"), "A\\u0041");
  EXPECT_EQ(decode_python_literal(
                "'\\x41\\102\\u0043\\U00000044\\N{LATIN CAPITAL LETTER E}\\N{LOW LINE}\\N{SNOWMAN}\\N'"),
            "ABCDE_");
  EXPECT_EQ(decode_python_literal("'\\n\\t\\r\\b\\f\\v\\a\\\\\\'\\q\\\n'"), "\n\t\r\b\f\v\a\\'\\q");
  EXPECT_EQ(decode_python_literal("f'{{x}}'"), "{x}");
  EXPECT_EQ(decode_python_literal("'"), std::nullopt);
  EXPECT_EQ(decode_python_literal("abc"), std::nullopt);
  EXPECT_EQ(decode_python_literal("'\\ud800'"), "") << "a lone surrogate is no text";
}

TEST(TextValue, JavascriptAndShellEscapes) {
  EXPECT_EQ(decode_javascript("\\x41\\u0042\\u{43}\\104\\n\\q\\\nz"), "ABCD\nqz");
  EXPECT_EQ(decode_javascript("a\\"), "a\\");
  EXPECT_EQ(decode_ansi_c("\\x41\\102\\u0043\\U00000044\\n\\a\\e\\q"), "ABCD\n\a\x1b\\q");
}

TEST(TextValue, Numbers) {
  EXPECT_EQ(decode_number("42"), 42);
  EXPECT_EQ(decode_number("-0x2A"), -42);
  EXPECT_EQ(decode_number("0o52"), 42);
  EXPECT_EQ(decode_number("0b101010"), 42);
  EXPECT_EQ(decode_number("1_000"), 1000);
  EXPECT_EQ(decode_number("1.5"), std::nullopt);
  EXPECT_EQ(decode_number("99999999999999999999"), std::nullopt);
  EXPECT_EQ(decode_number(""), std::nullopt);
}

TEST(TextValue, Decoders) {
  EXPECT_EQ(decode_base64("aGk="), "hi");
  EXPECT_EQ(decode_base64("aG\nk"), "hi");
  EXPECT_EQ(decode_base64("_-8"), "\xFF\xEF");
  EXPECT_EQ(decode_base64("a*"), std::nullopt);
  EXPECT_EQ(decode_hex("68 69"), "hi");
  EXPECT_EQ(decode_hex("686"), std::nullopt);
  EXPECT_EQ(decode_hex("zz"), std::nullopt);
  EXPECT_EQ(decode_base32("NBUQ===="), "hi");
  EXPECT_EQ(decode_base32("1"), std::nullopt);
  EXPECT_EQ(decode_base85("XlV"), "hi");
  EXPECT_EQ(decode_base85("\""), std::nullopt);
  EXPECT_EQ(rot13("Uryyb"), "Hello");
  EXPECT_EQ(decode_percent("%68%69%u0021%zz"), "hi!%zz");
}

TEST(TextValue, Slices) {
  EXPECT_EQ(slice_text("hello", {}, {}, -1), "olleh");
  EXPECT_EQ(slice_text("hello", 1, 3, 1), "el");
  EXPECT_EQ(slice_text("hello", -3, {}, 2), "lo");
  EXPECT_EQ(slice_text("hello", 10, 20, 1), "");
  EXPECT_EQ(slice_text("hello", 3, 0, -2), "le");
  EXPECT_EQ(slice_text("", {}, {}, -1), "");
  EXPECT_EQ(slice_text("abc", {}, {}, 0), "");
  EXPECT_EQ(slice_text("abc", {}, {}, 9'000'000'000'000'000'000), "a");
  EXPECT_EQ(slice_text("a\xC3\xA9z", {}, {}, -1),
            "z\xC3\xA9"
            "a");
  EXPECT_EQ(character_at("abc", -1), "c");
  EXPECT_EQ(character_at("abc", 3), std::nullopt);
  EXPECT_EQ(reverse_text("a\xC3\xA9"),
            "\xC3\xA9"
            "a");
  EXPECT_EQ(replace_text("aXbX", "X", "--"), "a--b--");
  EXPECT_EQ(replace_text("a", "", "x"), "a");
}

TEST(Nfkc, LettersInDisguise) {
  EXPECT_EQ(normalize_identifier("plain_1"), "plain_1");
  EXPECT_EQ(normalize_identifier("\xEF\xBD\x85\xEF\xBD\x96\xEF\xBD\x81\xEF\xBD\x8C"), "eval");  // full width
  EXPECT_EQ(normalize_identifier("\xF0\x9D\x93\xAE\xF0\x9D\x93\xBF\xF0\x9D\x93\xAA\xF0\x9D\x93\xB5"),
            "eval");                                          // script
  EXPECT_EQ(normalize_identifier("\xEF\xAC\x81le"), "file");  // ligature
  EXPECT_EQ(normalize_identifier("o\xC5\xBF"), "os");         // long s
  EXPECT_EQ(normalize_identifier("\xC2\xAA\xC2\xBA"), "ao");
  EXPECT_EQ(normalize_identifier("x\xE2\x82\x82"), "x2");
  EXPECT_EQ(normalize_identifier("\xEF\xBC\xBF\xEF\xB8\xB3"), "__");
  EXPECT_EQ(normalize_identifier("caf\xC3\xA9"), "caf\xC3\xA9");
  EXPECT_EQ(normalize_identifier("\xD0\xB5val"),
            "\xD0\xB5val");  // Cyrillic e is another letter to Python too
  EXPECT_EQ(normalize_identifier("\xFF"), "\xEF\xBF\xBD");
}

TEST(Source, Places) {
  Source source(
      "ab\nc\xC3\xA9"
      "d\n\n");
  EXPECT_EQ(source.place(0).line, 1U);
  EXPECT_EQ(source.place(6).column, 3U);
  EXPECT_EQ(source.place(6).line, 2U);
  EXPECT_EQ(source.place(999).line, 4U);
  EXPECT_EQ(source.excerpt(4),
            "c\xC3\xA9"
            "d");
  EXPECT_EQ(Source("").excerpt(0), "");
  EXPECT_EQ(Source("   ").excerpt(0), "");
  EXPECT_EQ(find_hidden_text("a\xE2\x81\xA6z"), 1U);
  EXPECT_EQ(find_hidden_text("a\xE2\x82\xAC\xE2"), std::string_view::npos);
}

TEST(ShellWords, Paths) {
  EXPECT_EQ(plain_path("/a//b/./../c"), "/a/c");
  EXPECT_EQ(plain_path("/../dev/sda"), "/dev/sda");
  EXPECT_EQ(plain_path("/"), "/");
  EXPECT_EQ(plain_path("/dev/"), "/dev/");
  EXPECT_EQ(plain_path("rel/../x"), "rel/../x");
  EXPECT_EQ(base_name("/bin/rm"), "rm");
  EXPECT_FALSE(interpreter_of("perl"));
  EXPECT_EQ(interpreter_of("/usr/bin/python3.11")->language, Language::python);
}

}  // namespace
}  // namespace atl::policy
