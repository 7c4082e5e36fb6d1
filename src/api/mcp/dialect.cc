#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "api/mcp/mcp.h"
#include "api/mcp/server.h"

namespace atl::api::mcp {

Dialect::Dialect(Dependencies dependencies) : server_(std::make_shared<Server>(std::move(dependencies))) {}

Dialect::~Dialect() = default;

void Dialect::mount(net::Router& router) {
  const auto server = server_;
  const Admission& admission = *server->shared().parts.admission;
  const auto refuse = [server](const Refusal& refusal, const net::Request& request) {
    return server->refuse(refusal, request);
  };
  constexpr net::RouteOptions kBody{.body_bytes_max = 16U << 20};
  // Which tools a key may call is decided tool by tool.
  router.add_stream(
      net::Method::post, "/mcp", admission.rule(with_any_key(), refuse),
      [server](net::Exchange& exchange) { return server->post(exchange); }, kBody);
  router.add_stream(net::Method::get, "/mcp", admission.rule(with_any_key(), refuse),
                    [server](net::Exchange& exchange) { return server->get(exchange); });
  router.add(net::Method::del, "/mcp", admission.rule(with_any_key().ending(), refuse),
             [server](net::Request& request) { return server->del(request); });
  for (const char* path :
       {"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"})
    router.add(
        net::Method::get, path, admission.rule(for_anybody()),
        [server](net::Request& request) -> Task<net::Response> { co_return server->metadata(request); });
  boost::asio::co_spawn(server->shared().parts.executor, server->keep_house(), boost::asio::detached);
}

Task<void> Dialect::serve_sandbox(net::Exchange& exchange, const session::Session& session) {
  return server_->serve_sandbox(exchange, session);
}

void Dialect::end_key(const std::string& key_id) {
  server_->connections().close_of(key_id);
}

void Dialect::close() {
  server_->close();
}

}  // namespace atl::api::mcp
