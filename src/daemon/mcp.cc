// The door for agents: the part of the wiring that is about MCP.
#include "api/mcp/mcp.h"

#include "config/configuration.h"
#include "daemon/daemon.h"
#include "daemon/network.h"
#include "net/server.h"
#include "session/audited/service.h"
#include "tools/tool_executor.h"
#include "tools/tool_registry.h"

namespace atl::daemon {
namespace {

// Tools that exist for the protocol's own tests have no place in a service that others reach.
Result<api::mcp::Fixtures> fixtures_of(const config::Configuration& configuration) {
  if (!configuration.boolean("mcp.fixtures")) return api::mcp::Fixtures::off;
  for (const char* setting : {"listen", "tls.listen"}) {
    const std::string& address = configuration.text(setting);
    if (address.empty() || is_local(address)) continue;
    return fail(Error(Code::invalid_argument,
                      "mcp.fixtures is for tests and works only where nobody outside this machine can reach "
                      "the service; it listens on " +
                          address)
                    .with_field("mcp.fixtures"));
  }
  return api::mcp::Fixtures::on;
}

}  // namespace

Result<void> Daemon::mount_mcp() {
  api::mcp::Dependencies parts;
  parts.executor = loop_.get_executor();
  parts.service = audited_.get();
  parts.admission = admission_.get();
  parts.tools = tools_.get();
  parts.tool_executor = tool_executor_.get();
  parts.registry = registry_.get();
  parts.skills = skills_.get();
  parts.workers = lookers_.get();
  parts.url = configuration_.text("mcp.url");
  while (parts.url.ends_with('/')) parts.url.pop_back();
  if (!parts.url.empty() && !parts.url.starts_with("http://") && !parts.url.starts_with("https://"))
    return fail(
        Error(Code::invalid_argument, "mcp.url begins with http:// or https://").with_field("mcp.url"));
  parts.issuer = configuration_.text("auth.oidc.issuer");
  parts.origins = configuration_.list("cors.origins");
  parts.fixtures = TRY(fixtures_of(configuration_));
  mcp_ = std::make_unique<api::mcp::Dialect>(std::move(parts));
  mcp_->mount(server_->router());
  return {};
}

}  // namespace atl::daemon
