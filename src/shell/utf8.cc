#include "shell/utf8.h"

namespace atl::shell::utf8 {

void append(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | ((code >> 18) & 0x07));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
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

std::uint32_t to_upper(std::uint32_t code) {
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

std::uint32_t to_lower(std::uint32_t code) {
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
  return mapped(text, [](std::uint32_t c) { return to_upper(c); });
}
std::string to_lower(std::string_view text) {
  return mapped(text, [](std::uint32_t c) { return to_lower(c); });
}

}  // namespace atl::shell::utf8
