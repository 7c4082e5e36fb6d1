#pragma once

#include <cctype>

// Classes of characters in the grammar of the shell.
namespace atl::shell {

// Can begin a name.
inline bool name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}

// Can stand in a name.
inline bool name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// Ends an unquoted word.
inline bool meta(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == ';' || c == '&' || c == '|' || c == '<' || c == '>' ||
         c == '(' || c == ')';
}

// The same, or the null character that Parser::peek gives at the end of the text.
inline bool meta_or_end(char c) {
  return meta(c) || c == '\0';
}

}  // namespace atl::shell
