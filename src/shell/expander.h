#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shell/ast.h"

namespace atl::shell {

class ShellRunner;

// Expands words for one shell: parameters, command substitution, arithmetic, braces, tilde, splitting and
// file names. The work on one word is an Expansion (expansion.h). Holds no state of its own. Every member may
// run commands, change variables, and throw Abandoned (after a message) or Stopped.
class Expander {
 public:
  explicit Expander(ShellRunner& shell) : shell_(shell) {}

  // The fields of words, split and matched against file names.
  std::vector<std::string> expand(const std::vector<Word>& words);
  void expand_into(const Word& word, std::vector<std::string>& out);
  // One string, not split and not matched; tilde at its beginning.
  std::string single(const Word& word);
  // The right side of an assignment: tilde also after ':'.
  std::string assignment(const Word& word);
  std::string without_tilde(const Word& word);
  // A pattern: characters that were quoted have a backslash.
  std::string pattern(const Word& word);
  // A regular expression: text that was quoted matches itself.
  std::string regex(const Word& word);
  // The body of a here-document.
  std::string here_document(const Word& word);
  // Text as inside double quotes.
  std::string text(const std::string& text);
  // The text as one word, blanks included; abandons the command on a syntax error.
  Word parse_word(const std::string& text);

  std::int64_t evaluate(const ArithText& text);
  std::int64_t evaluate(const std::string& text);
  std::string arith_text(const ArithText& text);

  bool matches(const std::string& text, const std::string& pattern, bool ignore_case);
  // The names that a pattern matches, sorted; `matched` tells whether there is any.
  std::vector<std::string> glob(const std::string& pattern, bool& matched);
  // The directory that ~prefix stands for; `ok` is false if it stands for none.
  std::string tilde(std::string_view prefix, bool& ok);
  // PS1's language, whose result is expanded as in double quotes.
  std::string prompt(const std::string& text);

 private:
  // The value of "$x", or of $x where nothing in it can be split or match; null where that is not so simple.
  const std::string* plain_value(const Word& word);
  void prompt_escape(const std::string& text, std::size_t& at, std::string& out);

  ShellRunner& shell_;
};

}  // namespace atl::shell
