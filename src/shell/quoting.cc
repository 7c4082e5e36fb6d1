#include "shell/quoting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/utf8.h"

namespace atl::shell {

namespace {

// Control characters and bytes that are no UTF-8 can be shown only as escapes, in $'...'.
bool needs_ansi(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7F) return true;
    if (c < 0x80) {
      ++i;
      continue;
    }
    std::size_t length = utf8::sequence(text.substr(i));
    if (length < 2) return true;
    i += length;
  }
  return false;
}

std::string quote_ansi(std::string_view text) {
  std::string out = "$'";
  std::size_t i = 0;
  while (i < text.size()) {
    auto c = static_cast<unsigned char>(text[i]);
    std::size_t length = c < 0x80 ? 1 : utf8::sequence(text.substr(i));
    if (length > 1) {
      out += text.substr(i, length);
      i += length;
      continue;
    }
    ++i;
    switch (c) {
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case 033: out += "\\E"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      case '\\': out += "\\\\"; break;
      case '\'': out += "\\'"; break;
      default:
        if (c < 0x20 || c >= 0x7F)
          out += fmt::format("\\{:03o}", c);
        else
          out += static_cast<char>(c);
    }
  }
  return out + "'";
}

}  // namespace

std::string quote_single(std::string_view text) {
  return needs_ansi(text) ? quote_ansi(text) : quote_verbatim(text);
}

std::string quote_verbatim(std::string_view text) {
  // bash's own exception: one quote alone is escaped, not quoted.
  if (text == "'") return "\\'";
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

std::string quote_if_needed(std::string_view text) {
  if (text.empty()) return "''";
  if (needs_ansi(text)) return quote_ansi(text);
  bool plain = text[0] != '~' && text[0] != '#';
  for (char c : text)
    if (std::string_view(" \t\n'\"\\|&;()<>!{}*[]?^$`").find(c) != std::string_view::npos) plain = false;
  if (plain) return std::string(text);
  return quote_single(text);
}

std::string quote_backslash(std::string_view text) {
  if (text.empty()) return "''";
  if (needs_ansi(text)) return quote_ansi(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool special = std::string_view(" \t\n'\"\\|&;()<>!{}*[]?^$`,").find(c) != std::string_view::npos;
    if ((c == '~' || c == '#') && i == 0) special = true;
    // Where an assignment would expand it.
    if (c == '~' && i > 0 && (text[i - 1] == ':' || text[i - 1] == '=')) special = true;
    if (special) out += '\\';
    out += c;
  }
  return out;
}

std::string quote_double(std::string_view text) {
  if (needs_ansi(text)) return quote_ansi(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\' || c == '$' || c == '`') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string quote_key(const std::string& key) {
  bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) ||
           std::string_view("_-./:,+=%@").find(c) != std::string_view::npos;
  });
  return plain ? key : quote_double(key);
}

}  // namespace atl::shell
