#include "policy/scan/python_lexer.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace atl::policy {

namespace {

struct KeywordText {
  std::string_view text;
  Keyword keyword;
};

using enum Keyword;
constexpr std::array<KeywordText, 35> keyword_texts{{{"False", k_False},
                                                     {"None", k_None},
                                                     {"True", k_True},
                                                     {"and", k_and},
                                                     {"as", k_as},
                                                     {"assert", k_assert},
                                                     {"async", k_async},
                                                     {"await", k_await},
                                                     {"break", k_break},
                                                     {"class", k_class},
                                                     {"continue", k_continue},
                                                     {"def", k_def},
                                                     {"del", k_del},
                                                     {"elif", k_elif},
                                                     {"else", k_else},
                                                     {"except", k_except},
                                                     {"finally", k_finally},
                                                     {"for", k_for},
                                                     {"from", k_from},
                                                     {"global", k_global},
                                                     {"if", k_if},
                                                     {"import", k_import},
                                                     {"in", k_in},
                                                     {"is", k_is},
                                                     {"lambda", k_lambda},
                                                     {"nonlocal", k_nonlocal},
                                                     {"not", k_not},
                                                     {"or", k_or},
                                                     {"pass", k_pass},
                                                     {"raise", k_raise},
                                                     {"return", k_return},
                                                     {"try", k_try},
                                                     {"while", k_while},
                                                     {"with", k_with},
                                                     {"yield", k_yield}}};

enum Class : std::uint8_t { c_other, c_name, c_digit, c_blank };
constexpr std::array<std::uint8_t, 256> classes = [] {
  std::array<std::uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[static_cast<std::size_t>(c)] = c_name;
  for (int c = 'A'; c <= 'Z'; ++c) table[static_cast<std::size_t>(c)] = c_name;
  for (int c = '0'; c <= '9'; ++c) table[static_cast<std::size_t>(c)] = c_digit;
  table['_'] = c_name;
  table[' '] = table['\t'] = table['\f'] = c_blank;
  return table;
}();
std::uint8_t class_of(char c) {
  return classes[static_cast<unsigned char>(c)];
}

Keyword keyword_of(std::string_view text) {
  if (text.size() < 2 || text.size() > 8) return none;
  // First letters of keywords; most names leave here.
  constexpr std::string_view letters = "FNTabcdefgilnoprtwy";
  if (!letters.contains(text.front())) return none;
  for (const KeywordText& one : keyword_texts) {
    if (one.text.front() == text.front() && one.text == text) return one.keyword;
  }
  return none;
}

}  // namespace

// At the start of a line: blank lines are skipped, and the indentation says where blocks begin and end.
bool PythonLexer::line_start() {
  for (;;) {
    std::uint32_t column = 0;
    bool tabs = false;
    bool spaces = false;
    while (class_of(at(position)) == c_blank) {
      char c = at(position++);
      // As in CPython: a form feed starts the count again, a tab goes to the next multiple of eight.
      if (c == '\f') {
        column = 0;
      } else if (c == '\t') {
        column = (column / 8 + 1) * 8;
        tabs = true;
      } else {
        ++column;
        spaces = true;
      }
    }
    char c = at(position);
    if (c == '#') {
      std::size_t line_end = text.find('\n', position);
      position = static_cast<std::uint32_t>(std::min(line_end, text.size()));
      c = at(position);
    }
    if (c == '\r' && at(position + 1) == '\n') ++position, c = '\n';
    if (c == '\n') {
      ++position;
      continue;
    }
    at_line_start_ = false;
    start = end = position;
    if (position >= text.size())
      column = 0;
    else if (tabs && spaces)
      return kind = PythonToken::bad, true;
    if (column > indents_.back()) {
      indents_.push_back(column);
      kind = PythonToken::indent;
      return true;
    }
    while (column < indents_.back()) {
      indents_.pop_back();
      ++pending_dedents_;
    }
    if (column != indents_.back()) return kind = PythonToken::bad, true;
    return false;
  }
}

void PythonLexer::name() {
  while (class_of(at(position)) == c_name || class_of(at(position)) == c_digit) ++position;
  end = position;
  std::string_view written = text.substr(start, end - start);
  char quote = at(position);
  // rb'...', F"...": at most two letters.
  if ((quote == '"' || quote == '\'') && written.size() <= 2 && string(position)) return;
  word = keyword_of(written);
  kind = word == none ? PythonToken::name : PythonToken::keyword;
}

// `start` is where the prefix starts. False: what stands before the quote is no prefix.
bool PythonLexer::string(std::uint32_t quote) {
  format = raw = false;
  for (std::uint32_t i = start; i < quote; ++i) {
    char c = static_cast<char>(text[i] | 0x20);
    if (c == 'f')
      format = true;
    else if (c == 'r')
      raw = true;
    else if (c != 'b' && c != 'u')
      return false;
  }
  kind = PythonToken::string;
  char mark_character = text[quote];
  bool triple = at(quote + 1) == mark_character && at(quote + 2) == mark_character;
  position = quote + (triple ? 3 : 1);
  end = position;
  // The parser reads the inside of an f-string piece by piece.
  if (format) return true;
  for (;;) {
    // Most of a string is none of these.
    while (position < text.size() && text[position] != mark_character && text[position] != '\\' &&
           text[position] != '\n')
      ++position;
    if (position >= text.size()) return kind = PythonToken::bad, true;
    char c = text[position];
    if (c == '\\') {
      position += 2;
    } else if (c == '\n') {
      if (!triple) return kind = PythonToken::bad, true;
      ++position;
    } else if (!triple) {
      end = ++position;
      return true;
    } else if (at(position + 1) == mark_character && at(position + 2) == mark_character) {
      end = position += 3;
      return true;
    } else {
      ++position;
    }
  }
}

void PythonLexer::number() {
  kind = PythonToken::number;
  bool based = at(position) == '0' && std::string_view("xXoObB").contains(at(position + 1)) &&
               at(position + 1) != '\0';
  if (based) position += 2;
  for (;;) {
    char c = at(position);
    std::uint8_t type = class_of(c);
    bool hexadecimal = based && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
    bool exponent = !based && (c == 'e' || c == 'E');
    if (type == c_digit || c == '_' || hexadecimal || (!based && c == '.')) {
      ++position;
    } else if (exponent) {
      ++position;
      if (at(position) == '+' || at(position) == '-') ++position;
    } else if (!based && (c == 'j' || c == 'J')) {
      ++position;
    } else {
      if (type == c_name) kind = PythonToken::bad;
      break;
    }
  }
  end = position;
}

void PythonLexer::marks() {
  kind = PythonToken::mark;
  char c = text[position];
  char second = at(position + 1);
  char third = at(position + 2);
  // Directly inside the braces of an f-string `:` and `!` begin the format, so := and != are no operators
  // there.
  bool closing_format = format_level != 0 && brackets == format_level;
  sign = mark(c);
  std::uint32_t length = 1;
  switch (c) {
    case '(':
    case '[':
    case '{': ++brackets; break;
    case ')':
    case ']':
    case '}':
      --brackets;
      if (brackets < 0) kind = PythonToken::bad;
      break;
    case ':':
      if (second == '=' && !closing_format) length = 2;
      break;
    case '!':
      if (second == '=')
        length = 2;
      else if (!closing_format)
        kind = PythonToken::bad;
      break;
    case '.':
      if (second == '.' && third == '.') {
        sign = mark_ellipsis;
        position += 3;
        end = position;
        return;
      }
      break;
    case '*':
    case '/':
    case '<':
    case '>':
      if (second == c && third == '=') {
        sign = mark_long_assign;
        position += 3;
        end = position;
        return;
      }
      if (second == c || second == '=') length = 2;
      break;
    case '-':
      if (second == '=' || second == '>') length = 2;
      break;
    case '+':
    case '%':
    case '&':
    case '|':
    case '^':
    case '@':
    case '=':
      if (second == '=') length = 2;
      break;
    case '~':
    case ',':
    case ';': break;
    default: kind = PythonToken::bad;
  }
  if (length == 2) sign = mark(c, second);
  position += length;
  end = position;
}

void PythonLexer::next() {
  if (at_line_start_ && brackets == 0 && line_start()) return;
  if (pending_dedents_ > 0) {
    --pending_dedents_;
    kind = PythonToken::dedent;
    return;
  }
  for (;;) {
    while (class_of(at(position)) == c_blank) ++position;
    start = position;
    if (position >= text.size()) {
      // The last line may lack its newline; blocks that are open end here.
      if (kind != PythonToken::newline && kind != PythonToken::dedent && kind != PythonToken::end &&
          brackets == 0) {
        kind = PythonToken::newline;
        at_line_start_ = true;
      } else {
        kind = PythonToken::end;
      }
      end = position;
      return;
    }
    char c = text[position];
    if (class_of(c) == c_name) return name();
    if (class_of(c) == c_digit || (c == '.' && class_of(at(position + 1)) == c_digit)) return number();
    if (c == '"' || c == '\'') {
      string(position);
      return;
    }
    if (c == '#') {
      const void* found = std::memchr(text.data() + position, '\n', text.size() - position);
      position = found == nullptr ? static_cast<std::uint32_t>(text.size())
                                  : static_cast<std::uint32_t>(static_cast<const char*>(found) - text.data());
      continue;
    }
    if (c == '\r' && at(position + 1) == '\n') {
      ++position;
      continue;
    }
    if (c == '\n') {
      ++position;
      if (brackets > 0) continue;
      at_line_start_ = true;
      kind = PythonToken::newline;
      end = position;
      return;
    }
    if (c == '\\' && (at(position + 1) == '\n' || (at(position + 1) == '\r' && at(position + 2) == '\n'))) {
      position += at(position + 1) == '\n' ? 2 : 3;
      continue;
    }
    return marks();
  }
}

}  // namespace atl::policy
