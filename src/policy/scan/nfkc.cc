#include "policy/scan/nfkc.h"

#include <algorithm>

#include "base/utf8.h"

namespace atl::policy {

char32_t next_character(std::string_view text, std::size_t& at) {
  std::string_view rest = text.substr(at);
  // By shape only: a string of the program may hold a surrogate.
  std::size_t length = utf8::sequence(rest);
  at += length;
  bool malformed = length == 1 && static_cast<unsigned char>(rest[0]) >= 0x80;
  return malformed ? utf8::replacement : utf8::decode(rest, length);
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
      utf8::append(out, character);
    }
  }
  return out;
}

}  // namespace atl::policy
