// What a session may reach, what it tried, and its own ports.
#include "api/rest/network.h"

#include <fmt/format.h>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <charconv>

#include "api/rest/context.h"
#include "api/rest/render.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

Result<sandbox::Network> read_mode(const Body& body, std::string_view field, std::string_view word) {
  if (word == "none") return sandbox::Network::none;
  if (word == "egress") return sandbox::Network::egress;
  return fail(body.wrong(field, "the network mode is 'none' or 'egress'"));
}

// {"api.example.com": {"Authorization": "Bearer ${secrets.token}"}}
Result<std::map<std::string, std::map<std::string, std::string>>> read_headers(const Body& body) {
  std::map<std::string, std::map<std::string, std::string>> headers;
  const bj::value* value = body.find("headers");
  if (value == nullptr) return headers;
  const auto wrong = [&] {
    return fail(body.wrong("headers", "'headers' holds for each domain an object of strings"));
  };
  if (!value->is_object()) return wrong();
  for (const auto& domain : value->get_object()) {
    if (!domain.value().is_object()) return wrong();
    for (const auto& header : domain.value().get_object()) {
      if (!header.value().is_string()) return wrong();
      headers[domain.key()][header.key()] = header.value().get_string();
    }
  }
  return headers;
}

Result<session::NetworkRequest> read_rules(const Body& body) {
  session::NetworkRequest request;
  const std::string mode = TRY(body.text("mode")).value_or("egress");
  request.mode = TRY(read_mode(body, "mode", mode));
  request.rules.allow = TRY(body.texts("allow")).value_or(std::vector<std::string>{});
  request.rules.deny = TRY(body.texts("deny")).value_or(std::vector<std::string>{});
  request.rules.inject = TRY(read_headers(body));
  return request;
}

bj::array texts_json(const std::vector<std::string>& texts) {
  bj::array array;
  for (const std::string& text : texts) array.emplace_back(text);
  return array;
}

// Values of headers may hold secrets, so only their names are shown.
bj::object header_names(const egress::RuleTexts& rules) {
  bj::object domains;
  for (const auto& [domain, headers] : rules.inject) {
    bj::array names;
    for (const auto& [name, value] : headers) names.emplace_back(name);
    domains[domain] = std::move(names);
  }
  return domains;
}

bj::object network_json(const session::NetworkFacts& facts) {
  bj::array decisions;
  for (const session::NetworkDecision& decision : facts.decisions) {
    decisions.push_back(bj::object{{"host", decision.host},
                                   {"port", decision.port},
                                   {"allowed", decision.allowed},
                                   {"reason", decision.reason},
                                   {"count", decision.count},
                                   {"first_at", to_rfc3339(decision.first_at)},
                                   {"last_at", to_rfc3339(decision.last_at)}});
  }
  return {{"mode", facts.mode == sandbox::Network::egress ? "egress" : "none"},
          {"allow", texts_json(facts.rules.allow)},
          {"deny", texts_json(facts.rules.deny)},
          {"headers", header_names(facts.rules)},
          {"open_connections", facts.open_connections},
          {"decisions", std::move(decisions)},
          {"forgotten", facts.forgotten}};
}

Task<Response> get_network(Context context, Principal who, Request& request) {
  CO_TRY(const auto facts, co_await context->service->network(std::move(who), request.param("id")));
  co_return json_response(200, network_json(facts));
}

Task<Response> put(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"mode", "allow", "deny", "headers"}));
  CO_TRY(auto wanted, read_rules(body));
  CO_TRY(const auto facts,
         co_await context->service->update_network(std::move(who), request.param("id"), std::move(wanted)));
  co_return json_response(200, network_json(facts));
}

Task<Response> ports(Context context, Principal who, Request& request) {
  CO_TRY(const auto open, co_await context->service->listening_ports(std::move(who), request.param("id")));
  bj::array numbers;
  for (const std::uint16_t port : open) numbers.emplace_back(port);
  bj::object body{{"ports", std::move(numbers)}};
  co_return json_response(200, std::move(body));
}

boost::asio::awaitable<void> to_inside(net::WebSocket& client, sandbox::ByteStream& inside) {
  for (;;) {
    auto message = co_await client.receive();
    if (!message) co_return;
    auto written = co_await inside.write(std::move(message->bytes));
    if (!written) co_return;
  }
}

boost::asio::awaitable<void> to_client(sandbox::ByteStream& inside, net::WebSocket& client) {
  for (;;) {
    auto bytes = co_await inside.read();
    if (!bytes || bytes->empty()) co_return;
    net::Message message{true, std::move(*bytes)};
    auto sent = co_await client.send(std::move(message));
    if (!sent) co_return;
  }
}

// A connection to a server inside the sandbox; its bytes are binary messages. It ends when either side closes
// it.
Task<void> connect(Context context, Principal who, net::Exchange& exchange) {
  using namespace boost::asio::experimental::awaitable_operators;
  const std::string text = exchange.request().param("port");
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failed != std::errc() || end != text.data() + text.size() || port == 0)
    co_return fail(Error(Code::invalid_argument, "a port is a number from 1 to 65535").with_field("port"));
  CO_TRY(const auto inside,
         co_await context->service->connect(std::move(who), exchange.request().param("id"), port));
  net::WebSocketOptions options;
  CO_TRY(const auto client, co_await exchange.accept_websocket(std::move(options)));
  co_await (to_inside(*client, *inside) || to_client(*inside, *client));
  co_return co_await client->close(1000, "the connection ended");
}

}  // namespace

Result<std::optional<session::NetworkRequest>> read_network(const Body& body) {
  const bj::value* value = body.find("network");
  if (value == nullptr) return std::optional<session::NetworkRequest>();
  if (value->is_string()) {
    session::NetworkRequest request;
    request.mode = TRY(read_mode(body, "network", std::string_view(value->get_string())));
    return std::optional(std::move(request));
  }
  const auto inner = TRY(body.object("network", {"mode", "allow", "deny", "headers"}));
  auto request = TRY(read_rules(*inner));
  return std::optional(std::move(request));
}

void mount_network(net::Router& router, const Context& context) {
  route(router, context, Method::get, "/api/sessions/{id}/network", with_key(Permission::sessions_read),
        get_network);
  route(router, context, Method::put, "/api/sessions/{id}/network", with_key(Permission::sessions_write),
        put);
  route(router, context, Method::get, "/api/sessions/{id}/ports", with_key(Permission::sessions_read), ports);
  stream(router, context, Method::get, "/api/sessions/{id}/ports/{port}", with_key(Permission::ports),
         connect);
}

}  // namespace atl::api::rest
