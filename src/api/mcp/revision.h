#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace atl::api::mcp {

// The revisions of the protocol that are spoken, oldest first. The first two have connections that begin with
// `initialize`; the last has none, and every request says for itself what it needs.
enum class Revision : std::uint8_t { june_2025, november_2025, july_2026 };

inline constexpr std::array<std::string_view, 3> kRevisionWords = {"2025-06-18", "2025-11-25", "2026-07-28"};

constexpr std::string_view to_string(Revision revision) {
  return kRevisionWords[static_cast<std::size_t>(revision)];
}
constexpr std::optional<Revision> parse_revision(std::string_view word) {
  for (std::size_t at = 0; at < kRevisionWords.size(); ++at)
    if (kRevisionWords[at] == word) return static_cast<Revision>(at);
  return std::nullopt;
}
constexpr bool is_stateless(Revision revision) {
  return revision == Revision::july_2026;
}

// The members of `_meta` that the protocol itself owns.
inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaClient = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view kMetaServer = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

}  // namespace atl::api::mcp
