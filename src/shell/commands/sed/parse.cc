#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/utf8.h"
#include "shell/commands/sed/script.h"

namespace atl::shell::sed {

namespace {

class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options) : in_(text), options_(options) {}
  Result<Script> run();

 private:
  Result<void> command();
  Result<bool> address(Address& out);
  Result<void> arguments(Command& c);
  Result<void> substitute(Command& c);
  Result<void> transliterate(Command& c);
  Result<void> text_argument(Command& c);
  Result<std::string> delimited(char delimiter, bool regex);
  Result<std::unique_ptr<Regex>> compile(const std::string& pattern, bool ignore_case, bool multiline);
  Result<std::vector<Piece>> replacement(const std::string& text);
  std::string word_to_end();
  std::string label();
  Result<void> end_of_command();

  void blanks() {
    while (at_ < in_.size() && (in_[at_] == ' ' || in_[at_] == '\t')) ++at_;
  }
  void blanks_and_newlines() {
    while (at_ < in_.size() && (isspace(static_cast<unsigned char>(in_[at_])) || in_[at_] == ';')) ++at_;
  }
  bool more() const { return at_ < in_.size(); }
  char peek() const { return at_ < in_.size() ? in_[at_] : '\0'; }
  std::unexpected<Error> error(std::string_view message) const {
    return fail(Code::invalid_argument, fmt::format("-e expression #1, char {}: {}", at_, message));
  }

  std::string_view in_;
  ParseOptions options_;
  std::size_t at_ = 0;
  Script script_;
  std::vector<std::size_t> blocks_;
  std::unordered_map<std::string, std::size_t> labels_;
};

Result<Script> Parser::run() {
  if (in_.starts_with("#n\n") || in_ == "#n") script_.quiet_by_first_line = true;
  while (true) {
    blanks_and_newlines();
    if (!more()) break;
    TRY(command());
  }
  if (!blocks_.empty()) {
    at_ = 0;
    return fail(Code::invalid_argument, "-e expression #1, char 0: unmatched `{'");
  }
  // Labels may stand behind the jumps to them.
  for (Command& c : script_.commands) {
    if (c.name != 'b' && c.name != 't' && c.name != 'T') continue;
    if (c.text.empty()) {
      c.target = script_.commands.size();
      continue;
    }
    auto found = labels_.find(c.text);
    if (found == labels_.end())
      return fail(
          Code::invalid_argument,
          fmt::format("-e expression #1, char {}: can't find label for jump to `{}'", in_.size(), c.text));
    c.target = found->second;
  }
  return std::move(script_);
}

Result<void> Parser::command() {
  Command c;
  if (peek() == '#') {
    while (more() && in_[at_] != '\n') ++at_;
    return {};
  }
  bool has_first = TRY(address(c.from));
  blanks();
  if (has_first && peek() == ',') {
    ++at_;
    blanks();
    bool has_second = TRY(address(c.to));
    if (!has_second) return error("unexpected `,'");
  }
  if (c.from.kind == Address::Kind::zero && c.to.kind != Address::Kind::regex)
    return error("invalid usage of line address 0");
  blanks();
  while (peek() == '!') {
    c.negate = true;
    ++at_;
    blanks();
  }
  if (!more()) return error("missing command");
  c.name = in_[at_++];
  TRY(arguments(c));
  return {};
}

Result<bool> Parser::address(Address& out) {
  char c = peek();
  if (isdigit(static_cast<unsigned char>(c))) {
    std::uint64_t value = 0;
    while (isdigit(static_cast<unsigned char>(peek())))
      value = value * 10 + static_cast<unsigned>(in_[at_++] - '0');
    out.first = value;
    out.kind = value == 0 ? Address::Kind::zero : Address::Kind::line;
    if (peek() == '~') {
      ++at_;
      std::uint64_t step = 0;
      while (isdigit(static_cast<unsigned char>(peek())))
        step = step * 10 + static_cast<unsigned>(in_[at_++] - '0');
      out.step = step;
      out.kind = Address::Kind::step;
    }
    return true;
  }
  if (c == '$') {
    ++at_;
    out.kind = Address::Kind::last;
    return true;
  }
  if (c == '+' || c == '~') {
    ++at_;
    std::uint64_t value = 0;
    while (isdigit(static_cast<unsigned char>(peek())))
      value = value * 10 + static_cast<unsigned>(in_[at_++] - '0');
    out.kind = c == '+' ? Address::Kind::plus : Address::Kind::multiple;
    out.first = value;
    return true;
  }
  if (c == '/' || c == '\\') {
    ++at_;
    char delimiter = c;
    if (c == '\\') {
      if (!more()) return error("unexpected end of file");
      delimiter = in_[at_++];
    }
    std::string pattern = TRY(delimited(delimiter, true));
    bool ignore_case = false, multiline = false;
    while (peek() == 'I' || peek() == 'M') {
      if (peek() == 'I')
        ignore_case = true;
      else
        multiline = true;
      ++at_;
    }
    out.kind = Address::Kind::regex;
    if (!pattern.empty()) out.regex = TRY(compile(pattern, ignore_case, multiline));
    return true;
  }
  return false;
}

// Up to the unescaped delimiter; an escaped delimiter loses its backslash, \n in a regex becomes a newline.
Result<std::string> Parser::delimited(char delimiter, bool regex) {
  std::string out;
  bool bracket = false;
  std::size_t bracket_start = 0;
  while (more()) {
    char c = in_[at_++];
    // The delimiter does not end the expression inside of brackets: s/[/]/x/.
    if (c == delimiter && !bracket) return out;
    if (c == '\n' && regex) return error("unterminated address regex");
    if (c == '\\' && more()) {
      char e = in_[at_++];
      if (e == delimiter) {
        // s|a\|b|X|: the delimiter stands for itself, also where it would be an operator.
        if (regex && (e == '[' || (std::strchr("|+?(){}", e) && !options_.extended)))
          out += e;
        else if (regex && std::strchr(".*[]^$/", e) && e != '/')
          out += std::string("\\") + e;
        else if (regex && options_.extended && std::strchr("|+?(){}", e))
          out += std::string("\\") + e;
        else if (!regex && e == '&')
          out += "\\&";
        else
          out += e;
      } else if (e == 'n' && regex) {
        out += bracket ? "\n" : "\\n";
      } else if (bracket && regex && e != 't') {
        out += '\\';
        out += e;
        if (e == ']') {
          // In brackets a backslash is a plain character and ] closes.
          bracket = false;
        }
      } else {
        out += '\\';
        out += e;
      }
      continue;
    }
    if (regex) {
      if (c == '[' && !bracket) {
        bracket = true;
        bracket_start = out.size() + 1;
        if (peek() == '^') ++bracket_start;
      } else if (c == '[' && bracket && (peek() == ':' || peek() == '.' || peek() == '=')) {
        std::string closing = {peek(), ']'};
        std::size_t close = in_.find(closing, at_ + 1);
        if (close != std::string_view::npos) {
          out += in_.substr(at_ - 1, close + 2 - (at_ - 1));
          at_ = close + 2;
          continue;
        }
      } else if (c == ']' && bracket && out.size() > bracket_start) {
        bracket = false;
      }
    }
    out += c;
  }
  return error(regex ? "unterminated address regex" : "unterminated `s' command");
}

// Escapes that produce characters, before the regular expression is looked at.
std::string expand_escapes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    char e = text[i + 1];
    auto numeric = [&](int base, std::size_t digits_max) {
      int value = 0;
      std::size_t used = 0;
      while (used < digits_max && i + 2 + used < text.size()) {
        char d = text[i + 2 + used];
        int digit = d >= '0' && d <= '9'                      ? d - '0'
                    : isxdigit(static_cast<unsigned char>(d)) ? (d | 32) - 'a' + 10
                                                              : 99;
        if (digit >= base) break;
        value = value * base + digit;
        ++used;
      }
      if (used == 0) return false;
      char c = static_cast<char>(value);
      // A character that is given by its number is itself, even if it would mean something: s/\x2e/x/ is
      // about a dot.
      if (std::strchr("*.[]^$/+?(){}|\\&", c) && c) out += '\\';
      out += c;
      i += 1 + used;
      return true;
    };
    switch (e) {
      case 't':
        out += '\t';
        ++i;
        continue;
      case 'f':
        out += '\f';
        ++i;
        continue;
      case 'v':
        out += '\v';
        ++i;
        continue;
      case 'a':
        out += '\a';
        ++i;
        continue;
      case 'r':
        out += '\r';
        ++i;
        continue;
      case 'x':
        if (numeric(16, 2)) continue;
        break;
      case 'o':
        if (numeric(8, 3)) continue;
        break;
      case 'd':
        if (numeric(10, 3)) continue;
        break;
      default: break;
    }
    out += text[i];
    out += text[++i];
  }
  return out;
}

Result<std::unique_ptr<Regex>> Parser::compile(const std::string& pattern, bool ignore_case, bool multiline) {
  RegexOptions settings;
  settings.ignore_case = ignore_case;
  settings.multiline = multiline;
  auto regex =
      Regex::compile(expand_escapes(pattern), options_.extended ? Syntax::extended : Syntax::basic, settings);
  if (!regex) return error(regex.error().message());
  return std::make_unique<Regex>(std::move(*regex));
}

Result<std::vector<Piece>> Parser::replacement(const std::string& raw) {
  std::vector<Piece> pieces;
  std::string text = expand_escapes(raw);
  auto literal = [&](char c) {
    if (pieces.empty() || pieces.back().kind != Piece::Kind::text)
      pieces.push_back({Piece::Kind::text, {}, 0});
    pieces.back().text += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '&') {
      pieces.push_back({Piece::Kind::group, {}, 0});
    } else if (c == '\\' && i + 1 < text.size()) {
      char e = text[++i];
      switch (e) {
        case 'n': literal('\n'); break;
        case 'U': pieces.push_back({Piece::Kind::upper, {}, 0}); break;
        case 'L': pieces.push_back({Piece::Kind::lower, {}, 0}); break;
        case 'u': pieces.push_back({Piece::Kind::upper_once, {}, 0}); break;
        case 'l': pieces.push_back({Piece::Kind::lower_once, {}, 0}); break;
        case 'E': pieces.push_back({Piece::Kind::end_case, {}, 0}); break;
        default:
          if (e >= '0' && e <= '9')
            pieces.push_back({Piece::Kind::group, {}, static_cast<std::size_t>(e - '0')});
          else
            literal(e);
      }
    } else {
      literal(c);
    }
  }
  return pieces;
}

Result<void> Parser::substitute(Command& c) {
  if (!more()) return error("unterminated `s' command");
  char delimiter = in_[at_++];
  if (delimiter == '\n' || delimiter == '\\') return error("unterminated `s' command");
  auto pattern = delimited(delimiter, true);
  if (!pattern) return error("unterminated `s' command");
  std::string with = TRY(delimited(delimiter, false));
  bool ignore_case = false, multiline = false, counted = false;
  for (bool flags = true; flags && more();) {
    char f = peek();
    switch (f) {
      case 'g':
        c.global = true;
        ++at_;
        break;
      case 'p':
        c.print = true;
        ++at_;
        break;
      case 'i':
      case 'I':
        ignore_case = true;
        ++at_;
        break;
      case 'm':
      case 'M':
        multiline = true;
        ++at_;
        break;
      case 'e':
        c.evaluate = true;
        ++at_;
        break;
      case 'w':
        ++at_;
        c.text = word_to_end();
        if (c.text.empty()) return error("missing filename in r/R/w/W commands");
        flags = false;
        break;
      default:
        if (isdigit(static_cast<unsigned char>(f))) {
          if (counted) return error("multiple number options to `s' command");
          counted = true;
          c.nth = 0;
          while (isdigit(static_cast<unsigned char>(peek())))
            c.nth = c.nth * 10 + static_cast<unsigned>(in_[at_++] - '0');
          if (c.nth == 0) return error("number option to `s' command may not be zero");
        } else {
          flags = false;
        }
    }
  }
  if (!pattern->empty()) c.regex = TRY(compile(*pattern, ignore_case, multiline));
  c.replacement = TRY(replacement(with));
  for (const Piece& piece : c.replacement)
    if (piece.kind == Piece::Kind::group && c.regex && piece.group > c.regex->groups())
      return error(fmt::format("invalid reference \\{} on `s' command's RHS", piece.group));
  return end_of_command();
}

Result<void> Parser::transliterate(Command& c) {
  if (!more()) return error("unterminated `y' command");
  char delimiter = in_[at_++];
  auto side = [&]() -> Result<std::vector<std::string>> {
    std::vector<std::string> out;
    while (more()) {
      if (in_[at_] == delimiter) {
        ++at_;
        return out;
      }
      if (in_[at_] == '\\' && at_ + 1 < in_.size()) {
        char e = in_[at_ + 1];
        at_ += 2;
        if (e == 'n')
          out.push_back("\n");
        else if (e == 't')
          out.push_back("\t");
        else if (e == 'r')
          out.push_back("\r");
        else if (e == '\\' || e == delimiter)
          out.push_back(std::string(1, e));
        else {
          out.push_back("\\");
          out.push_back(std::string(1, e));
        }
        continue;
      }
      std::size_t length = utf8::read_length(in_, at_);
      out.emplace_back(in_.substr(at_, length));
      at_ += length;
    }
    return error("unterminated `y' command");
  };
  auto from = TRY(side());
  auto to = TRY(side());
  if (from.size() != to.size()) return error("strings for `y' command are different lengths");
  for (std::size_t i = 0; i < from.size(); ++i) c.wide_map.emplace(from[i], to[i]);
  return end_of_command();
}

std::string Parser::word_to_end() {
  blanks();
  std::size_t end = in_.find('\n', at_);
  if (end == std::string_view::npos) end = in_.size();
  std::string out(in_.substr(at_, end - at_));
  at_ = end;
  return out;
}

std::string Parser::label() {
  blanks();
  std::size_t end = in_.find_first_of("\n;}", at_);
  if (end == std::string_view::npos) end = in_.size();
  std::string out(in_.substr(at_, end - at_));
  at_ = end;
  while (!out.empty() && isspace(static_cast<unsigned char>(out.back()))) out.pop_back();
  return out;
}

// a, i, c: GNU's one-line form, or text behind a backslash and newline, continued by backslashes.
Result<void> Parser::text_argument(Command& c) {
  blanks();
  if (!more()) return error("expected \\ after `a', `c' or `i'");
  if (peek() == '\\') {
    ++at_;
    std::size_t mark = at_;
    blanks();
    if (peek() == '\n') {
      ++at_;
    } else {
      // a\text: the backslash keeps leading blanks.
      at_ = mark;
      if (!more()) return {};  // `$a\`: no text, but a last line without newline gets one
    }
  }
  while (more()) {
    char ch = in_[at_++];
    if (ch == '\n') break;
    if (ch == '\\' && more()) {
      char e = in_[at_++];
      if (e == 't')
        c.text += '\t';
      else
        c.text += e;
      continue;
    }
    if (ch == '\\') break;
    c.text += ch;
  }
  c.text += '\n';
  return {};
}

Result<void> Parser::end_of_command() {
  blanks();
  if (!more()) return {};
  char c = peek();
  if (c == '\n' || c == ';') {
    ++at_;
    return {};
  }
  if (c == '}' || c == '#') return {};
  ++at_;
  return error("extra characters after command");
}

Result<void> Parser::arguments(Command& c) {
  auto numeric = [&] {
    blanks();
    c.number = -1;
    if (isdigit(static_cast<unsigned char>(peek()))) c.number = 0;
    while (isdigit(static_cast<unsigned char>(peek())))
      c.number = std::min<std::int64_t>(c.number * 10 + (in_[at_++] - '0'), 1'000'000);
  };
  switch (c.name) {
    case '{':
      blocks_.push_back(script_.commands.size());
      script_.commands.push_back(std::move(c));
      return {};
    case '}': {
      if (blocks_.empty()) return error("unexpected `}'");
      if (c.from.kind != Address::Kind::none) return error("} doesn't want any addresses");
      script_.commands[blocks_.back()].target = script_.commands.size();
      blocks_.pop_back();
      return end_of_command();
    }
    case ':': {
      if (c.from.kind != Address::Kind::none) return error(": doesn't want any addresses");
      blanks();
      std::size_t end = in_.find_first_of("\n;", at_);
      if (end == std::string_view::npos) end = in_.size();
      std::string name(in_.substr(at_, end - at_));
      while (!name.empty() && isspace(static_cast<unsigned char>(name.back()))) name.pop_back();
      at_ = end;
      if (name.empty()) return error("\":\" lacks a label");
      labels_[name] = script_.commands.size();
      return {};
    }
    case 'b':
    case 't':
    case 'T': c.text = label(); break;
    case 's': TRY(substitute(c)); break;
    case 'y': TRY(transliterate(c)); break;
    case 'a':
    case 'i':
    case 'c': TRY(text_argument(c)); break;
    case 'r':
    case 'R':
    case 'w':
    case 'W':
      c.text = word_to_end();
      if (c.text.empty()) return error("missing filename in r/R/w/W commands");
      break;
    case 'e': c.text = word_to_end(); break;
    case 'q':
    case 'Q':
      if (c.to.kind != Address::Kind::none) return error("command only uses one address");
      [[fallthrough]];
    case 'l':
    case 'L':
      numeric();
      TRY(end_of_command());
      break;
    case '=':
    case 'd':
    case 'D':
    case 'g':
    case 'G':
    case 'h':
    case 'H':
    case 'n':
    case 'N':
    case 'p':
    case 'P':
    case 'x':
    case 'z':
    case 'F': TRY(end_of_command()); break;
    case 'v': word_to_end(); return {};
    default: return error(fmt::format("unknown command: `{}'", c.name));
  }
  script_.commands.push_back(std::move(c));
  return {};
}

}  // namespace

Result<Script> parse(std::string_view text, const ParseOptions& options) {
  return Parser(text, options).run();
}

}  // namespace atl::shell::sed
