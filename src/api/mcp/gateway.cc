// MCP at a sandbox's own address, as E2B's clients ask for it with the option `mcp`.
#include "api/mcp/server.h"
#include "base/bytes.h"

namespace atl::api::mcp {
namespace {

// Where the program mcp-gateway, which those clients run inside, puts what they will show us.
constexpr const char* kTokenFile = "/etc/mcp-gateway/.token";
constexpr std::size_t kTokenMax = 4'096;

Task<std::string> token_of(std::shared_ptr<Shared> shared, auth::Principal who, std::string id) {
  CO_TRY(const auto files, co_await shared->parts.service->files(who, id));
  CO_TRY(const auto reader, co_await files->open_read(kTokenFile, 0, kTokenMax, "root"));
  std::string token;
  while (token.size() < kTokenMax) {
    CO_TRY(const std::string block, co_await reader->next());
    if (block.empty()) break;
    token += block;
  }
  co_return token;
}

// Whoever has the token acts in this sandbox and nowhere else.
auth::Principal guest_of(const session::Session& session) {
  auth::Principal who = session::Service::owner(session);
  who.role = "session";
  who.permissions = auth::kDataPlanePermissions |
                    auth::PermissionSet{auth::Permission::tools_run, auth::Permission::catalog_read};
  auth::Scopes scopes;
  scopes.sessions = {session.sandbox_id};
  who.scopes = std::make_shared<const auth::Scopes>(std::move(scopes));
  return who;
}

net::Response refused(int status, std::string message) {
  const Fault fault{kRefused, std::move(message), nullptr, status};
  net::Response response = net::Response::json(status, bj::serialize(fault_message(nullptr, fault)));
  if (status == 401) response.headers.set("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace

Task<void> Server::serve_sandbox(net::Exchange& exchange, const session::Session& session) {
  net::Request& request = exchange.request();
  if (request.path != "/mcp") {
    net::Response nothing = refused(404, "the gateway is at /mcp");
    co_return co_await exchange.send(std::move(nothing));
  }
  auth::Principal who = guest_of(session);
  const auto token = co_await token_of(shared_, who, session.sandbox_id);
  const bool opens = token && !token->empty() && equal_in_constant_time(*token, shown_key(request));
  if (!opens) {
    net::Response closed =
        refused(401, "the gateway of this sandbox wants its own token: Authorization: Bearer");
    co_return co_await exchange.send(std::move(closed));
  }
  Grant grant = grant_of(request);
  grant.who = std::move(who);
  request.grant = std::make_shared<const Grant>(std::move(grant));
  if (request.method == net::Method::post) co_return co_await post(exchange);
  if (request.method == net::Method::get) co_return co_await get(exchange);
  net::Response response = refused(405, "POST, GET or DELETE");
  if (request.method == net::Method::del) {
    CO_TRY(response, co_await del(request));
  }
  co_return co_await exchange.send(std::move(response));
}

}  // namespace atl::api::mcp
