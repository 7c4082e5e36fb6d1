#include "shell/regex/posix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace atl::shell {

namespace {

// Both engines recurse for nested groups.
constexpr std::size_t kNestingMax = 200;
constexpr std::size_t kRepeatMax = 32767;

bool word_char(unsigned char c) {
  return isalnum(c) || c == '_';
}

// One pass over the pattern. The grammar is flat enough for a hand-written loop with a stack of open groups.
class Translator {
 public:
  Translator(std::string_view pattern, Syntax syntax)
      : in_(pattern), extended_(syntax != Syntax::basic), awk_(syntax == Syntax::awk) {}

  Result<Translated> run();

 private:
  // What kind of thing the last atom was, for * after nothing and for word edges.
  enum class Last : unsigned char { none, word, other, anchor };

  Result<void> step();
  Result<void> escape();
  Result<void> bracket();
  Result<void> interval();
  void quantifier(char c);
  void literal(std::string_view bytes);
  bool starts_atom() const { return last_ == Last::none; }
  bool at_end_anchor() const;
  void open_group();
  Result<void> close_group();
  void alternation();
  void word_edge(bool begin);
  bool next_is_word() const;
  Result<void> bracket_item(std::string& body, bool& any);
  Result<char32_t> bracket_char(bool& is_class, std::string& class_text);

  bool more(std::size_t ahead = 0) const { return at_ + ahead < in_.size(); }
  char peek(std::size_t ahead = 0) const { return in_[at_ + ahead]; }

  std::string_view in_;
  bool extended_;
  bool awk_;
  std::size_t at_ = 0;
  Translated out_;
  std::vector<std::size_t> open_;
  std::vector<bool> closed_{true};
  Last last_ = Last::none;
  std::size_t last_begin_ = 0;  // where in out_.text the last atom starts
  bool quantified_ = false;
  bool plain_ = true;
};

void append_code_point(std::string& out, char32_t c) {
  out += fmt::format("\\x{{{:x}}}", static_cast<unsigned>(c));
}

void Translator::literal(std::string_view bytes) {
  last_begin_ = out_.text.size();
  quantified_ = false;
  out_.plain.append(bytes);
  last_ = bytes.size() == 1 && word_char(static_cast<unsigned char>(bytes[0])) ? Last::word : Last::other;
  if (bytes.size() == 1) {
    char c = bytes[0];
    if (c == '\0') {
      out_.text += "\\x00";
      return;
    }
    if (c == '\n') {
      out_.text += "\\n";
      return;
    }
    // Escaped even where it is not needed: both engines take an escaped punctuation character as itself.
    if (std::strchr("\\^$.[]|()?*+{}-/#\"", c)) out_.text += '\\';
  }
  out_.text.append(bytes);
}

bool Translator::at_end_anchor() const {
  if (extended_) return true;
  // In a basic expression $ is an anchor only at the end, of the whole or of an alternative or group.
  std::string_view rest = in_.substr(at_ + 1);
  return rest.empty() || rest.starts_with("\\)") || rest.starts_with("\\|");
}

void Translator::open_group() {
  out_.text += '(';
  ++out_.groups;
  open_.push_back(out_.groups);
  closed_.resize(out_.groups + 1, false);
  last_ = Last::none;
  plain_ = false;
  // The group is the atom that a quantifier behind it repeats; PCRE2 and RE2 find it themselves.
}

Result<void> Translator::close_group() {
  if (open_.empty()) return fail(Code::invalid_argument, "Unmatched ) or \\)");
  closed_[open_.back()] = true;
  open_.pop_back();
  out_.text += ')';
  last_ = Last::other;
  quantified_ = false;
  return {};
}

void Translator::alternation() {
  out_.text += '|';
  last_ = Last::none;
  plain_ = false;
}

bool Translator::next_is_word() const {
  // Looks behind opening parentheses for what the match begins with. False whenever it is not certain; a
  // repetition that may be empty makes it uncertain.
  std::size_t i = at_;
  while (i < in_.size() && (in_[i] == '(' && extended_)) ++i;
  while (!extended_ && i + 1 < in_.size() && in_[i] == '\\' && in_[i + 1] == '(') i += 2;
  if (i >= in_.size()) return false;
  auto optional = [&](std::size_t behind) {
    if (behind >= in_.size()) return false;
    char c = in_[behind];
    return c == '*' || (extended_ && (c == '?' || c == '{')) || (c == '\\' && !extended_);
  };
  if (word_char(static_cast<unsigned char>(in_[i]))) return !optional(i + 1);
  if (in_[i] == '\\' && i + 1 < in_.size() && in_[i + 1] == 'w') return !optional(i + 2);
  if (in_[i] == '[') {
    std::size_t close = in_.find(']', i + 2);
    if (close == std::string_view::npos || in_[i + 1] == '^') return false;
    std::string_view body = in_.substr(i + 1, close - i - 1);
    for (std::size_t k = 0; k < body.size(); ++k)
      if (!word_char(static_cast<unsigned char>(body[k])) &&
          !(body[k] == '-' && k > 0 && k + 1 < body.size()))
        return false;
    return !optional(close + 1);
  }
  return false;
}

// RE2 has only \b. It says the same as \< before a word character and as \> behind one.
void Translator::word_edge(bool begin) {
  plain_ = false;
  bool certain = begin ? next_is_word() : (last_ == Last::word && !quantified_);
  if (certain) {
    out_.text += "\\b";
  } else {
    // Looking ahead and behind is PCRE2's alone.
    out_.text += begin ? "\\b(?=\\w)" : "\\b(?<=\\w)";
    out_.backtracks = true;
  }
  last_ = Last::anchor;
}

void Translator::quantifier(char c) {
  plain_ = false;
  if (quantified_) {
    // a** and a+? mean repeated repetition in POSIX; here a lazy or possessive form would result.
    std::string inner = out_.text.substr(last_begin_);
    if (last_begin_ < out_.text.size() && inner.find('(') == std::string::npos) {
      out_.text.resize(last_begin_);
      out_.text += "(?:" + inner + ")";
    } else if (c == '*' || c == '?' || c == '+') {
      char& previous = out_.text.back();
      if (previous == '*' || previous == '+' || previous == '?') {
        if (previous != c) previous = '*';
        return;
      }
    }
  }
  out_.text += c;
  quantified_ = true;
  if (c != '+') last_ = last_ == Last::word ? Last::other : last_;
}

Result<void> Translator::interval() {
  // at_ stands behind the opening brace.
  plain_ = false;
  std::size_t close = extended_ ? in_.find('}', at_) : in_.find("\\}", at_);
  if (close == std::string_view::npos) return fail(Code::invalid_argument, "Unmatched { or \\{");
  std::string_view body = in_.substr(at_, close - at_);
  std::size_t comma = body.find(',');
  auto number = [](std::string_view text, long& value) {
    value = -1;
    if (text.empty()) return true;
    value = 0;
    for (char c : text) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + (c - '0');
      if (value > static_cast<long>(kRepeatMax)) return false;
    }
    return true;
  };
  long low = -1, high = -1;
  if (!number(body.substr(0, comma), low) ||
      (comma != std::string_view::npos && !number(body.substr(comma + 1), high)))
    return fail(Code::invalid_argument, "Invalid content of \\{\\}");
  if (comma == std::string_view::npos) {
    if (low < 0) return fail(Code::invalid_argument, "Invalid content of \\{\\}");
    high = low;
  }
  if (low < 0) low = 0;
  if (high >= 0 && low > high) return fail(Code::invalid_argument, "Invalid content of \\{\\}");
  // a*{2}: grouped, because PCRE2 would read *{ as something else.
  if (quantified_ && last_begin_ < out_.text.size()) {
    std::string inner = out_.text.substr(last_begin_);
    if (inner.find('(') == std::string::npos) {
      out_.text.resize(last_begin_);
      out_.text += "(?:" + inner + ")";
    }
  }
  out_.text += comma == std::string_view::npos ? fmt::format("{{{}}}", low)
               : high < 0                      ? fmt::format("{{{},}}", low)
                                               : fmt::format("{{{},{}}}", low, high);
  quantified_ = true;
  if (low == 0 && last_ == Last::word) last_ = Last::other;
  at_ = close + (extended_ ? 1 : 2);
  return {};
}

Result<char32_t> Translator::bracket_char(bool& is_class, std::string& class_text) {
  is_class = false;
  char c = peek();
  if (c == '[' && more(1) && (peek(1) == ':' || peek(1) == '.' || peek(1) == '=')) {
    char kind = peek(1);
    std::string closing = {kind, ']'};
    std::size_t close = in_.find(closing, at_ + 2);
    if (close == std::string_view::npos)
      return fail(Code::invalid_argument, "Unmatched [, [^, [:, [., or [=");
    std::string_view name = in_.substr(at_ + 2, close - at_ - 2);
    at_ = close + 2;
    if (kind == ':') {
      static constexpr std::string_view kNames[] = {"alpha", "digit", "alnum", "upper", "lower", "space",
                                                    "blank", "punct", "print", "graph", "cntrl", "xdigit"};
      if (std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames))
        return fail(Code::invalid_argument, "Invalid character class name");
      is_class = true;
      class_text = fmt::format("[:{}:]", name);
      return U'\0';
    }
    if (name.size() == 1) return static_cast<unsigned char>(name[0]);
    if (name == "space") return U' ';
    if (name == "hyphen") return U'-';
    return fail(Code::invalid_argument, "Invalid collation character");
  }
  // Only in awk a backslash escapes inside brackets; elsewhere it is a member.
  if (awk_ && c == '\\' && more(1)) {
    char e = peek(1);
    at_ += 2;
    switch (e) {
      case 'n': return U'\n';
      case 't': return U'\t';
      case 'r': return U'\r';
      case 'f': return U'\f';
      case 'v': return U'\v';
      case 'a': return U'\a';
      case 'b': return U'\b';
      case 'w':
        is_class = true;
        class_text = "\\w";
        return U'\0';
      case 's':
        is_class = true;
        class_text = "\\s";
        return U'\0';
      case 'd':
        is_class = true;
        class_text = "[:digit:]";
        return U'\0';
      default: break;
    }
    if (e >= '0' && e <= '7') {
      char32_t value = static_cast<char32_t>(e - '0');
      for (int i = 0; i < 2 && more() && peek() >= '0' && peek() <= '7'; ++i, ++at_)
        value = value * 8 + static_cast<char32_t>(peek() - '0');
      return value;
    }
    return static_cast<unsigned char>(e);
  }
  unsigned char u = static_cast<unsigned char>(c);
  if (u < 0x80) {
    ++at_;
    return u;
  }
  std::size_t need = u >= 0xF0 ? 4 : u >= 0xE0 ? 3 : u >= 0xC2 ? 2 : 1;
  if (need == 1 || at_ + need > in_.size()) {
    ++at_;
    return U'\xFFFD';
  }
  char32_t value = u & (0x7F >> need);
  for (std::size_t i = 1; i < need; ++i)
    value = (value << 6) | (static_cast<unsigned char>(in_[at_ + i]) & 0x3F);
  at_ += need;
  return value;
}

Result<void> Translator::bracket_item(std::string& body, bool& any) {
  bool is_class = false;
  std::string class_text;
  char32_t low = TRY(bracket_char(is_class, class_text));
  any = true;
  if (is_class) {
    body += class_text;
    return {};
  }
  if (more(1) && peek() == '-' && peek(1) != ']') {
    ++at_;
    char32_t high = TRY(bracket_char(is_class, class_text));
    if (is_class || high < low) return fail(Code::invalid_argument, "Invalid range end");
    append_code_point(body, low);
    body += '-';
    append_code_point(body, high);
    return {};
  }
  append_code_point(body, low);
  return {};
}

Result<void> Translator::bracket() {
  plain_ = false;
  ++at_;
  std::string body = "[";
  bool negated = more() && peek() == '^';
  if (negated) {
    body += '^';
    ++at_;
  }
  bool any = false;
  bool first = true;
  bool all_word = !negated;
  while (true) {
    if (!more()) return fail(Code::invalid_argument, "Unmatched [, [^, [:, [., or [=");
    // A ] that comes first is a member.
    if (peek() == ']' && !first) break;
    first = false;
    if (!word_char(static_cast<unsigned char>(peek()))) all_word = false;
    auto item = bracket_item(body, any);
    if (!item) return std::unexpected(item.error());
  }
  ++at_;
  body += ']';
  last_begin_ = out_.text.size();
  quantified_ = false;
  out_.text += body;
  last_ = all_word ? Last::word : Last::other;
  return {};
}

Result<void> Translator::escape() {
  if (!more(1)) return fail(Code::invalid_argument, "Trailing backslash");
  char c = peek(1);
  at_ += 2;
  auto raw = [&](std::string_view text, Last last) {
    plain_ = false;
    last_begin_ = out_.text.size();
    quantified_ = false;
    out_.text += text;
    last_ = last;
  };
  if (!extended_) {
    if (c == '(') {
      if (open_.size() >= kNestingMax) return fail(Code::invalid_argument, "Regular expression too big");
      open_group();
      return {};
    }
    if (c == ')') return close_group();
    if (c == '|') {
      alternation();
      return {};
    }
    if (c == '{') {
      if (starts_atom()) return fail(Code::invalid_argument, "Invalid preceding regular expression");
      return interval();
    }
    if (c == '+' || c == '?') {
      if (starts_atom())
        literal({&c, 1});
      else
        quantifier(c);
      return {};
    }
  }
  switch (c) {
    case 'w': raw("\\w", Last::word); return {};
    case 'W': raw("\\W", Last::other); return {};
    case 's': raw("[[:space:]]", Last::other); return {};
    case 'S': raw("[^[:space:]]", Last::other); return {};
    case 'B': raw("\\B", Last::anchor); return {};
    case '<': word_edge(true); return {};
    case '>': word_edge(false); return {};
    case '`': raw("\\A", Last::anchor); return {};
    case '\'': raw("\\z", Last::anchor); return {};
    case 'b':
      if (awk_) break;
      raw("\\b", Last::anchor);
      return {};
    case 'y':
      if (!awk_) break;
      raw("\\b", Last::anchor);
      return {};
    default: break;
  }
  if (awk_) {
    switch (c) {
      case 'n': literal("\n"); return {};
      case 't': literal("\t"); return {};
      case 'r': literal("\r"); return {};
      case 'f': literal("\f"); return {};
      case 'v': literal("\v"); return {};
      case 'a': literal("\a"); return {};
      case 'b': literal("\b"); return {};
      default: break;
    }
    if (c >= '0' && c <= '7') {
      int value = c - '0';
      for (int i = 0; i < 2 && more() && peek() >= '0' && peek() <= '7'; ++i, ++at_)
        value = value * 8 + (peek() - '0');
      char byte = static_cast<char>(value);
      literal({&byte, 1});
      return {};
    }
  } else if (c >= '1' && c <= '9') {
    std::size_t group = static_cast<std::size_t>(c - '0');
    // A reference into a group that is still open can never match.
    if (group > out_.groups || !closed_[group]) return fail(Code::invalid_argument, "Invalid back reference");
    out_.backtracks = true;
    raw(fmt::format("\\g{{{}}}", group), Last::other);
    return {};
  } else if (c == 'n') {
    literal("\n");
    return {};
  } else if (c == 't') {
    literal("\t");
    return {};
  }
  literal({&c, 1});
  return {};
}

Result<void> Translator::step() {
  char c = peek();
  switch (c) {
    case '\\': return escape();
    case '[': return bracket();
    case '.':
      plain_ = false;
      last_begin_ = out_.text.size();
      quantified_ = false;
      out_.text += '.';
      last_ = Last::other;
      ++at_;
      return {};
    case '*':
      ++at_;
      if (starts_atom() || (last_ == Last::anchor && !extended_ && out_.text.ends_with('^'))) {
        if (extended_) return {};  // GNU: a leading * matches nothing special
        literal("*");
      } else {
        quantifier('*');
      }
      return {};
    case '^':
      if (extended_ || starts_atom()) {
        plain_ = false;
        out_.text += '^';
        last_ = Last::anchor;
      } else {
        literal("^");
      }
      ++at_;
      return {};
    case '$':
      if (at_end_anchor()) {
        plain_ = false;
        out_.text += '$';
        last_ = Last::anchor;
      } else {
        literal("$");
      }
      ++at_;
      return {};
    default: break;
  }
  if (extended_) {
    switch (c) {
      case '(':
        if (open_.size() >= kNestingMax) return fail(Code::invalid_argument, "Regular expression too big");
        ++at_;
        open_group();
        return {};
      case ')':
        if (open_.empty()) {
          // In an extended expression a lone ) is literal.
          if (awk_) return fail(Code::invalid_argument, "Unmatched ) or \\)");
          break;
        }
        ++at_;
        return close_group();
      case '|':
        ++at_;
        alternation();
        return {};
      case '+':
      case '?':
        ++at_;
        if (starts_atom()) return {};
        quantifier(c);
        return {};
      case '{': {
        bool digits = more(1) && ((peek(1) >= '0' && peek(1) <= '9') || peek(1) == ',');
        // A brace that begins no interval is literal, as GNU has it.
        if (!digits || in_.find('}', at_) == std::string_view::npos) break;
        if (starts_atom()) break;
        ++at_;
        return interval();
      }
      default: break;
    }
  }
  unsigned char u = static_cast<unsigned char>(c);
  std::size_t need = u < 0xC2 ? 1 : u >= 0xF0 ? 4 : u >= 0xE0 ? 3 : 2;
  need = std::min(need, in_.size() - at_);
  literal(in_.substr(at_, need));
  at_ += need;
  return {};
}

Result<Translated> Translator::run() {
  while (more()) {
    auto done = step();
    if (!done) return std::unexpected(done.error());
  }
  if (!open_.empty()) return fail(Code::invalid_argument, "Unmatched ( or \\(");
  out_.literal = plain_;
  return std::move(out_);
}

}  // namespace

Result<Translated> translate(std::string_view pattern, Syntax syntax) {
  return Translator(pattern, syntax).run();
}

}  // namespace atl::shell
