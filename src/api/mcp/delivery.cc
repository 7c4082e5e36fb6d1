// How answers get to clients: as one JSON body, or as a stream of events; and who may ask at all.
#include <fmt/format.h>

#include "api/mcp/server.h"
#include "auth/denial.h"
#include "base/error.h"

namespace atl::api::mcp {
namespace {

// A stream that says nothing for long is cut by what stands between.
constexpr std::chrono::milliseconds kSignOfLife{15'000};
constexpr int kComeBackMs = 500;

std::string event_text(const Outbox& outbox, const Outbox::Event& event) {
  return fmt::format("event: message\nid: {}-{}\ndata: {}\n\n", outbox.name(), event.number, event.text);
}

bool accepts(const net::Request& request, std::string_view type) {
  const std::string_view header = request.headers.get("Accept");
  return header.find(type) != std::string_view::npos;
}

// "http://localhost:3000" is localhost.
std::string_view host_of_origin(std::string_view origin) {
  const auto scheme = origin.find("://");
  if (scheme == std::string_view::npos) return {};
  origin.remove_prefix(scheme + 3);
  if (origin.starts_with('[')) return origin.substr(0, origin.find(']') + 1);
  return origin.substr(0, origin.find(':'));
}

}  // namespace

// Pages that a browser of this machine shows must not reach a service on this machine behind its user's back,
// whatever name they gave it (DNS rebinding).
std::optional<net::Response> Server::refuse_origin(const net::Request& request) const {
  const std::string* origin = request.headers.find("Origin");
  if (origin == nullptr) return std::nullopt;
  const std::string_view host = host_of_origin(*origin);
  if (host == "localhost" || host == "127.0.0.1" || host == "[::1]") return std::nullopt;
  for (const std::string& known : shared_->parts.origins)
    if (known == "*" || net::equal_ignoring_case(known, *origin)) return std::nullopt;
  const std::string& url = shared_->parts.url;
  if (!url.empty() && (url == *origin || url.starts_with(*origin + "/"))) return std::nullopt;
  const Fault fault{kRefused,
                    "pages of this origin may not call: the setting cors.origins names those that may",
                    nullptr, 403};
  return net::Response::json(403, bj::serialize(fault_message(nullptr, fault)));
}

std::string Server::base_of(const net::Request& request) const {
  if (!shared_->parts.url.empty()) return shared_->parts.url;
  std::string host(request.host());
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
  if (host.empty() || host.find_first_not_of(kAllowed) != std::string::npos) host = "localhost";
  return (request.secure ? "https://" : "http://") + host;
}

net::Response Server::metadata(const net::Request& request) const {
  bj::array scopes;
  for (const std::string& word : auth::PermissionSet::all().words()) scopes.push_back(bj::value(word));
  bj::object facts{{"resource", base_of(request) + "/mcp"},
                   {"resource_name", "Atoll"},
                   {"bearer_methods_supported", bj::array({"header"})},
                   {"scopes_supported", std::move(scopes)}};
  if (!shared_->parts.issuer.empty()) facts["authorization_servers"] = bj::array({shared_->parts.issuer});
  net::Response response = net::Response::json(200, bj::serialize(facts));
  response.headers.add("Cache-Control", "no-store");
  return response;
}

std::optional<net::Response> Server::refuse(const Refusal& refusal, const net::Request& request) const {
  const CodeRow& facts = row(refusal.error.code());
  const Fault fault{kRefused, refusal.error.message(), bj::object{{"code", facts.name}}, facts.http_status};
  net::Response response =
      net::Response::json(facts.http_status, bj::serialize(fault_message(nullptr, fault)));
  if (refusal.kind == Refusal::Kind::unauthenticated) {
    std::string challenge = fmt::format(
        "Bearer resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"", base_of(request));
    if (!shown_key(request).empty()) challenge += R"(, error="invalid_token")";
    response.headers.set("WWW-Authenticate", std::move(challenge));
  }
  if (refusal.error.code() == Code::resource_exhausted)
    response.headers.set("Retry-After", std::to_string(auth::retry_after_of(refusal.error).value_or(1)));
  return response;
}

Server::Delivery Server::delivery_for(const net::Request& request, const Call& call,
                                      std::shared_ptr<Running> running) const {
  Delivery delivery;
  delivery.outbox = call.outbox;
  delivery.running = std::move(running);
  delivery.connection = call.connection;
  delivery.primes = call.connection != nullptr && call.revision == Revision::november_2025;
  delivery.takes_stream = accepts(request, "text/event-stream");
  delivery.takes_json =
      !delivery.takes_stream || accepts(request, "application/json") || accepts(request, "*/*");
  return delivery;
}

Task<void> Server::deliver(net::Exchange& exchange, Delivery delivery) {
  const std::shared_ptr<Outbox> outbox = delivery.outbox;
  open_.insert(outbox);
  struct Leave {
    Server& server;
    net::Exchange& exchange;
    Delivery& delivery;
    bool started = false, arrived = false;
    // What nobody can come back for ends with its client.
    ~Leave() {
      server.open_.erase(delivery.outbox);
      exchange.on_disconnect({});
      if (arrived && delivery.connection != nullptr) delivery.connection->delivered(delivery.outbox->name());
      if (!arrived && delivery.running != nullptr && (delivery.connection == nullptr || !started))
        delivery.running->cancel();
    }
  } leave{*this, exchange, delivery};
  exchange.on_disconnect([outbox] { outbox->wake(); });
  const auto start = [&]() -> Task<void> {
    leave.started = true;
    net::Headers headers{{"Content-Type", "text/event-stream"},
                         {"Cache-Control", "no-cache, no-transform"},
                         {"X-Accel-Buffering", "no"}};
    CO_CHECK(co_await exchange.start(200, std::move(headers)));
    if (!delivery.primes) co_return Result<void>();
    std::string prime = fmt::format("id: {}-0\nretry: {}\ndata: \n\n", outbox->name(), kComeBackMs);
    co_return co_await exchange.write(std::move(prime));
  };
  std::uint64_t after = delivery.after;
  if (delivery.starts_at_once) CO_CHECK(co_await start());
  while (true) {
    const auto event = co_await outbox->take(after, kSignOfLife);
    if (exchange.disconnected()) co_return fail(Code::canceled, "the client went away");
    if (event) {
      after = event->number;
      if (event->is_last && !leave.started && delivery.takes_json) {
        leave.arrived = true;
        net::Response response = net::Response::json(event->status, event->text);
        co_return co_await exchange.send(std::move(response));
      }
      if (!delivery.takes_stream && !event->is_last) continue;
      if (!leave.started) CO_CHECK(co_await start());
      std::string text = event_text(*outbox, *event);
      CO_CHECK(co_await exchange.write(std::move(text)));
      if (delivery.connection == nullptr) outbox->forget(after);
      if (event->is_last) {
        leave.arrived = true;
        co_return co_await exchange.finish();
      }
      continue;
    }
    const bool goes = outbox->take_sending_away();
    if (goes || outbox->is_over(after)) {
      if (!leave.started) CO_CHECK(co_await start());
      leave.arrived = !goes;
      co_return co_await exchange.finish();
    }
    if (!delivery.takes_stream) continue;
    if (!leave.started) CO_CHECK(co_await start());
    std::string comment = ": \n\n";
    CO_CHECK(co_await exchange.write(std::move(comment)));
  }
}

}  // namespace atl::api::mcp
