#include "shell/text/quotes.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>

namespace atl::shell {

std::string quote_operand(std::string_view text) {
  std::string result = "'";
  for (char c : text) {
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

std::string shell_quoted(std::string_view text) {
  bool plain = !text.empty();
  bool control = false;
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 32 || c == 127) control = true;
    if (!(isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 128 ||
          std::strchr("%+,-./:=@_", c)))
      plain = false;
  }
  if (plain) return std::string(text);
  if (!control) {
    if (text.find('\'') != std::string_view::npos && text.find_first_of("\"$`\\!") == std::string_view::npos)
      return fmt::format("\"{}\"", text);
    return quote_operand(text);
  }
  std::string result = "'";
  bool escaped = false;
  for (char c : text) {
    unsigned char u = static_cast<unsigned char>(c);
    if (u < 32 || u == 127) {
      if (!escaped) result += "'$'";
      escaped = true;
      switch (c) {
        case '\n': result += "\\n"; break;
        case '\t': result += "\\t"; break;
        case '\r': result += "\\r"; break;
        case '\a': result += "\\a"; break;
        case '\b': result += "\\b"; break;
        case '\v': result += "\\v"; break;
        case '\f': result += "\\f"; break;
        default: result += fmt::format("\\{:03o}", u);
      }
      continue;
    }
    if (escaped) result += "''";
    escaped = false;
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  }
  return result + "'";
}

}  // namespace atl::shell
