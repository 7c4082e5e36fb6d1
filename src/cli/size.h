#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace atl::cli {

// "256M", "1G", "4096", "64KiB": a count of bytes; K, M, G and T are powers of 1024.
Result<std::uint64_t> parse_size(std::string_view text);

}  // namespace atl::cli
