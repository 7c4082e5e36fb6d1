#include "session/types.h"

#include <algorithm>
#include <array>

namespace atl::session {
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
