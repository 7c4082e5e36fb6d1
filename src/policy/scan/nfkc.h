#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace atl::policy {

// first..last become text, text+1, ... (one letter), or all become text.
struct NfkcRow {
  std::uint32_t first;
  std::uint32_t last;
  std::string_view text;
};
// Sorted by first. Made by scripts/make-nfkc-table.
std::span<const NfkcRow> nfkc_rows();

// An identifier as Python reads it (NFKC), exact whenever the result is plain ASCII, which every name in a
// policy's lists is; other characters stay as they are.
// Malformed UTF-8 stays as it is.
std::string normalize_identifier(std::string_view name);

// The next character of UTF-8 text; moves `at` past it. U+FFFD, one byte further, for malformed text.
char32_t next_character(std::string_view text, std::size_t& at);

}  // namespace atl::policy
