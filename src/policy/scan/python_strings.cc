#include "policy/scan/python_descent.h"

namespace atl::policy {

NodeIndex PythonParser::strings() {
  std::uint32_t start = lexer_.start;
  NodeIndex first = one_string();
  if (failed_ || lexer_.kind != Token::string) return first;
  NodeIndex node = make(Kind::concat, start);
  Children children{node};
  add(children, first);
  while (!failed_ && lexer_.kind == Token::string) add(children, one_string());
  return close(node);
}

NodeIndex PythonParser::one_string() {
  if (!lexer_.format) {
    NodeIndex node = tree_.make(Kind::string, lexer_.start, lexer_.end);
    advance();
    return node;
  }
  Level level(*this);
  NodeIndex node = tree_.make(Kind::format, lexer_.start, lexer_.end);
  Children children{node};
  std::uint32_t from = lexer_.end;
  char quote = text_[from - 1];
  bool triple = from - lexer_.start >= 3 && text_[from - 2] == quote && text_[from - 3] == quote;
  std::string_view quotes = text_.substr(from - (triple ? 3 : 1), triple ? 3 : 1);
  format_parts(children, from, quotes, lexer_.raw, false);
  if (failed_) return no_node;
  at(node).end = lexer_.position;
  bool fields = false;
  for (NodeIndex child = at(node).first_child; child != no_node; child = at(child).next)
    fields = fields || at(child).kind != Kind::string_part;
  if (!fields) {
    at(node).kind = Kind::string;
    at(node).first_child = no_node;
  }
  lexer_.end = lexer_.position;
  advance();
  return node;
}

// The text of an f-string from `from` to its closing quotes, or of a format specification to its '}'. Leaves
// the lexer behind the quotes, or at the '}'.
void PythonParser::format_parts(Children& out, std::uint32_t from, std::string_view quotes, bool raw,
                                bool specification) {
  Level level(*this);
  std::uint32_t position = from;
  std::uint32_t part = from;
  auto finish_part = [&] {
    if (position > part && !specification) {
      NodeIndex node = tree_.make(Kind::string_part, part, position);
      if (raw) at(node).flags |= flag_star;
      add(out, node);
    }
  };
  while (!failed_) {
    if (position >= text_.size()) {
      failed_ = true;
      return;
    }
    char c = text_[position];
    char following = position + 1 < text_.size() ? text_[position + 1] : '\0';
    if (c == '\\' && !specification) {
      // \N{NAME} is no field.
      if (!raw && following == 'N' && position + 2 < text_.size() && text_[position + 2] == '{') {
        std::size_t brace = text_.find('}', position);
        if (brace == std::string_view::npos)
          failed_ = true;
        else
          position = static_cast<std::uint32_t>(brace + 1);
      } else {
        // A backslash before a brace does not hide it.
        position += following == '{' || following == '}' ? 1 : 2;
      }
    } else if (text_.substr(position).starts_with(quotes)) {
      if (specification) failed_ = true;
      finish_part();
      lexer_.position = position + static_cast<std::uint32_t>(quotes.size());
      return;
    } else if (c == '\n' && quotes.size() == 1) {
      failed_ = true;
    } else if (c == '{' && following == '{' && !specification) {
      position += 2;
    } else if (c == '}') {
      if (specification) {
        lexer_.position = position;
        return;
      }
      if (following != '}') failed_ = true;
      position += 2;
    } else if (c == '{') {
      finish_part();
      lexer_.position = position + 1;
      format_field(out);
      if (failed_) return;
      // Behind the expression: !r, :specification, and the '}'.
      position = lexer_.position;
      if (position < text_.size() && text_[position] == '!') {
        position += 2;
        while (position < text_.size() && text_[position] == ' ') ++position;
      }
      if (position < text_.size() && text_[position] == ':') {
        format_parts(out, position + 1, quotes, raw, true);
        if (failed_) return;
        position = lexer_.position;
      }
      if (position >= text_.size() || text_[position] != '}') {
        failed_ = true;
        return;
      }
      part = ++position;
    } else {
      ++position;
    }
  }
}

// One expression, from the lexer's position to the '!', ':' or '}' that ends it, where the lexer then stands.
void PythonParser::format_field(Children& out) {
  int outer_brackets = lexer_.brackets;
  int outer_level = lexer_.format_level;
  lexer_.brackets = outer_brackets + 1;
  lexer_.format_level = lexer_.brackets;
  lexer_.kind = Token::mark;
  advance();
  NodeIndex value = is(k_yield) ? yield_expression() : expressions();
  if (!failed_ && is('=')) advance();
  bool ends = lexer_.kind == Token::mark && (is('}') || is('!') || is(':'));
  if (!ends) failed_ = true;
  lexer_.position = lexer_.start;
  lexer_.brackets = outer_brackets;
  lexer_.format_level = outer_level;
  if (!failed_) add(out, value);
}

}  // namespace atl::policy
