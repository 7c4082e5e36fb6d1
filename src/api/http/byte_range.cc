#include "api/http/byte_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace atl::api::http {
namespace {

std::optional<std::uint64_t> position(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

RequestedRange parse_range(std::string_view header, std::uint64_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return WholeContent{};
  header.remove_prefix(kUnit.size());
  const auto dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) return WholeContent{};
  const auto first = position(header.substr(0, dash));
  const auto last = position(header.substr(dash + 1));
  if (!first && !last) return WholeContent{};
  if (!first) {
    const std::uint64_t length = std::min(*last, size);
    if (length == 0) return Unsatisfiable{};
    return ByteRange{size - length, length};
  }
  if (*first >= size || (last && *last < *first)) return Unsatisfiable{};
  const std::uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return ByteRange{*first, end - *first + 1};
}

std::string content_range(const ByteRange& range, std::uint64_t size) {
  return fmt::format("bytes {}-{}/{}", range.first, range.first + range.length - 1, size);
}

std::string unsatisfied_range(std::uint64_t size) {
  return fmt::format("bytes */{}", size);
}

}  // namespace atl::api::http
