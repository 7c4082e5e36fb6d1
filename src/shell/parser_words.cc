#include <algorithm>
#include <cctype>
#include <utility>

#include "base/utf8.h"
#include "shell/parser_characters.h"
#include "shell/parser_nested.h"
#include "shell/quoting.h"
#include "shell/variable.h"

namespace atl::shell {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Reads up to `most` hexadecimal digits at `at`; -1 if there is none.
long read_hex(std::string_view text, std::size_t& at, int most) {
  long value = 0;
  int digits = 0;
  while (digits < most && at < text.size() && hex_value(text[at]) >= 0)
    value = value * 16 + hex_value(text[at++]), ++digits;
  return digits ? value : -1;
}

}  // namespace

bool is_name(std::string_view text) {
  if (text.empty() || !name_start(text[0])) return false;
  for (char c : text)
    if (!name_char(c)) return false;
  return true;
}

std::string decode_ansi(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i++];
      continue;
    }
    char c = text[i + 1];
    i += 2;
    switch (c) {
      case 'a': out += '\a'; break;
      case 'b': out += '\b'; break;
      case 'e':
      case 'E': out += '\033'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'v': out += '\v'; break;
      case '\\':
      case '\'':
      case '"':
      case '?': out += c; break;
      case 'c':
        if (i < text.size()) {
          char d = text[i++];
          // \c\\ is control-backslash: bash takes both backslashes.
          if (d == '\\' && i < text.size() && text[i] == '\\') ++i;
          out += static_cast<char>(std::toupper(static_cast<unsigned char>(d)) ^ 0x40);
        }
        break;
      case 'x': {
        bool braced = i < text.size() && text[i] == '{';
        std::size_t at = braced ? i + 1 : i;
        long value = read_hex(text, at, braced ? 8 : 2);
        if (value < 0) {
          out += "\\x";
        } else {
          if (braced && at < text.size() && text[at] == '}') ++at;
          // A NUL cannot be in a shell's string: as in bash, everything from it on is dropped.
          if ((value & 0xFF) == 0) return out;
          out += static_cast<char>(value & 0xFF);
          i = at;
        }
        break;
      }
      case 'u':
      case 'U': {
        // As in bash, everything that four bytes can hold is encoded, codes above Unicode's last included.
        long value = read_hex(text, i, c == 'u' ? 4 : 8);
        if (value < 0)
          out += '\\', out += c;
        else if (value == 0)
          return out;
        else if (value < 0x200000)
          utf8::append(out, static_cast<char32_t>(value));
        break;
      }
      case '0':
      case '1':
      case '2':
      case '3':
      case '4':
      case '5':
      case '6':
      case '7': {
        int value = c - '0';
        for (int n = 1; n < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++n)
          value = value * 8 + text[i++] - '0';
        if ((value & 0xFF) == 0) return out;
        out += static_cast<char>(value & 0xFF);
        break;
      }
      default: out += '\\', out += c;
    }
  }
  return out;
}

void Parser::add_text(std::vector<Part>& out, PartKind kind, std::string_view text) {
  // Neighbours of one kind become one part, so that expansion walks runs of text and not characters.
  if (!out.empty() && out.back().kind == kind) {
    out.back().text += text;
    return;
  }
  Part part;
  part.kind = kind;
  part.text = text;
  out.push_back(std::move(part));
}

// One piece of a word at pos_. False when the word ends here.
bool Parser::word_part(Word& out, Mode mode, bool pattern) {
  char c = peek();
  switch (c) {
    case '\\':
      if (pos_ + 1 >= src_.size()) {
        add_text(out.parts, PartKind::quoted, "\\");
        ++pos_;
      } else if (peek(1) == '\n') {
        pos_ += 2;
        // A continued line leaves nothing in the word; for printing a function back it is noted that nothing
        // stands there.
        reprint(pos_ - 2, "");
      } else {
        add_text(out.parts, PartKind::quoted, std::string_view(src_).substr(pos_ + 1, 1));
        pos_ += 2;
      }
      return true;
    case '\'': single_quotes(out.parts); return true;
    case '"': double_quotes(out.parts); return true;
    case '`': back_quotes(out.parts, mode); return true;
    case '$': dollar(out.parts, mode); return true;
    default: break;
  }
  if ((c == '<' || c == '>') && peek(1) == '(') {
    process_sub(out.parts, c);
    return true;
  }
  bool glob_prefix = c == '?' || c == '*' || c == '+' || c == '@' || c == '!';
  // ?(a|b): blanks, | and parentheses inside belong to the pattern. In [[ and case it needs no extglob.
  if (glob_prefix && peek(1) == '(' && (pattern || context_.extglob())) {
    add_text(out.parts, PartKind::literal, std::string_view(src_).substr(pos_, 2));
    pos_ += 2;
    for (int depth = 1; depth > 0;) {
      if (at_end()) unexpected_end(")");
      if (peek() == '(') ++depth;
      if (peek() == ')') --depth;
      if (meta_or_end(peek()) && !((peek() == '<' || peek() == '>') && peek(1) == '(')) {
        add_text(out.parts, PartKind::literal, std::string_view(src_).substr(pos_++, 1));
        continue;
      }
      word_part(out, mode, pattern);
    }
    return true;
  }
  // peek() gives NUL behind the end; a NUL inside the text is an ordinary character.
  if (meta_or_end(c) && !(c == '\0' && !at_end())) return false;
  if (c == '{') out.braces = true;
  add_text(out.parts, PartKind::literal, std::string_view(src_).substr(pos_++, 1));
  return true;
}

Word Parser::word(bool pattern) {
  context_.count_token();
  Word out;
  std::size_t start = pos_;
  forget_reprints(start);
  while (!at_end() && word_part(out, Mode::plain, pattern)) {
  }
  if (pos_ >= start) keep_text(out, start);
  return out;
}

// The text from `start` to here is the word's, with what was noted about it.
void Parser::keep_text(Word& out, std::size_t start) {
  out.raw = src_.substr(start, pos_ - start);
  if (reprints_.empty() || reprints_.back().begin < start) return;
  auto from = std::find_if(reprints_.begin(), reprints_.end(),
                           [&](const Reprint& piece) { return piece.begin >= start; });
  auto kept = std::make_shared<std::vector<Reprint>>(from, reprints_.end());
  for (Reprint& piece : *kept) piece.begin -= start, piece.end -= start;
  out.reprints = std::move(kept);
}

// What was noted from `start` on: by a reading that was given up, or inside of something that is printed as a
// whole.
void Parser::forget_reprints(std::size_t start) {
  while (!reprints_.empty() && reprints_.back().begin >= start) reprints_.pop_back();
}

// From `start` to here the text is printed as `text` and the command.
void Parser::reprint(std::size_t start, std::string text, NodePtr command, bool substitution) {
  forget_reprints(start);
  reprints_.push_back({start, pos_, std::move(text), std::move(command), substitution});
}

void Parser::single_quotes(std::vector<Part>& out) {
  std::size_t end = src_.find('\'', pos_ + 1);
  if (end == std::string::npos) unexpected_end("'");
  Part part;
  part.kind = PartKind::quoted;
  // A part even if it is empty: '' is a word.
  part.text = src_.substr(pos_ + 1, end - pos_ - 1);
  out.push_back(std::move(part));
  pos_ = end + 1;
}

void Parser::ansi_quotes(std::vector<Part>& out) {
  std::size_t i = pos_ + 2;
  while (i < src_.size() && src_[i] != '\'') i += src_[i] == '\\' ? 2 : 1;
  if (i >= src_.size()) unexpected_end("'");
  Part part;
  part.kind = PartKind::quoted;
  part.text = decode_ansi(std::string_view(src_).substr(pos_ + 2, i - pos_ - 2));
  std::size_t start = std::exchange(pos_, i + 1);
  reprint(start, quote_verbatim(part.text));
  out.push_back(std::move(part));
}

void Parser::double_quotes(std::vector<Part>& out) {
  std::size_t start = pos_++;
  Part part;
  part.kind = PartKind::dquote;
  while (true) {
    if (at_end()) {
      // bash names the line where the quote was opened.
      pos_ = start;
      unexpected_end("\"");
    }
    char c = peek();
    if (c == '"') break;
    if (c == '\\' && pos_ + 1 < src_.size()) {
      char d = peek(1);
      if (d == '\n') {
        pos_ += 2;
        reprint(pos_ - 2, "");
        continue;
      }
      // Inside double quotes a backslash before anything else stays.
      if (d == '$' || d == '`' || d == '"' || d == '\\') {
        add_text(part.children, PartKind::quoted, std::string_view(src_).substr(pos_ + 1, 1));
      } else {
        add_text(part.children, PartKind::quoted, std::string_view(src_).substr(pos_, 2));
      }
      pos_ += 2;
    } else if (c == '`') {
      back_quotes(part.children, Mode::dquote);
    } else if (c == '$') {
      dollar(part.children, Mode::dquote);
    } else {
      add_text(part.children, PartKind::quoted, std::string_view(src_).substr(pos_++, 1));
    }
  }
  ++pos_;
  out.push_back(std::move(part));
}

void Parser::back_quotes(std::vector<Part>& out, Mode mode) {
  Nested nested(*this);
  std::size_t start = pos_++;
  int line = line_at(start);
  std::string text;
  while (true) {
    if (at_end()) {
      pos_ = start;
      unexpected_end("`");
    }
    char c = src_[pos_];
    if (c == '`') break;
    if (c == '\\' && pos_ + 1 < src_.size()) {
      char d = src_[pos_ + 1];
      // One level of backslashes is taken off before the text is read as commands; that is how `` `a \`b\` c`
      // `` nests.
      if (d == '$' || d == '`' || d == '\\' || (d == '"' && mode == Mode::dquote)) {
        text += d;
        pos_ += 2;
        continue;
      }
      text += c;
      text += d;
      pos_ += 2;
      continue;
    }
    text += c;
    ++pos_;
  }
  ++pos_;
  Part part;
  part.kind = PartKind::command;
  try {
    part.command = Parser(text, context_, line, depth_).all();
  } catch (const SyntaxError&) {
    // What is wrong inside shows when it runs, not when the text around it is read.
    part.command = Parser("eval " + quote_single(text), context_, line, depth_).all();
  }
  out.push_back(std::move(part));
}

void Parser::command_sub(std::vector<Part>& out) {
  Nested nested(*this);
  open_.emplace_back("$(", line_at(pos_));
  std::size_t start = pos_;
  // A here-document of the line around it begins behind that line, not at a newline in here.
  auto outer = std::exchange(pending_, {});
  pos_ += 2;
  Part part;
  part.kind = PartKind::command;
  skip_newlines();
  if (peek() != ')') part.command = compound_list();
  skip_newlines();
  if (at_end()) unexpected_end(")");
  if (peek() != ')') unexpected();
  ++pos_;
  pending_.insert(pending_.begin(), outer.begin(), outer.end());
  open_.pop_back();
  reprint(start, "$(", part.command, true);
  // $(< file) reads the file without starting anything: marked here, so that expansion need not look again.
  if (part.command && part.command->kind == NodeKind::list) {
    const auto& list = static_cast<const List&>(*part.command);
    if (list.items.size() == 1 && !list.items[0].background &&
        list.items[0].command->kind == NodeKind::simple) {
      const auto& simple = static_cast<const SimpleCommand&>(*list.items[0].command);
      if (simple.words.empty() && simple.assigns.empty() && simple.redirects.size() == 1 &&
          simple.redirects[0].kind == RedirectKind::in && simple.redirects[0].fd <= 0)
        part.direction = '<';
    }
  }
  out.push_back(std::move(part));
}

void Parser::process_sub(std::vector<Part>& out, char direction) {
  Nested nested(*this);
  std::size_t start = pos_;
  // As in command_sub(): here-documents of the outer line wait.
  auto outer = std::exchange(pending_, {});
  pos_ += 2;
  Part part;
  part.kind = PartKind::process;
  part.direction = direction;
  skip_newlines();
  if (peek() != ')') part.command = compound_list();
  skip_newlines();
  if (at_end()) unexpected_end(")");
  if (peek() != ')') unexpected();
  ++pos_;
  pending_.insert(pending_.begin(), outer.begin(), outer.end());
  reprint(start, direction == '<' ? "<(" : ">(", part.command, true);
  out.push_back(std::move(part));
}

// From the '(' at `open` to its partner, quotes respected; npos if there is none.
std::size_t Parser::matching_paren(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < src_.size(); ++i) {
    char c = src_[i];
    // The text is scanned here and parsed afterwards; charge() below makes nesting, which scans it again at
    // every level, cost steps.
    if (c == '\\') {
      ++i;
    } else if (c == '\'') {
      i = src_.find('\'', i + 1);
      if (i == std::string::npos) return i;
    } else if (c == '"') {
      for (++i; i < src_.size() && src_[i] != '"'; ++i)
        if (src_[i] == '\\') ++i;
    } else if (c == '(') {
      ++depth;
    } else if (c == ')') {
      if (--depth == 0) {
        context_.charge((i - open) / 4);
        return i;
      }
    }
  }
  context_.charge((src_.size() - open) / 4);
  return std::string::npos;
}

// Text in which only $, ` and backslashes mean something: arithmetic and the bodies of here-documents.
// Arithmetic takes double quotes off as well.
Word Parser::text_word(std::size_t from, std::size_t to, Mode mode) {
  Parser inner(src_.substr(from, to - from), context_, line_at(from), depth_);
  Word out;
  while (!inner.at_end()) {
    char c = inner.peek();
    if (c == '\\' && inner.pos_ + 1 < inner.src_.size()) {
      char d = inner.peek(1);
      if (d == '\n') {
        inner.pos_ += 2;
        continue;
      }
      if (d == '$' || d == '`' || d == '\\' || (mode == Mode::arith && d == '"')) {
        inner.add_text(out.parts, PartKind::quoted, std::string_view(&d, 1));
        inner.pos_ += 2;
        continue;
      }
    }
    if (c == '$')
      inner.dollar(out.parts, Mode::dquote);
    else if (c == '`')
      inner.back_quotes(out.parts, mode);
    else if (c == '"' && mode == Mode::arith)
      inner.double_quotes(out.parts);
    else
      inner.add_text(out.parts, PartKind::quoted, std::string_view(inner.src_).substr(inner.pos_++, 1));
  }
  out.raw = std::move(inner.src_);
  return out;
}

Word Parser::parse_text(std::string text, const ParserContext& context, int line) {
  Parser parser(std::move(text), context, line);
  return parser.text_word(0, parser.src_.size(), Mode::here);
}

// Metacharacters are literal here: the text is one word whatever it holds.
Word Parser::parse_word_text(std::string text, const ParserContext& context, int line) {
  Parser parser(std::move(text), context, line);
  Word out;
  while (!parser.at_end()) {
    if (parser.word_part(out, Mode::plain, true)) continue;
    parser.add_text(out.parts, PartKind::literal, std::string_view(parser.src_).substr(parser.pos_++, 1));
  }
  out.raw = parser.src_;
  return out;
}

std::shared_ptr<const ArithText> Parser::make_arith(Word word) {
  auto arith = std::make_shared<ArithText>();
  // An expression without expansions is the same each time: its tree is made once and kept.
  arith->constant = true;
  for (const Part& part : word.parts) {
    if (part.kind == PartKind::literal || part.kind == PartKind::quoted)
      arith->text += part.text;
    else
      arith->constant = false;
  }
  arith->word = std::move(word);
  return arith;
}

bool Parser::arith_sub(std::vector<Part>& out) {
  std::size_t inner = matching_paren(pos_ + 2);
  // $((...) ...) is a command substitution that begins with a subshell.
  if (inner == std::string::npos || inner + 1 >= src_.size() || src_[inner + 1] != ')') return false;
  Nested nested(*this);
  Part part;
  part.kind = PartKind::arith;
  part.arith = make_arith(text_word(pos_ + 3, inner, Mode::arith));
  pos_ = inner + 2;
  out.push_back(std::move(part));
  return true;
}

void Parser::dollar(std::vector<Part>& out, Mode mode) {
  // A line may be continued between $ and what follows it.
  while (peek(1) == '\\' && peek(2) == '\n') src_.erase(pos_ + 1, 2);
  char c = peek(1);
  if (c == '(') {
    if (peek(2) == '(' && arith_sub(out)) return;
    return command_sub(out);
  }
  if (c == '{') return brace_param(out, mode);
  if (c == '\'' && mode == Mode::plain) return ansi_quotes(out);
  if (c == '"' && mode == Mode::plain) {
    // $"..." asks for a translation; there are none, and the $ is not printed back.
    ++pos_;
    reprint(pos_ - 1, "");
    return double_quotes(out);
  }
  // $[1+2], the form of arithmetic before $((1+2)).
  if (c == '[') {
    std::size_t end = find_subscript_end(pos_ + 1);
    if (end != std::string::npos) {
      Nested nested(*this);
      Part part;
      part.kind = PartKind::arith;
      part.arith = make_arith(text_word(pos_ + 2, end, Mode::arith));
      pos_ = end + 1;
      out.push_back(std::move(part));
      return;
    }
  }
  auto param = std::make_shared<Param>();
  if (name_start(c)) {
    std::size_t end = pos_ + 1;
    while (end < src_.size() && name_char(src_[end])) ++end;
    param->name = src_.substr(pos_ + 1, end - pos_ - 1);
    pos_ = end;
  } else if (c != '\0' && std::string_view("@*#?-$!0123456789").find(c) != std::string_view::npos) {
    param->name = std::string(1, c);
    pos_ += 2;
  } else {
    // A $ before nothing that could be a name stands for itself.
    add_text(out, mode == Mode::plain ? PartKind::literal : PartKind::quoted, "$");
    ++pos_;
    return;
  }
  param->raw = param->name;
  param->plain = name_start(c);
  Part part;
  part.kind = PartKind::param;
  part.param = std::move(param);
  out.push_back(std::move(part));
}

// The ']' that closes the '[' at `open`, with nested brackets, quotes and expansions skipped; npos if none.
std::size_t Parser::find_subscript_end(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < src_.size(); ++i) {
    char c = src_[i];
    if (c == '\\')
      ++i;
    else if (c == '\'') {
      i = src_.find('\'', i + 1);
      if (i == std::string::npos) return i;
    } else if (c == '"') {
      for (++i; i < src_.size() && src_[i] != '"'; ++i) {
        if (src_[i] == '\\')
          ++i;
        else if (src_[i] == '$' && i + 1 < src_.size() && src_[i + 1] == '(') {
          std::size_t close = matching_paren(i + 1);
          if (close == std::string::npos) return close;
          i = close;
        }
      }
    } else if (c == '$' && i + 1 < src_.size() && src_[i + 1] == '(') {
      std::size_t close = matching_paren(i + 1);
      if (close == std::string::npos) return close;
      i = close;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']') {
      if (--depth == 0) {
        context_.charge((i - open) / 4);
        return i;
      }
    }
  }
  context_.charge((src_.size() - open) / 4);
  return std::string::npos;
}

// At '[': the text between it and its partner as a word; pos_ ends behind the ']'.
Word Parser::subscript_word() {
  std::size_t end = find_subscript_end(pos_);
  if (end == std::string::npos) unexpected_end("]");
  Nested nested(*this);
  Parser inner(src_.substr(pos_ + 1, end - pos_ - 1), context_, line_at(pos_), depth_);
  Word out;
  while (!inner.at_end()) {
    if (inner.word_part(out, Mode::plain, false)) continue;
    inner.add_text(out.parts, PartKind::literal, std::string_view(inner.src_).substr(inner.pos_++, 1));
  }
  out.raw = std::move(inner.src_);
  pos_ = end + 1;
  return out;
}

}  // namespace atl::shell
