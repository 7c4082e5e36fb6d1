#pragma once

#include <string>

#include "api/e2b/context.h"
#include "api/e2b/message.h"
#include "auth/principal.h"
#include "os/task.h"
#include "session/types.h"

// The option `mcp` of E2B's clients. They make a sandbox of the template `mcp-gateway` and run the program of
// that name in it; Atoll answers MCP in its place, with the sandbox's own tools (`api/mcp/gateway.cc`). The
// servers of the original's catalogue are images that are pulled from elsewhere: they do not exist here, and
// a create that asks for one fails with a message that says so.
namespace atl::api::e2b {

// Whether what `mcp` asks for can be had in an environment. Other environments bring a program of their own.
Result<void> check_servers(const Object& message, const std::string& environment);
// Puts the program into a sandbox of the environment kGatewayEnvironment; into others nothing.
Task<void> put_gateway(Context& context, auth::Principal who, session::Session session);

}  // namespace atl::api::e2b
