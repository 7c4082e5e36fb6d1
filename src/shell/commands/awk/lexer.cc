#include "shell/commands/awk/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/utf8.h"
#include "shell/commands/awk/ast.h"
#include "shell/text/quotes.h"

namespace atl::shell::awk {

namespace {

bool name_start(char c) {
  return isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool name_char(char c) {
  return isalnum(static_cast<unsigned char>(c)) || c == '_';
}

constexpr std::pair<std::string_view, Token> kKeywords[] = {
    {"BEGIN", Token::k_begin},
    {"END", Token::k_end},
    {"BEGINFILE", Token::k_beginfile},
    {"ENDFILE", Token::k_endfile},
    {"function", Token::k_function},
    {"func", Token::k_function},
    {"if", Token::k_if},
    {"else", Token::k_else},
    {"while", Token::k_while},
    {"for", Token::k_for},
    {"do", Token::k_do},
    {"break", Token::k_break},
    {"continue", Token::k_continue},
    {"next", Token::k_next},
    {"nextfile", Token::k_nextfile},
    {"exit", Token::k_exit},
    {"return", Token::k_return},
    {"delete", Token::k_delete},
    {"in", Token::k_in},
    {"getline", Token::k_getline},
    {"print", Token::k_print},
    {"printf", Token::k_printf},
    {"switch", Token::k_switch},
    {"case", Token::k_case},
    {"default", Token::k_default},
};

constexpr std::pair<std::string_view, Builtin> kBuiltins[] = {
    {"length", Builtin::length},
    {"substr", Builtin::substr},
    {"index", Builtin::index},
    {"split", Builtin::split},
    {"sub", Builtin::sub},
    {"gsub", Builtin::gsub},
    {"gensub", Builtin::gensub},
    {"match", Builtin::match},
    {"sprintf", Builtin::sprintf_},
    {"sin", Builtin::sin},
    {"cos", Builtin::cos},
    {"atan2", Builtin::atan2},
    {"exp", Builtin::exp},
    {"log", Builtin::log},
    {"sqrt", Builtin::sqrt},
    {"int", Builtin::int_},
    {"rand", Builtin::rand},
    {"srand", Builtin::srand},
    {"tolower", Builtin::tolower},
    {"toupper", Builtin::toupper},
    {"system", Builtin::system},
    {"close", Builtin::close},
    {"fflush", Builtin::fflush},
    {"systime", Builtin::systime},
    {"strftime", Builtin::strftime},
    {"mktime", Builtin::mktime},
    {"asort", Builtin::asort},
    {"asorti", Builtin::asorti},
    {"patsplit", Builtin::patsplit},
    {"and", Builtin::and_},
    {"or", Builtin::or_},
    {"xor", Builtin::xor_},
    {"compl", Builtin::compl_},
    {"lshift", Builtin::lshift},
    {"rshift", Builtin::rshift},
    {"strtonum", Builtin::strtonum},
    {"typeof", Builtin::typeof_},
    {"isarray", Builtin::isarray},
};

}  // namespace

bool Lexer::next_is(char c) const {
  std::size_t i = at_;
  while (i < in_.size() && (in_[i] == ' ' || in_[i] == '\t')) ++i;
  return i < in_.size() && in_[i] == c;
}

Result<void> Lexer::advance() {
  space_before = false;
  while (at_ < in_.size()) {
    char c = in_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      space_before = true;
      ++at_;
    } else if (c == '\\' && at_ + 1 < in_.size() && in_[at_ + 1] == '\n') {
      at_ += 2;
      ++line;
    } else if (c == '\\' && in_.substr(at_).starts_with("\\\r\n")) {
      at_ += 3;
      ++line;
    } else if (c == '#') {
      while (at_ < in_.size() && in_[at_] != '\n') ++at_;
    } else {
      break;
    }
  }
  if (at_ >= in_.size()) {
    token = Token::end;
    return {};
  }
  char c = in_[at_];
  if (c == '\n') {
    ++at_;
    ++line;
    token = Token::newline;
    return {};
  }
  if (isdigit(static_cast<unsigned char>(c)) ||
      (c == '.' && at_ + 1 < in_.size() && isdigit(static_cast<unsigned char>(in_[at_ + 1])))) {
    std::size_t length = 0;
    std::string rest(in_.substr(at_, 64));
    if (c == '0' && rest.size() > 2 && (rest[1] == 'x' || rest[1] == 'X') &&
        isxdigit(static_cast<unsigned char>(rest[2]))) {
      char* end = nullptr;
      number = static_cast<double>(std::strtoull(rest.c_str(), &end, 16));
      length = static_cast<std::size_t>(end - rest.c_str());
    } else {
      // Hexadecimal floats and words like "1infinity" must not be swallowed by strtod.
      std::size_t i = 0;
      while (i < rest.size() && (isdigit(static_cast<unsigned char>(rest[i])) || rest[i] == '.')) ++i;
      if (i < rest.size() && (rest[i] == 'e' || rest[i] == 'E')) {
        std::size_t k = i + 1;
        if (k < rest.size() && (rest[k] == '+' || rest[k] == '-')) ++k;
        if (k < rest.size() && isdigit(static_cast<unsigned char>(rest[k]))) {
          while (k < rest.size() && isdigit(static_cast<unsigned char>(rest[k]))) ++k;
          i = k;
        }
      }
      std::string digits = rest.substr(0, i);
      char* end = nullptr;
      number = std::strtod(digits.c_str(), &end);
      length = static_cast<std::size_t>(end - digits.c_str());
    }
    at_ += length;
    token = Token::number;
    return {};
  }
  if (name_start(c)) return word();
  if (c == '"') return quoted();
  return operator_token();
}

Result<void> Lexer::word() {
  std::size_t start = at_;
  while (at_ < in_.size() && name_char(in_[at_])) ++at_;
  text.assign(in_.substr(start, at_ - start));
  for (auto& [name, keyword] : kKeywords) {
    if (text == name) {
      token = keyword;
      return {};
    }
  }
  for (auto& [name, function] : kBuiltins) {
    if (text == name) {
      token = Token::builtin;
      builtin = static_cast<int>(function);
      return {};
    }
  }
  // A call of a function has no space before its parenthesis; with one it is a concatenation.
  token = at_ < in_.size() && in_[at_] == '(' ? Token::function_name : Token::name;
  return {};
}

Result<void> Lexer::quoted() {
  text.clear();
  token = Token::string;
  ++at_;
  while (true) {
    if (at_ >= in_.size() || in_[at_] == '\n') return fail(Code::invalid_argument, "unterminated string");
    char c = in_[at_++];
    if (c == '"') return {};
    if (c != '\\') {
      text += c;
      continue;
    }
    if (at_ >= in_.size()) {
      text += '\\';
      continue;
    }
    char e = in_[at_++];
    switch (e) {
      case 'n': text += '\n'; break;
      case 't': text += '\t'; break;
      case 'r': text += '\r'; break;
      case '\\': text += '\\'; break;
      case '"': text += '"'; break;
      case '/': text += '/'; break;
      case 'a': text += '\a'; break;
      case 'b': text += '\b'; break;
      case 'f': text += '\f'; break;
      case 'v': text += '\v'; break;
      case '\n': ++line; break;
      case 'x': {
        int value = 0, digits = 0;
        while (digits < 2 && at_ < in_.size() && isxdigit(static_cast<unsigned char>(in_[at_]))) {
          char d = in_[at_++];
          value = value * 16 + (d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
          ++digits;
        }
        if (digits == 0)
          text += "x";
        else
          text += static_cast<char>(value);
        break;
      }
      case 'u': {
        char32_t value = 0;
        int digits = 0;
        while (digits < 8 && at_ < in_.size() && isxdigit(static_cast<unsigned char>(in_[at_]))) {
          char d = in_[at_++];
          value = value * 16 + static_cast<char32_t>(d <= '9' ? d - '0' : (d | 32) - 'a' + 10);
          ++digits;
        }
        if (digits == 0)
          text += 'u';
        else
          utf8::append(text, value);
        break;
      }
      default:
        if (e >= '0' && e <= '7') {
          int value = e - '0';
          for (int i = 0; i < 2 && at_ < in_.size() && in_[at_] >= '0' && in_[at_] <= '7'; ++i)
            value = value * 8 + (in_[at_++] - '0');
          text += static_cast<char>(value);
        } else {
          // Kept for dynamic regular expressions: "\." is \. there.
          text += '\\';
          text += e;
        }
    }
  }
}

// Called by the parser, which alone knows whether a slash divides or begins a pattern.
Result<void> Lexer::regex() {
  // /=/ was read as the operator /=.
  std::string body = token == Token::div_assign ? "=" : "";
  bool bracket = false;
  std::size_t bracket_start = 0;
  while (true) {
    if (at_ >= in_.size() || in_[at_] == '\n') return fail(Code::invalid_argument, "unterminated regexp");
    char c = in_[at_++];
    if (c == '\\' && at_ < in_.size()) {
      if (in_[at_] != '/') body += '\\';
      body += in_[at_++];
      continue;
    }
    if (c == '[' && !bracket) {
      bracket = true;
      // A ] right behind [ or [^ is a character of the set, and a slash in a set ends nothing.
      bracket_start = body.size() + 1;
      if (at_ < in_.size() && in_[at_] == '^') ++bracket_start;
    } else if (c == '[' && bracket && at_ < in_.size() && in_[at_] == ':') {
      std::size_t close = in_.find(":]", at_ + 1);
      if (close != std::string_view::npos) {
        body += in_.substr(at_ - 1, close + 2 - (at_ - 1));
        at_ = close + 2;
        continue;
      }
    } else if (c == ']' && bracket && body.size() > bracket_start) {
      bracket = false;
    } else if (c == '/' && !bracket) {
      break;
    }
    body += c;
  }
  text = std::move(body);
  token = Token::regex;
  return {};
}

Result<void> Lexer::operator_token() {
  // Longer ones before their beginnings.
  static constexpr std::pair<std::string_view, Token> kOperators[] = {
      {"**=", Token::pow_assign}, {"+=", Token::add_assign}, {"-=", Token::sub_assign},
      {"*=", Token::mul_assign},  {"/=", Token::div_assign}, {"%=", Token::mod_assign},
      {"^=", Token::pow_assign},  {"==", Token::eq},         {"<=", Token::le},
      {">=", Token::ge},          {"!=", Token::ne},         {"!~", Token::no_match},
      {"++", Token::increment},   {"--", Token::decrement},  {"&&", Token::and_},
      {"||", Token::or_},         {">>", Token::append},     {"**", Token::caret},
      {"{", Token::lbrace},       {"}", Token::rbrace},      {"(", Token::lparen},
      {")", Token::rparen},       {"[", Token::lbracket},    {"]", Token::rbracket},
      {";", Token::semicolon},    {",", Token::comma},       {"+", Token::plus},
      {"-", Token::minus},        {"*", Token::star},        {"/", Token::slash},
      {"%", Token::percent},      {"^", Token::caret},       {"!", Token::bang},
      {">", Token::greater},      {"<", Token::less},        {"|&", Token::pipe},
      {"|", Token::pipe},         {"?", Token::question},    {":", Token::colon},
      {"~", Token::tilde},        {"$", Token::dollar},      {"=", Token::equals},
      {"@", Token::at},
  };
  for (auto& [spelled, operator_kind] : kOperators) {
    if (in_.substr(at_).starts_with(spelled)) {
      at_ += spelled.size();
      token = operator_kind;
      text.assign(spelled);
      return {};
    }
  }
  return fail(Code::invalid_argument, fmt::format("invalid char '{}' in expression", in_[at_]));
}

}  // namespace atl::shell::awk
