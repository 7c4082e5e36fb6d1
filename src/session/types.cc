#include "session/types.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace atl::session {
namespace {

constexpr std::size_t kMapEntriesMax = 256;
constexpr std::size_t kMapBytesMax = 64U << 10;

}  // namespace

Result<void> check_map(const TextMap& map, std::string_view field) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : map) bytes += key.size() + value.size();
  if (map.size() > kMapEntriesMax || bytes > kMapBytesMax) {
    return fail(Error(Code::too_large, fmt::format("{} holds at most {} entries and {} bytes", field,
                                                   kMapEntriesMax, kMapBytesMax))
                    .with_field(std::string(field)));
  }
  return {};
}

Result<void> check_tool(const Session& session, std::string_view name) {
  if (!session.tools) return {};
  for (const std::string& one : *session.tools)
    if (one == "*" || one == name) return {};
  return fail(
      Error(Code::permission_denied,
            fmt::format("the agent '{}' of this session has no tool '{}'; it has {}", session.agent,
                        name.substr(0, 64),
                        session.tools->empty() ? "none" : fmt::format("{}", fmt::join(*session.tools, ", "))))
          .with_field("name"));
}

Result<void> check_env(const TextMap& env) {
  for (const auto& [name, value] : env) {
    const bool good = !name.empty() && name.find('=') == std::string::npos &&
                      name.find('\0') == std::string::npos && value.find('\0') == std::string::npos;
    if (!good) {
      return fail(Error(Code::invalid_argument, "a variable has a name without '=', and no NUL byte")
                      .with_field("env"));
    }
  }
  return check_map(env, "env");
}

namespace {

constexpr std::array kStatusWords = {
    std::pair{Status::admitted, std::string_view("admitted")},
    std::pair{Status::success, std::string_view("success")},
    std::pair{Status::error, std::string_view("error")},
    std::pair{Status::denied, std::string_view("denied")},
    std::pair{Status::timeout, std::string_view("timeout")},
    std::pair{Status::killed, std::string_view("killed")},
    std::pair{Status::oom, std::string_view("oom")},
    std::pair{Status::interrupted, std::string_view("interrupted")},
};

}  // namespace

std::string_view to_string(Status status) {
  return kStatusWords[static_cast<std::size_t>(status)].second;
}

std::optional<Status> parse_status(std::string_view word) {
  const auto* found = std::ranges::find(kStatusWords, word, &std::pair<Status, std::string_view>::second);
  if (found == kStatusWords.end()) return std::nullopt;
  return found->first;
}

}  // namespace atl::session
