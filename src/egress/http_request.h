#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/address.h"

namespace atl::egress {

// The longest head of a request or an answer that the proxy reads.
inline constexpr std::size_t kHeadBytesMax = 32U << 10;

// The head of one proxied HTTP request, parsed strictly: what two servers could read differently (both
// lengths, several lengths, folded lines, a bare CR or LF, an obs-fold, a bad name) is refused.
struct HttpRequest {
  enum class Body { none, length, chunked };

  std::string method;
  std::string target;  // origin form, "/path?query"
  Host host;           // of the absolute target or the Host header
  std::uint16_t port = 80;
  Body body = Body::none;
  std::uint64_t length = 0;
  bool websocket = false;  // asks to switch to WebSocket; has no body then
  std::string headers;     // lines to forward, each ending in CRLF, without Host and hop-by-hop ones
};

// "CONNECT host:port HTTP/1.1" and its headers.
struct ConnectRequest {
  Host host;
  std::uint16_t port = 443;
};

bool is_connect(std::string_view head);
Result<ConnectRequest> parse_connect(std::string_view head);
// `origin`: set inside an intercepted tunnel, where the target is in origin form and must name that host.
Result<HttpRequest> parse_request(std::string_view head, const std::optional<ConnectRequest>& origin);
// Headers that replace the client's own, by name.
using SetHeaders = std::map<std::string, std::string>;
// The head to send upstream: one request on one connection.
std::string upstream_head(const HttpRequest& request, const SetHeaders& set, std::uint16_t default_port);

// "host", "host:port", "[v6]:port".
Result<ConnectRequest> parse_authority(std::string_view text, std::uint16_t default_port);

}  // namespace atl::egress
