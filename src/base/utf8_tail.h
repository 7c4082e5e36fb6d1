#pragma once

#include <cstddef>
#include <string_view>

namespace atl::utf8 {

// How many bytes at the end of `text` begin a character that is not complete: 0 to 3. For text that comes in
// pieces which are cut anywhere. Looks at the shape only; malformed bytes count as complete. Any thread may
// call it.
inline std::size_t incomplete_tail(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte < 0xC0) continue;  // a continuation: the beginning is further back
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace atl::utf8
