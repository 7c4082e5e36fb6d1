#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace atl {

std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view text);

// Standard alphabet, padded.
std::string to_base64(std::string_view bytes);
// Accepts the standard alphabet, padded or not; anything else is invalid_argument.
Result<std::string> from_base64(std::string_view text);

std::string sha256(std::string_view bytes);      // 32 raw bytes
std::string sha256_hex(std::string_view bytes);  // 64 hex digits
std::string hmac_sha256(std::string_view key, std::string_view bytes);

// Compares without telling how much of a secret matched by the time it takes. Lengths may be told.
bool equal_in_constant_time(std::string_view a, std::string_view b);

// True if `text` is well-formed UTF-8 (no surrogates, nothing overlong, at most U+10FFFF).
bool is_utf8(std::string_view text);
// A copy with every malformed sequence replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);

}  // namespace atl
