#include "shell/text/numbers.h"

#include <charconv>
#include <cstring>

namespace atl::shell {

bool parse_integer(std::string_view text, std::int64_t& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty()) return false;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_size(std::string_view text, std::uint64_t& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end == text.data()) {
    if (text.empty() || std::strchr("bcwkKMGTPE", text[0]) == nullptr) return false;
    value = 1;
  } else if (error != std::errc()) {
    return false;
  }
  std::string_view suffix(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (suffix.empty()) return true;
  if (suffix == "b") return !__builtin_mul_overflow(value, 512, &value);
  if (suffix == "c") return true;
  if (suffix == "w") return !__builtin_mul_overflow(value, 2, &value);
  static constexpr std::string_view kLetters = "KMGTPE";
  std::size_t power = kLetters.find(suffix[0] == 'k' ? 'K' : suffix[0]);
  if (power == std::string_view::npos) return false;
  std::string_view unit = suffix.substr(1);
  std::uint64_t base = 1024;
  if (unit == "B")
    base = 1000;
  else if (!unit.empty() && unit != "iB")
    return false;
  for (std::size_t i = 0; i <= power; ++i)
    if (__builtin_mul_overflow(value, base, &value)) return false;
  return true;
}

}  // namespace atl::shell
