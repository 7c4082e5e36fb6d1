#pragma once

#include <optional>

#include "api/mcp/call.h"
#include "net/http.h"

namespace atl::api::mcp {

// Whether a message is of a client that speaks 2026-07-28: by what it says of itself, or asks for.
bool is_stateless_request(const net::Request& request, const Message& message);

// Checks what 2026-07-28 requires of every request: `_meta` with revision and capabilities, and headers that
// say the same as the body, so that proxies can rely on them. Nothing if all is well.
std::optional<Fault> check_stateless(const net::Request& request, const Message& message);
// The same for parameters of a tool that its schema maps to headers (`x-mcp-header`).
std::optional<Fault> check_parameter_headers(const net::Request& request, const Call& call);

}  // namespace atl::api::mcp
