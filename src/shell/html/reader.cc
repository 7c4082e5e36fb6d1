#include "shell/html/reader.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/utf8.h"

namespace atl::shell::html {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

struct Entity {
  std::string_view name;
  char32_t character;
};
constexpr Entity kEntities[] = {
    {"amp", '&'},      {"lt", '<'},       {"gt", '>'},       {"quot", '"'},     {"apos", '\''},
    {"nbsp", ' '},     {"copy", 0xa9},    {"reg", 0xae},     {"trade", 0x2122}, {"hellip", 0x2026},
    {"mdash", 0x2014}, {"ndash", 0x2013}, {"lsquo", 0x2018}, {"rsquo", 0x2019}, {"ldquo", 0x201c},
    {"rdquo", 0x201d}, {"bull", 0x2022},  {"middot", 0xb7},  {"euro", 0x20ac},  {"pound", 0xa3},
    {"yen", 0xa5},     {"cent", 0xa2},    {"sect", 0xa7},    {"deg", 0xb0},     {"plusmn", 0xb1},
    {"times", 0xd7},   {"divide", 0xf7},  {"frac12", 0xbd},  {"frac14", 0xbc},  {"laquo", 0xab},
    {"raquo", 0xbb},   {"auml", 0xe4},    {"ouml", 0xf6},    {"uuml", 0xfc},    {"Auml", 0xc4},
    {"Ouml", 0xd6},    {"Uuml", 0xdc},    {"szlig", 0xdf},   {"eacute", 0xe9},  {"egrave", 0xe8},
    {"agrave", 0xe0},  {"aacute", 0xe1},  {"ccedil", 0xe7},  {"ntilde", 0xf1},  {"larr", 0x2190},
    {"rarr", 0x2192},  {"uarr", 0x2191},  {"darr", 0x2193},  {"para", 0xb6},    {"shy", 0xad},
    {"zwnj", 0x200c},  {"emsp", ' '},     {"ensp", ' '},     {"thinsp", ' '},
};

// The character of "#65", "#x41" or a name; 0 if there is none.
char32_t character(std::string_view name) {
  if (name.starts_with('#')) {
    name.remove_prefix(1);
    int base = 10;
    if (!name.empty() && (name[0] == 'x' || name[0] == 'X')) base = 16, name.remove_prefix(1);
    std::uint32_t value = 0;
    auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value, base);
    bool good = error == std::errc() && end == name.data() + name.size() && value <= 0x10ffff &&
                !(value >= 0xd800 && value < 0xe000);
    return good ? value : 0;
  }
  for (const Entity& entity : kEntities)
    if (entity.name == name) return entity.character;
  return 0;
}

}  // namespace

std::string decode_entities(std::string_view text) {
  constexpr std::size_t kNameMax = 10;
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::size_t end = text[i] == '&' ? text.substr(0, i + kNameMax + 2).find(';', i) : std::string_view::npos;
    char32_t c = end == std::string_view::npos ? 0 : character(text.substr(i + 1, end - i - 1));
    if (c == 0) {
      out += text[i];
    } else {
      utf8::append(out, c);
      i = end;
    }
  }
  return out;
}

std::string_view Token::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes)
    if (key == wanted) return value;
  return {};
}

bool Reader::next(Token& token) {
  while (at_ < text_.size()) {
    if (text_[at_] == '<') {
      if (text_.substr(at_).starts_with("<!--")) {
        std::size_t end = text_.find("-->", at_ + 4);
        at_ = end == std::string_view::npos ? text_.size() : end + 3;
        continue;
      }
      if (at_ + 1 < text_.size() && (text_[at_ + 1] == '!' || text_[at_ + 1] == '?')) {
        std::size_t end = text_.find('>', at_);
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
        continue;
      }
      if (tag(token)) {
        if (token.kind == Token::Kind::open &&
            (token.name == "script" || token.name == "style" || token.name == "template")) {
          skip_element(token.name);
          continue;
        }
        return true;
      }
    }
    std::size_t end = std::min(text_.find('<', at_ + 1), text_.size());
    token = {Token::Kind::text, "", decode_entities(text_.substr(at_, end - at_)), {}};
    at_ = end;
    return true;
  }
  return false;
}

// False when what stands here is no tag.
bool Reader::tag(Token& token) {
  std::size_t at = at_ + 1;
  bool closing = at < text_.size() && text_[at] == '/';
  if (closing) ++at;
  if (at >= text_.size() || !is_letter(text_[at])) return false;
  token = {closing ? Token::Kind::close : Token::Kind::open, "", "", {}};
  while (at < text_.size() && !is_space(text_[at]) && text_[at] != '>' && text_[at] != '/')
    token.name += lower(text_[at++]);
  at_ = at;
  attributes(token);
  return true;
}

void Reader::attributes(Token& token) {
  while (at_ < text_.size() && text_[at_] != '>') {
    if (is_space(text_[at_]) || text_[at_] == '/') {
      ++at_;
      continue;
    }
    std::string key, value;
    while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '=' && text_[at_] != '>' &&
           text_[at_] != '/')
      key += lower(text_[at_++]);
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ < text_.size() && text_[at_] == '=') {
      ++at_;
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        std::size_t end = std::min(text_.find(text_[at_], at_ + 1), text_.size());
        value = decode_entities(text_.substr(at_ + 1, end - at_ - 1));
        at_ = std::min(end + 1, text_.size());
      } else {
        while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '>') value += text_[at_++];
      }
    } else if (key.empty()) {
      ++at_;  // a stray character
    }
    if (!key.empty()) token.attributes.emplace_back(std::move(key), std::move(value));
  }
  if (at_ < text_.size()) ++at_;
}

void Reader::skip_element(std::string_view name) {
  while (at_ < text_.size()) {
    std::size_t end = text_.find("</", at_);
    if (end == std::string_view::npos) break;
    std::string_view found = text_.substr(end + 2, name.size());
    at_ = end + 2;
    if (std::equal(found.begin(), found.end(), name.begin(), name.end(),
                   [](char a, char b) { return lower(a) == b; })) {
      std::size_t close = text_.find('>', at_);
      at_ = close == std::string_view::npos ? text_.size() : close + 1;
      return;
    }
  }
  at_ = text_.size();
}

}  // namespace atl::shell::html
