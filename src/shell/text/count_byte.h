#pragma once

#include <cstddef>
#include <string_view>

namespace atl::shell {

// How often `byte` is in `text`; looks at many bytes at a time.
std::size_t count_byte(std::string_view text, char byte);

}  // namespace atl::shell
