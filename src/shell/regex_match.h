#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace atl::shell {

enum class MatchResult : std::uint8_t { yes, no, bad_pattern };

// POSIX extended matching, leftmost-longest, in linear time. `groups` gets the whole match and each group.
MatchResult match_extended(std::string_view text, std::string_view pattern, bool ignore_case,
                           std::uint64_t memory_bytes, std::vector<std::string>& groups);
// The pattern in RE2's words: POSIX classes and escapes that mean something else there are rewritten.
std::string translate_extended(std::string_view pattern);

}  // namespace atl::shell
