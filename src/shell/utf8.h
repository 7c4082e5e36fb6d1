#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace atl::shell::utf8 {

// The length of the valid sequence that `text` begins with; 1 for a byte that begins none (it counts as a
// character).
inline std::size_t sequence(std::string_view text) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char c = byte(0);
  if (c < 0x80) return 1;
  std::size_t length = c >= 0xF0 && c < 0xF5 ? 4 : c >= 0xE0 ? 3 : c >= 0xC2 ? 2 : 1;
  if (c >= 0xF5) length = 1;
  if (length == 1 || text.size() < length) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 1;
  return length;
}

inline std::uint32_t decode(std::string_view text, std::size_t length) {
  auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  switch (length) {
    case 2:
      return ((byte(0) & 0x1F) << 6) | (byte(1) & 0x3F);
    case 3:
      return ((byte(0) & 0x0F) << 12) | ((byte(1) & 0x3F) << 6) | (byte(2) & 0x3F);
    case 4:
      return ((byte(0) & 0x07) << 18) | ((byte(1) & 0x3F) << 12) | ((byte(2) & 0x3F) << 6) | (byte(3) & 0x3F);
    default:
      return byte(0);
  }
}

void append(std::string& out, std::uint32_t code);
std::size_t length(std::string_view text);  // in characters
// Byte offset of character number `index`, or text.size().
std::size_t offset(std::string_view text, std::size_t index);
// Case mapping of one character: ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic.
std::uint32_t to_upper(std::uint32_t code);
std::uint32_t to_lower(std::uint32_t code);
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);

}  // namespace atl::shell::utf8
