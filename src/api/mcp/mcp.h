#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>
#include <vector>

#include "api/admission/admission.h"
#include "net/router.h"
#include "os/fair_pool.h"
#include "registry/registry.h"
#include "session/service.h"
#include "skill/library.h"
#include "tools/tool_executor.h"
#include "tools/tool_registry.h"

namespace atl::api::mcp {

// Odd tools, resources and prompts that the protocol's conformance suite asks of every server. They touch no
// sandbox. Only a configuration that says so has them.
enum class Fixtures : std::uint8_t { off, on };

// What the dialect needs; all of it outlives the dialect.
struct Dependencies {
  boost::asio::any_io_executor executor;
  session::Service* service = nullptr;
  const Admission* admission = nullptr;
  const tools::ToolRegistry* tools = nullptr;
  tools::ToolExecutor* tool_executor = nullptr;
  const registry::Registry* registry = nullptr;
  skill::Library* skills = nullptr;
  os::FairPool* workers = nullptr;   // for skills, which are read from the disk, and for searches
  std::string url;                   // where clients reach the service from outside; empty: as they say
  std::string issuer;                // whose tokens are accepted besides keys; empty: nobody's
  std::vector<std::string> origins;  // of pages that may call, besides those of this machine
  std::chrono::seconds connection_ttl{1'800};  // of a sandbox that a connection was given, after its last use
  std::chrono::seconds stateless_ttl{300};     // of one that a request without a connection was given
  Fixtures fixtures = Fixtures::off;
};

class Server;

// The Model Context Protocol over streamable HTTP: `/mcp`, and what OAuth clients look for beneath
// `/.well-known/`. Belongs to the loop thread.
class Dialect {
 public:
  explicit Dialect(Dependencies dependencies);
  ~Dialect();
  // Adds the routes. The router must have stopped serving before this is destroyed.
  void mount(net::Router& router);
  // Serves MCP at the address of one sandbox, bound to that sandbox, to whoever shows the token that lies
  // inside it. The caller's admission has let the request through to the sandbox already.
  Task<void> serve_sandbox(net::Exchange& exchange, const session::Session& session);
  // Closes the connections of a key that is no longer in force.
  void end_key(const std::string& key_id);
  // Ends all open streams, so that the service can stop. No connection can be opened afterwards.
  void close();

 private:
  std::shared_ptr<Server> server_;
};

}  // namespace atl::api::mcp
