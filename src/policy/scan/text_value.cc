#include "policy/scan/text_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "policy/scan/nfkc.h"

namespace atl::policy {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_octal(char c) {
  return c >= '0' && c <= '7';
}

// Up to `most` hexadecimal digits at `at`; moves past them. Nullopt without at least `least`.
std::optional<char32_t> hex_number(std::string_view text, std::size_t& at, std::size_t least,
                                   std::size_t most) {
  char32_t value = 0;
  std::size_t count = 0;
  while (count < most && at + count < text.size() && hex_digit(text[at + count]) >= 0) {
    value = value * 16 + static_cast<char32_t>(hex_digit(text[at + count]));
    ++count;
  }
  if (count < least) return std::nullopt;
  at += count;
  return value;
}

char32_t octal_number(std::string_view text, std::size_t& at) {
  char32_t value = 0;
  for (int i = 0; i < 3 && at < text.size() && is_octal(text[at]); ++i) {
    value = value * 8 + static_cast<char32_t>(text[at++] - '0');
  }
  return value;
}

// The one-letter escapes that all three languages share.
char simple_escape(char c) {
  switch (c) {
    case 'n': return '\n';
    case 't': return '\t';
    case 'r': return '\r';
    case 'b': return '\b';
    case 'f': return '\f';
    case 'v': return '\v';
    case '\\':
    case '\'':
    case '"': return c;
    default: return '\0';
  }
}

void append_code(std::string& out, char32_t code, bool bytes) {
  if (bytes) {
    out += static_cast<char>(code & 0xFFU);
  } else if (code < 0xD800 || (code > 0xDFFF && code <= 0x10FFFF)) {
    utf8::append(out, code);
  }
}

// \N{LATIN SMALL LETTER E}: letters are all that a name needs.
std::size_t named_character(std::string_view text, std::size_t at, std::string& out) {
  std::size_t close = text.find('}', at);
  if (at >= text.size() || text[at] != '{' || close == std::string_view::npos) return at;
  std::string_view name = text.substr(at + 1, close - at - 1);
  for (auto [prefix, lower] : {std::pair<std::string_view, bool>{"LATIN SMALL LETTER ", true},
                               std::pair<std::string_view, bool>{"LATIN CAPITAL LETTER ", false}}) {
    if (name.starts_with(prefix) && name.size() == prefix.size() + 1) {
      char letter = name.back();
      out += lower && letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
      return close + 1;
    }
  }
  if (name == "LOW LINE") out += '_';
  return close + 1;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t from = at;
    next_character(text, at);
    out.push_back(text.substr(from, at - from));
  }
  return out;
}

}  // namespace

std::string decode_python(std::string_view text, bool bytes) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    char c = text[at++];
    if (c != '\\' || at >= text.size()) {
      out += c;
      continue;
    }
    char kind = text[at++];
    if (kind == '\n') continue;
    if (char simple = simple_escape(kind)) {
      out += simple;
    } else if (kind == 'a') {
      out += '\a';
    } else if (is_octal(kind)) {
      --at;
      append_code(out, octal_number(text, at), bytes);
    } else if (kind == 'x' || (!bytes && (kind == 'u' || kind == 'U'))) {
      std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
      if (auto code = hex_number(text, at, digits, digits)) append_code(out, *code, bytes);
    } else if (kind == 'N' && !bytes) {
      at = named_character(text, at, out);
    } else {
      out += c;
      out += kind;
    }
  }
  return out;
}

std::optional<std::string> decode_python_literal(std::string_view literal) {
  std::size_t quote = literal.find_first_of("'\"");
  if (quote == std::string_view::npos) return std::nullopt;
  std::string_view prefix = literal.substr(0, quote);
  bool raw = prefix.find_first_of("rR") != std::string_view::npos;
  bool bytes = prefix.find_first_of("bB") != std::string_view::npos;
  bool format = prefix.find_first_of("fF") != std::string_view::npos;
  std::string_view body = literal.substr(quote);
  std::size_t width = body.starts_with("'''") || body.starts_with("\"\"\"") ? 3 : 1;
  if (body.size() < 2 * width) return std::nullopt;
  body = body.substr(width, body.size() - 2 * width);
  std::string text = raw ? std::string(body) : decode_python(body, bytes);
  if (format) text = replace_text(replace_text(text, "{{", "{"), "}}", "}");
  return text;
}

std::string decode_javascript(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    char c = text[at++];
    if (c != '\\' || at >= text.size()) {
      out += c;
      continue;
    }
    char kind = text[at++];
    if (kind == '\n') continue;
    if (char simple = simple_escape(kind)) {
      out += simple;
    } else if (is_octal(kind)) {
      --at;
      append_code(out, octal_number(text, at), false);
    } else if (kind == 'x') {
      if (auto code = hex_number(text, at, 2, 2)) append_code(out, *code, false);
    } else if (kind == 'u' && at < text.size() && text[at] == '{') {
      ++at;
      if (auto code = hex_number(text, at, 1, 8)) append_code(out, *code, false);
      if (at < text.size() && text[at] == '}') ++at;
    } else if (kind == 'u') {
      if (auto code = hex_number(text, at, 4, 4)) append_code(out, *code, false);
    } else {
      out += kind;
    }
  }
  return out;
}

std::string decode_ansi_c(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    char c = text[at++];
    if (c != '\\' || at >= text.size()) {
      out += c;
      continue;
    }
    char kind = text[at++];
    if (char simple = simple_escape(kind)) {
      out += simple;
    } else if (kind == 'a') {
      out += '\a';
    } else if (kind == 'e' || kind == 'E') {
      out += '\x1b';
    } else if (is_octal(kind)) {
      --at;
      append_code(out, octal_number(text, at), true);
    } else if (kind == 'x') {
      if (auto code = hex_number(text, at, 1, 2)) append_code(out, *code, true);
    } else if (kind == 'u' || kind == 'U') {
      if (auto code = hex_number(text, at, 1, kind == 'u' ? 4 : 8)) append_code(out, *code, false);
    } else {
      out += c;
      out += kind;
    }
  }
  return out;
}

std::optional<std::int64_t> decode_number(std::string_view text) {
  std::string digits;
  for (char c : text) {
    // Python and JavaScript allow 1_000.
    if (c != '_' && c != ' ') digits += c;
  }
  bool negative = digits.starts_with('-');
  if (negative) digits.erase(0, 1);
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0') {
    char kind = static_cast<char>(digits[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    if (base != 10) digits.erase(0, 2);
  }
  std::int64_t value = 0;
  auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (problem != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return negative ? -value : value;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a' + 26
                : c >= '0' && c <= '9' ? c - '0' + 52
                : c == '+' || c == '-' ? 62
                : c == '/' || c == '_' ? 63
                                       : -1;
    // Both alphabets, and padding and line breaks anywhere: decoders differ in what they take, the scanner
    // takes it all.
    if (c == '=' || c == '\n' || c == '\r' || c == ' ') continue;
    if (digit < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> static_cast<unsigned>(held)) & 0xFFU);
    }
  }
  return out;
}

std::optional<std::string> decode_base32(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (char c : text) {
    if (c == '=') continue;
    int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                : c >= 'a' && c <= 'z' ? c - 'a'
                : c >= '2' && c <= '7' ? c - '2' + 26
                                       : -1;
    if (digit < 0) return std::nullopt;
    bits = (bits << 5U) | static_cast<std::uint32_t>(digit);
    held += 5;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>((bits >> static_cast<unsigned>(held)) & 0xFFU);
    }
  }
  return out;
}

std::optional<std::string> decode_base85(std::string_view text) {
  constexpr std::string_view alphabet =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += 5) {
    std::size_t given = std::min<std::size_t>(5, text.size() - at);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      // A short last group is filled up with the highest digit; as many bytes as were filled up are dropped.
      std::size_t digit = i < given ? alphabet.find(text[at + i]) : 84;
      if (digit == std::string_view::npos) return std::nullopt;
      value = value * 85 + digit;
    }
    for (std::size_t i = 0; i + 1 < given; ++i) out += static_cast<char>((value >> (24 - 8 * i)) & 0xFFU);
  }
  return out;
}

std::optional<std::string> decode_hex(std::string_view text) {
  std::string out;
  int high = -1;
  for (char c : text) {
    if (c == ' ' || c == '\n') continue;
    int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    if (high < 0) {
      high = digit;
    } else {
      out += static_cast<char>(high * 16 + digit);
      high = -1;
    }
  }
  if (high >= 0) return std::nullopt;
  return out;
}

std::string rot13(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>('a' + (c - 'a' + 13) % 26);
    if (c >= 'A' && c <= 'Z') c = static_cast<char>('A' + (c - 'A' + 13) % 26);
  }
  return out;
}

std::string decode_percent(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '%') {
      std::size_t from = at + 1;
      bool wide = from < text.size() && text[from] == 'u';
      if (wide) ++from;
      std::size_t digits = wide ? 4 : 2;
      if (auto code = hex_number(text, from, digits, digits)) {
        append_code(out, *code, !wide);
        at = from;
        continue;
      }
    }
    out += text[at++];
  }
  return out;
}

std::string reverse_text(std::string_view text) {
  auto parts = characters(text);
  std::string out;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) out += *part;
  return out;
}

std::string replace_text(std::string_view text, std::string_view from, std::string_view to) {
  if (from.empty()) return std::string(text);
  std::string out;
  for (;;) {
    std::size_t found = text.find(from);
    out += text.substr(0, found);
    if (found == std::string_view::npos) return out;
    out += to;
    text.remove_prefix(found + from.size());
  }
}

std::string slice_text(std::string_view text, std::optional<std::int64_t> start,
                       std::optional<std::int64_t> stop, std::int64_t step) {
  if (step == 0) return {};
  auto parts = characters(text);
  auto size = static_cast<std::int64_t>(parts.size());
  auto clamp = [&](std::int64_t index) {
    if (index < 0) index += size;
    return step > 0 ? std::clamp<std::int64_t>(index, 0, size)
                    : std::clamp<std::int64_t>(index, -1, size - 1);
  };
  std::int64_t from = start ? clamp(*start) : step > 0 ? 0 : size - 1;
  std::int64_t to = stop ? clamp(*stop) : step > 0 ? size : -1;
  std::string out;
  // A huge step leaves after one character.
  step = std::clamp<std::int64_t>(step, -size - 1, size + 1);
  for (std::int64_t i = from; step > 0 ? i < to : i > to; i += step)
    out += parts[static_cast<std::size_t>(i)];
  return out;
}

std::optional<std::string> character_at(std::string_view text, std::int64_t index) {
  auto parts = characters(text);
  auto size = static_cast<std::int64_t>(parts.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  return std::string(parts[static_cast<std::size_t>(index)]);
}

}  // namespace atl::policy
