#include "base/utf8.h"

namespace atl::utf8 {

std::size_t well_formed_sequence(std::string_view text) {
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = sequence(text);
  if (length == 1) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
  if (lead == 0xED && second > 0x9F) return 0;  // surrogates
  if (lead == 0xF0 && second < 0x90) return 0;  // overlong
  if (lead == 0xF4 && second > 0x8F) return 0;  // more than U+10FFFF
  return length;
}

char32_t read(std::string_view text, std::size_t& length) {
  length = 1;
  if (text.empty()) return 0;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead;
  const std::size_t found = well_formed_sequence(text);
  if (found == 0) return replacement;
  length = found;
  return decode(text, found);
}

std::size_t read_length(std::string_view text, std::size_t at) {
  const std::size_t found = well_formed_sequence(text.substr(at));
  return found == 0 ? 1 : found;
}

void append(std::string& out, char32_t code) {
  const auto add = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  const auto continuation = [&](unsigned shift) { add(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0U | (code >> 6U));
    continuation(0);
  } else if (code < 0x10000) {
    add(0xE0U | (code >> 12U));
    continuation(6);
    continuation(0);
  } else {
    add(0xF0U | ((code >> 18U) & 0x07U));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

std::size_t length(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++count)
    i += static_cast<unsigned char>(text[i]) < 0x80 ? 1 : sequence(text.substr(i));
  return count;
}

std::size_t offset(std::string_view text, std::size_t index) {
  std::size_t i = 0;
  while (index > 0 && i < text.size()) {
    i += static_cast<unsigned char>(text[i]) < 0x80 ? 1 : sequence(text.substr(i));
    --index;
  }
  return i;
}

char32_t to_upper(char32_t code) {
  if (code < 0x80) return code >= 'a' && code <= 'z' ? code - 32 : code;
  if ((code >= 0xE0 && code <= 0xFE && code != 0xF7)) return code - 32;
  if (code == 0xFF) return 0x178;
  if (code >= 0x100 && code < 0x180 && code != 0x131 && code != 0x149 && code != 0x17F) {
    bool odd_upper = (code >= 0x139 && code <= 0x148) || (code >= 0x179 && code <= 0x17E);
    if (odd_upper) return code % 2 == 0 ? code - 1 : code;
    return code % 2 == 1 ? code - 1 : code;
  }
  if (code >= 0x3B1 && code <= 0x3C9 && code != 0x3C2) return code - 32;
  if (code >= 0x430 && code <= 0x44F) return code - 32;
  if (code >= 0x450 && code <= 0x45F) return code - 80;
  return code;
}

char32_t to_lower(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  if ((code >= 0xC0 && code <= 0xDE && code != 0xD7)) return code + 32;
  if (code == 0x178) return 0xFF;
  if (code >= 0x100 && code < 0x180 && code != 0x130 && code != 0x138 && code != 0x178) {
    bool odd_upper = (code >= 0x139 && code <= 0x148) || (code >= 0x179 && code <= 0x17E);
    if (odd_upper) return code % 2 == 1 ? code + 1 : code;
    return code % 2 == 0 ? code + 1 : code;
  }
  if (code >= 0x391 && code <= 0x3A9) return code + 32;
  if (code >= 0x410 && code <= 0x42F) return code + 32;
  if (code >= 0x400 && code <= 0x40F) return code + 80;
  return code;
}

namespace {
template <class Map>
std::string mapped(std::string_view text, Map map) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t n = sequence(text.substr(i));
    if (n == 1 && static_cast<unsigned char>(text[i]) >= 0x80)
      out += text[i];
    else
      append(out, map(decode(text.substr(i), n)));
    i += n;
  }
  return out;
}
}  // namespace

std::string to_upper(std::string_view text) {
  return mapped(text, [](char32_t c) { return to_upper(c); });
}
std::string to_lower(std::string_view text) {
  return mapped(text, [](char32_t c) { return to_lower(c); });
}

}  // namespace atl::utf8
