#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

// Cursors of pages: the position in the store after which the next page begins, as text. Clients only hand
// them back.
namespace atl::session {

// Unset for an empty cursor: from the start. Code::invalid_argument with the field "cursor" for anything that
// cursor_of() did not write.
inline Result<std::optional<std::int64_t>> position_of(const std::string& cursor) {
  if (cursor.empty()) return std::optional<std::int64_t>();
  std::int64_t position = 0;
  const auto [end, failed] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), position);
  if (failed != std::errc() || end != cursor.data() + cursor.size() || position < 0)
    return fail(Error(Code::invalid_argument, "not a cursor that a page before gave").with_field("cursor"));
  return std::optional(position);
}

// Empty after the last page.
inline std::string cursor_of(const std::optional<std::int64_t>& position) {
  return position ? std::to_string(*position) : std::string();
}

}  // namespace atl::session
