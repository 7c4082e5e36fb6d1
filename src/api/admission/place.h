#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/http.h"

namespace atl::api {

constexpr std::uint16_t kEnvdPort = 49983;
constexpr std::uint16_t kInterpreterPort = 49999;

// Which sandbox and port a request is for.
struct Place {
  std::string sandbox_id;
  std::uint16_t port = kEnvdPort;
};

// Nothing: the request is not for a sandbox. Code::invalid_argument in E2B's words if it tries to be and
// fails. Order: routing headers where the host is an address, localhost or sandbox.*; then the host's first
// label
// "<port>-<id>"; then headers with any other host.
Result<std::optional<Place>> place_of(const net::Request& request);
// In single-URL mode signed /files URLs, and the /files calls of older clients, name no sandbox: it is found
// by its signature, or by the access token.
bool is_unplaced_file_request(const net::Request& request);
// "<id>" of "<id>-<client>"; Code::invalid_argument "Invalid sandbox ID" for what is neither.
Result<std::string> sandbox_id_of(std::string_view text);

}  // namespace atl::api
