#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace atl::policy {

// Tokens of Python for PythonParser. Gives up (`bad`) on whatever it is not sure of; another parser then
// decides.
enum class PythonToken : std::uint8_t {
  end,
  newline,
  indent,
  dedent,
  name,
  keyword,
  number,
  string,
  mark,
  bad
};

enum class Keyword : std::uint8_t {
  none,
  k_False,
  k_None,
  k_True,
  k_and,
  k_as,
  k_assert,
  k_async,
  k_await,
  k_break,
  k_class,
  k_continue,
  k_def,
  k_del,
  k_elif,
  k_else,
  k_except,
  k_finally,
  k_for,
  k_from,
  k_global,
  k_if,
  k_import,
  k_in,
  k_is,
  k_lambda,
  k_nonlocal,
  k_not,
  k_or,
  k_pass,
  k_raise,
  k_return,
  k_try,
  k_while,
  k_with,
  k_yield,
};

// One or two characters as a number; three-letter marks have their own.
constexpr std::uint16_t mark(char a, char b = 0) {
  return static_cast<std::uint16_t>((static_cast<unsigned char>(b) << 8U) | static_cast<unsigned char>(a));
}
inline constexpr std::uint16_t mark_ellipsis = 0xFF01;
inline constexpr std::uint16_t mark_long_assign = 0xFF02;  // **= //= <<= >>=

// Reads forward only and keeps no tokens. Borrows the text. Never fails: what it cannot read is `bad`.
// Indentation follows Python's rules for a file of either tabs or blanks; a mix of the two is `bad`.
struct PythonLexer {
  explicit PythonLexer(std::string_view source) : text(source) {}

  // Moves to the next token: kind, sign/word, start, end.
  void next();
  // Goes on reading at `at` inside brackets (for code in an f-string); the caller saves and restores the
  // rest.
  void jump(std::uint32_t at) { position = at; }

  std::string_view text;
  std::uint32_t position = 0;
  PythonToken kind = PythonToken::newline;
  Keyword word = Keyword::none;
  // mark: which one, as mark() makes it.
  std::uint16_t sign = 0;
  // The token is text[start, end).
  std::uint32_t start = 0;
  std::uint32_t end = 0;
  bool format = false;  // string: f"..."; `end` is then the end of the opening quotes
  bool raw = false;
  // How many are open. Inside brackets there are no newline, indent and dedent tokens.
  int brackets = 0;
  int format_level = 0;  // inside f-strings ':' and '!' end an expression at this depth of brackets

 private:
  char at(std::uint32_t i) const { return i < text.size() ? text[i] : '\0'; }
  bool line_start();
  void name();
  void number();
  bool string(std::uint32_t quote);
  void marks();

  bool at_line_start_ = true;
  int pending_dedents_ = 0;
  std::vector<std::uint32_t> indents_{0};
};

}  // namespace atl::policy
