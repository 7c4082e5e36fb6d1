#include <cctype>

#include "shell/parser_characters.h"
#include "shell/parser_nested.h"

namespace atl::shell {

bool Parser::param_name(Param& param) {
  char c = peek();
  if (name_start(c)) {
    std::size_t end = pos_;
    while (end < src_.size() && name_char(src_[end])) ++end;
    param.name = src_.substr(pos_, end - pos_);
    pos_ = end;
    return true;
  }
  if (std::isdigit(static_cast<unsigned char>(c))) {
    std::size_t end = pos_;
    while (end < src_.size() && std::isdigit(static_cast<unsigned char>(src_[end]))) ++end;
    param.name = src_.substr(pos_, end - pos_);
    pos_ = end;
    return true;
  }
  if (c != '\0' && std::string_view("@*#?-$!").find(c) != std::string_view::npos) {
    param.name = std::string(1, c);
    ++pos_;
    return true;
  }
  return false;
}

void Parser::param_subscript(Param& param) {
  // Only variables have elements: $1[0] is $1 and text.
  if (peek() != '[' || !name_start(param.name[0])) return;
  if (looking_at("[@]") || looking_at("[*]")) {
    param.subscript = peek(1) == '@' ? Subscript::at : Subscript::star;
    pos_ += 3;
    return;
  }
  std::size_t from = pos_ + 1;
  param.subscript = Subscript::index;
  param.index = subscript_word();
  // Both forms are kept: whether the subscript is a key or an expression depends on the variable, which is
  // known only when it runs.
  param.index_arith = make_arith(text_word(from, pos_ - 1, Mode::arith));
}

// The word after an operator, up to one of `stops` at this level.
Word Parser::param_word(Mode mode, std::string_view stops, bool pattern) {
  Nested nested(*this);
  Word out;
  std::size_t start = pos_;
  bool quoted = mode != Mode::plain;
  std::size_t shielded = 0;  // "${x-'}'}": the quotes stay, and what they hold does not end the word
  while (true) {
    if (at_end()) unexpected_end("}");
    char c = peek();
    if (pos_ >= shielded && stops.find(c) != std::string_view::npos) break;
    if (c == '\'' && quoted && !pattern && pos_ > shielded) {
      std::size_t end = src_.find('\'', pos_ + 1);
      if (end != std::string::npos) shielded = end;
    }
    // A pattern is read like an unquoted word even inside of double quotes: "${x%'*'}".
    if (!quoted || pattern) {
      if (quoted && c == '"') {
        double_quotes(out.parts);
        continue;
      }
      if (quoted && c == '\\' && peek(1) == '\n') {
        pos_ += 2;
        continue;
      }
      if (!word_part(out, quoted && !pattern ? Mode::dquote : Mode::plain, pattern))
        add_text(out.parts, PartKind::literal, std::string_view(src_).substr(pos_++, 1));
      continue;
    }
    if (c == '\\' && pos_ + 1 < src_.size()) {
      char d = peek(1);
      if (d == '\n')
        pos_ += 2;
      else if (d == '$' || d == '`' || d == '\\' || d == '}' || (d == '"' && mode != Mode::here)) {
        add_text(out.parts, PartKind::quoted, std::string_view(src_).substr(pos_ + 1, 1));
        pos_ += 2;
      } else {
        add_text(out.parts, PartKind::quoted, std::string_view(src_).substr(pos_, 2));
        pos_ += 2;
      }
    } else if (c == '$') {
      bool escapes = peek(1) == '\'' && mode == Mode::dquote;  // "${x-$'\t'}" is a tab
      dollar(out.parts, escapes ? Mode::plain : mode);
    } else if (c == '`') {
      back_quotes(out.parts, Mode::plain);  // in here a quote keeps its backslash
    } else if (c == '"') {
      double_quotes(out.parts);
    } else {
      add_text(out.parts, PartKind::quoted, std::string_view(src_).substr(pos_++, 1));
    }
  }
  out.raw = src_.substr(start, pos_ - start);
  // Braces in here are text: brace expansion has passed when a parameter is expanded.
  out.braces = false;
  return out;
}

// An arithmetic operand of ${x:o:l}: ends at '}' or at a ':' that no '?' claims.
std::shared_ptr<const ArithText> Parser::slice_word(std::string_view stops) {
  std::size_t i = pos_;
  int parens = 0;
  int questions = 0;
  for (; i < src_.size(); ++i) {
    char c = src_[i];
    if (c == '\\')
      ++i;
    else if (c == '\'') {
      i = src_.find('\'', i + 1);
      if (i == std::string::npos) unexpected_end("'");
    } else if (c == '"') {
      for (++i; i < src_.size() && src_[i] != '"'; ++i)
        if (src_[i] == '\\') ++i;
    } else if (c == '$' && i + 1 < src_.size() && src_[i + 1] == '(') {
      i = matching_paren(i + 1);
      if (i == std::string::npos) unexpected_end(")");
    } else if (c == '$' && i + 1 < src_.size() && src_[i + 1] == '{') {
      int braces = 0;
      for (; i < src_.size(); ++i) {
        if (src_[i] == '{') ++braces;
        if (src_[i] == '}' && --braces == 0) break;
      }
    } else if (c == '(' || c == '[')
      ++parens;
    else if (c == ')' || c == ']')
      --parens;
    else if (c == '?')
      ++questions;
    else if (c == '}' && parens <= 0)
      break;
    else if (c == ':' && parens <= 0) {
      if (questions > 0)
        --questions;
      else if (stops.find(':') != std::string_view::npos)
        break;
    }
  }
  if (i >= src_.size()) unexpected_end("}");
  auto out = make_arith(text_word(pos_, i, Mode::arith));
  pos_ = i;
  return out;
}

void Parser::param_operator(Param& param, Mode mode) {
  char c = peek();
  // ${x:-y}, not ${x: -1}: the operator follows directly.
  bool colon =
      c == ':' && std::string_view("-=?+").find(peek(1)) != std::string_view::npos && peek(1) != '\0';
  if (colon) c = peek(1);
  auto simple_word = [&](ParamOp op) {
    param.op = op;
    param.colon = colon;
    pos_ += colon ? 2 : 1;
    param.arg = param_word(mode, "}", false);
  };
  auto doubled = [&](ParamOp op) {
    param.op = op;
    param.longest = peek(1) == c;
    pos_ += param.longest ? 2 : 1;
    param.arg = param_word(mode, "}", true);
  };
  switch (c) {
    case '-': return simple_word(ParamOp::defaulted);
    case '=': return simple_word(ParamOp::assign);
    case '?': return simple_word(ParamOp::error);
    case '+': return simple_word(ParamOp::alternate);
    case '#': return doubled(ParamOp::strip_prefix);
    case '%': return doubled(ParamOp::strip_suffix);
    case '^': return doubled(ParamOp::upper);
    case ',': return doubled(ParamOp::lower);
    case '~': return doubled(ParamOp::toggle);
    case ':':
      param.op = ParamOp::substring;
      ++pos_;
      param.offset = slice_word(":");
      if (peek() == ':') {
        ++pos_;
        param.length = slice_word("");
      }
      return;
    case '/':
      param.op = ParamOp::replace;
      ++pos_;
      if (peek() == '/')
        param.longest = true, ++pos_;
      else if (peek() == '#' || peek() == '%')
        param.mode = src_[pos_++];
      if (param.longest && peek() == '/' && peek(1) != '}') {
        // ${x////y}: the pattern is a slash.
        ++pos_;
        param.arg = param_word(mode, "/}", true);
        Part slash;
        slash.kind = PartKind::literal;
        slash.text = "/";
        param.arg.parts.insert(param.arg.parts.begin(), slash);
      } else {
        param.arg = param_word(mode, "/}", true);
      }
      if (peek() == '/') {
        ++pos_;
        param.has_arg2 = true;
        param.arg2 = param_word(mode, "}", true);
      }
      return;
    case '@':
      if (peek(1) != '\0' && std::string_view("QEPAKaUuLk").find(peek(1)) != std::string_view::npos &&
          peek(2) == '}') {
        param.op = ParamOp::transform;
        param.mode = peek(1);
        pos_ += 2;
        return;
      }
      break;
    default: break;
  }
  param.bad = true;
}

void Parser::brace_param(std::vector<Part>& out, Mode mode) {
  Nested nested(*this);
  std::size_t start = pos_;
  open_.emplace_back("${", line_at(pos_));
  pos_ += 2;
  auto param = std::make_shared<Param>();
  param->braced = true;
  auto length_form = [&] {
    if (peek() != '#' || peek(1) == '}') return false;
    std::size_t save = pos_++;
    if (param_name(*param)) {
      param_subscript(*param);
      if (peek() == '}') {
        param->op = ParamOp::length;
        return true;
      }
      if (name_start(src_[save + 1])) {  // ${#x...}: nothing may follow
        param->op = ParamOp::length;
        return true;
      }
    }
    // ${#} and ${#-x} are about the parameter #.
    pos_ = save;
    *param = Param();
    return false;
  };
  if (!length_form()) {
    if (peek() == '!') {
      char next = peek(1);
      bool special =
          next != '\0' && std::string_view("@*#?$!-").find(next) != std::string_view::npos && peek(2) == '}';
      if (name_start(next) || std::isdigit(static_cast<unsigned char>(next)) || special) {
        param->indirect = true;
        ++pos_;
      }
    }
    if (param_name(*param)) {
      param_subscript(*param);
      if (param->indirect && (peek() == '*' || peek() == '@') && peek(1) == '}') {
        param->op = ParamOp::names;
        param->mode = peek();
        param->indirect = false;
        ++pos_;
      } else if (param->indirect && peek() == '}' &&
                 (param->subscript == Subscript::at || param->subscript == Subscript::star)) {
        param->op = ParamOp::keys;
        param->indirect = false;
      } else if (peek() != '}') {
        if (at_end()) unexpected_end("}");
        param_operator(*param, mode);
      }
    } else {
      param->bad = true;
    }
  }
  if (at_end()) unexpected_end("}");
  if (peek() != '}') {
    param->bad = true;
    // A bad substitution is an error when it is expanded, not when it is read: skip to its end.
    int depth = 1;
    while (!at_end() && depth > 0) {
      if (peek() == '\\')
        ++pos_;
      else if (peek() == '{')
        ++depth;
      else if (peek() == '}' && --depth == 0)
        break;
      ++pos_;
    }
    if (at_end()) {
      pos_ = start;
      unexpected_end("}");
    }
  }
  param->raw = src_.substr(start + 2, pos_ - start - 2);
  ++pos_;
  open_.pop_back();
  Part part;
  part.kind = PartKind::param;
  part.param = std::move(param);
  out.push_back(std::move(part));
}

}  // namespace atl::shell
