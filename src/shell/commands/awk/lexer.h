#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::shell::awk {

// What the lexer finds.
// Operators and keywords have a token each; names, numbers, strings and expressions carry more in the lexer's
// members.
enum class Token : unsigned char {
  end,
  newline,
  number,
  string,
  regex,
  name,
  function_name /* name directly before ( */,
  builtin,
  lbrace,
  rbrace,
  lparen,
  rparen,
  lbracket,
  rbracket,
  semicolon,
  comma,
  plus,
  minus,
  star,
  slash,
  percent,
  caret,
  bang,
  greater,
  less,
  pipe,
  question,
  colon,
  tilde,
  dollar,
  equals,
  add_assign,
  sub_assign,
  mul_assign,
  div_assign,
  mod_assign,
  pow_assign,
  eq,
  le,
  ge,
  ne,
  no_match,
  increment,
  decrement,
  and_,
  or_,
  append,
  at,
  // keywords
  k_begin,
  k_end,
  k_beginfile,
  k_endfile,
  k_function,
  k_if,
  k_else,
  k_while,
  k_for,
  k_do,
  k_break,
  k_continue,
  k_next,
  k_nextfile,
  k_exit,
  k_return,
  k_delete,
  k_in,
  k_getline,
  k_print,
  k_printf,
  k_switch,
  k_case,
  k_default,
};

// Tokens on demand; the parser says when a slash starts a regular expression.
// Borrows the source.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : in_(source) {}

  // Goes on to the next token, which the members below then describe. An error carries awk's words.
  Result<void> advance();
  // The current token is / or /=: reads on as a regular expression.
  Result<void> regex();

  // The current token and what belongs to it: the text of names, strings and expressions; the number; the
  // builtin.
  Token token = Token::newline;
  std::string text;
  double number = 0;
  int builtin = 0;
  // Of the current token.
  int line = 1;
  // f (x) is not f(x).
  bool space_before = false;

  // Whether, behind blanks, this character comes next. For the few places that look ahead.
  bool next_is(char c) const;

 private:
  Result<void> quoted();
  Result<void> word();
  Result<void> operator_token();

  std::string_view in_;
  std::size_t at_ = 0;
};

}  // namespace atl::shell::awk
