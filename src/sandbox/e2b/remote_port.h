#pragma once

#include <cstdint>
#include <memory>

#include "os/byte_stream.h"
#include "sandbox/e2b/plane.h"

namespace atl::sandbox::e2b {

// A connection to a server inside a remote sandbox. The other side's proxy leads there by the head of an HTTP
// request, so that only HTTP (and WebSocket) passes, one request for each connection: its head is held back
// until it is whole, and the host and the headers that the proxy needs are put in. Anything else is refused
// with Code::unsupported by the first write.
Task<std::unique_ptr<ByteStream>> connect_port(std::shared_ptr<Plane> plane, std::uint16_t port);

// The head of a request with `host` as its host and these headers, for one request only. Code::unsupported
// for what is no head of an HTTP/1 request.
Result<std::string> with_routing(std::string_view head, const std::string& host, const net::Headers& routing);

}  // namespace atl::sandbox::e2b
