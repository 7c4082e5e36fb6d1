#pragma once

#include <cstddef>
#include <string_view>

namespace atl::shell {

// Columns a terminal would use.
std::size_t display_width(std::string_view text);
// Columns of one character: 0 for controls and combining marks, 2 for wide ones, else 1.
int char_width(char32_t c);

}  // namespace atl::shell
