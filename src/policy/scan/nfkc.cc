#include "policy/scan/nfkc.h"

#include <algorithm>

namespace atl::policy {

char32_t next_character(std::string_view text, std::size_t& at) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = byte(at);
  std::size_t length = lead < 0x80          ? 1
                       : (lead >> 5U) == 6  ? 2
                       : (lead >> 4U) == 14 ? 3
                       : (lead >> 3U) == 30 ? 4
                                            : 0;
  if (length == 0 || at + length > text.size()) {
    ++at;
    return 0xFFFD;
  }
  char32_t value = length == 1 ? lead : lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) value = (value << 6U) | (byte(at + i) & 0x3FU);
  at += length;
  return value;
}

void append_utf8(std::string& out, char32_t character) {
  if (character < 0x80) {
    out += static_cast<char>(character);
  } else if (character < 0x800) {
    out += static_cast<char>(0xC0U | (character >> 6U));
    out += static_cast<char>(0x80U | (character & 0x3FU));
  } else if (character < 0x10000) {
    out += static_cast<char>(0xE0U | (character >> 12U));
    out += static_cast<char>(0x80U | ((character >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (character & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (character >> 18U));
    out += static_cast<char>(0x80U | ((character >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((character >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (character & 0x3FU));
  }
}

std::string normalize_identifier(std::string_view name) {
  std::string out;
  for (std::size_t at = 0; at < name.size();) {
    if (static_cast<unsigned char>(name[at]) < 0x80) {
      out += name[at++];
      continue;
    }
    char32_t character = next_character(name, at);
    auto rows = nfkc_rows();
    auto next =
        std::ranges::upper_bound(rows, character, {}, [](const NfkcRow& row) { return char32_t{row.first}; });
    if (next != rows.begin() && character <= (next - 1)->last) {
      const NfkcRow& row = *(next - 1);
      out += row.text;
      if (row.first != row.last)
        out.back() = static_cast<char>(out.back() + static_cast<char>(character - row.first));
    } else {
      append_utf8(out, character);
    }
  }
  return out;
}

}  // namespace atl::policy
