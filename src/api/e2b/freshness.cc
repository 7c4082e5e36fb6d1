#include "api/e2b/freshness.h"

#include <ctime>
#include <optional>

namespace atl::api::e2b {
namespace {

constexpr const char* kForm = "%a, %d %b %Y %H:%M:%S GMT";

std::time_t seconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::optional<std::time_t> date_in(const net::Request& request, std::string_view header) {
  const std::string text(request.headers.get(header));
  std::tm parts{};
  const char* end = text.empty() ? nullptr : ::strptime(text.c_str(), kForm, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return ::timegm(&parts);
}

}  // namespace

std::string to_http_date(WallTime time) {
  const std::time_t seconds = seconds_of(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, kForm, &parts)};
}

// A date that cannot be read is as none.
Freshness freshness_of(const net::Request& request, WallTime modified) {
  const std::time_t at = seconds_of(modified);
  if (auto until = date_in(request, "If-Unmodified-Since"); until && at > *until) return Freshness::changed;
  if (auto since = date_in(request, "If-Modified-Since"); since && at <= *since) return Freshness::unchanged;
  return Freshness::send;
}

bool is_range_valid(const net::Request& request, WallTime modified) {
  if (!request.headers.has("If-Range")) return true;
  const auto at = date_in(request, "If-Range");
  return at && *at == seconds_of(modified);
}

}  // namespace atl::api::e2b
