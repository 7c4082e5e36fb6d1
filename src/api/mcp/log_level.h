#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace atl::api::mcp {

// RFC 5424's, the least urgent first.
enum class LogLevel : std::uint8_t { debug, info, notice, warning, error, critical, alert, emergency };

inline constexpr std::array<std::string_view, 8> kLogWords = {"debug", "info",     "notice", "warning",
                                                              "error", "critical", "alert",  "emergency"};
constexpr std::string_view to_string(LogLevel level) {
  return kLogWords[static_cast<std::size_t>(level)];
}
constexpr std::optional<LogLevel> parse_log_level(std::string_view word) {
  for (std::size_t at = 0; at < kLogWords.size(); ++at)
    if (kLogWords[at] == word) return static_cast<LogLevel>(at);
  return std::nullopt;
}

}  // namespace atl::api::mcp
