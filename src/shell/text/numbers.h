#pragma once

#include <cstdint>
#include <string_view>

namespace atl::shell {

// Decimal with GNU's size suffixes (b kB K M G ...). False if malformed or too large.
bool parse_size(std::string_view text, std::uint64_t& value);
// A whole decimal number, with a sign or without. False if it is none or does not fit.
bool parse_integer(std::string_view text, std::int64_t& value);

}  // namespace atl::shell
