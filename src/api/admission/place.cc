#include "api/admission/place.h"

#include <algorithm>
#include <charconv>

namespace atl::api {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return fail(Code::invalid_argument, "Invalid sandbox port");
  }
  return port;
}

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_direct(std::string_view name) {
  if (name == "localhost" || name.starts_with('[') || name.starts_with("sandbox.")) return true;
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

// "<port>-<id>[-<suffix>]" as the first of at least two labels.
bool looks_placed(std::string_view name) {
  auto dash = name.find('-');
  auto dot = name.find('.');
  return dot != std::string_view::npos && dash != std::string_view::npos && dash < dot &&
         is_digits(name.substr(0, dash));
}

Result<Place> from_host(std::string_view name) {
  std::string_view label = name.substr(0, name.find('.'));
  auto dash = label.find('-');
  Place place;
  place.port = TRY(parse_port(label.substr(0, dash)));
  std::string_view id = label.substr(dash + 1);
  place.sandbox_id = id.substr(0, id.find('-'));
  if (!is_id(place.sandbox_id)) return fail(Code::invalid_argument, "Invalid sandbox ID");
  return place;
}

}  // namespace

Result<std::string> sandbox_id_of(std::string_view text) {
  auto dash = text.find('-');
  std::string_view id = text.substr(0, dash);
  bool one_dash = dash == std::string_view::npos || text.find('-', dash + 1) == std::string_view::npos;
  if (!one_dash || !is_id(id)) return fail(Code::invalid_argument, "Invalid sandbox ID");
  return std::string(id);
}

Result<std::optional<Place>> place_of(const net::Request& request) {
  const std::string* id = request.headers.find("E2b-Sandbox-Id");
  const std::string* port = request.headers.find("E2b-Sandbox-Port");
  std::string_view name = host_name(request.host());
  bool headers = id != nullptr || port != nullptr;
  if (looks_placed(name) && !(headers && is_direct(name))) return std::optional<Place>(TRY(from_host(name)));
  if (!headers) return std::optional<Place>();
  if (id == nullptr || port == nullptr) return fail(Code::invalid_argument, "missing header");
  Place place;
  place.sandbox_id = TRY(sandbox_id_of(*id));
  place.port = TRY(parse_port(*port));
  return std::optional<Place>(std::move(place));
}

bool is_unplaced_file_request(const net::Request& request) {
  return request.path == "/files" && (request.raw_query.find("signature=") != std::string_view::npos ||
                                      request.headers.has("X-Access-Token"));
}

}  // namespace atl::api
