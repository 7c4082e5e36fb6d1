#include "api/mcp/server.h"

#include <fmt/format.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "api/mcp/methods.h"
#include "api/mcp/stateless_check.h"
#include "api/mcp/watch.h"
#include "base/json.h"
#include "session/subject.h"

namespace atl::api::mcp {
namespace {

constexpr std::size_t kStatelessMax = 2'048;  // requests of one key at once
constexpr std::size_t kHelloMax = 64U << 10;  // what a client says of itself, which is kept
constexpr std::size_t kWatchersMax = 64;  // streams of one tenant that wait for changes: each looks by itself
constexpr std::string_view kConnectionHeader = "Mcp-Session-Id";

net::Response fault_response(const bj::value& id, const Fault& fault, int status) {
  return net::Response::json(status, bj::serialize(fault_message(id, fault)));
}

Task<void> send_fault(net::Exchange& exchange, const bj::value& id, Fault fault, int status) {
  net::Response response = fault_response(id, fault, status);
  co_return co_await exchange.send(std::move(response));
}

Task<void> send_accepted(net::Exchange& exchange) {
  net::Response response = net::Response::empty(202);
  co_return co_await exchange.send(std::move(response));
}

Fault too_many_watchers() {
  return {kRefused, fmt::format("at most {} streams of a tenant wait for changes; end one", kWatchersMax),
          nullptr, 429};
}

// Work that ends with an answer.
boost::asio::awaitable<void> answer_into_outbox(CallPtr call) {
  auto reply = co_await answer(call);
  if (!reply) {
    call->outbox->close();
    co_return;
  }
  if (auto* result = std::get_if<bj::object>(&*reply)) {
    call->outbox->finish(result_message(call->id, std::move(*result)), 200);
  } else {
    const Fault& fault = std::get<Fault>(*reply);
    call->outbox->finish(fault_message(call->id, fault), is_stateless(call->revision) ? fault.status : 200);
  }
}

}  // namespace

Server::Server(Dependencies dependencies)
    : shared_(std::make_shared<Shared>(std::move(dependencies))),
      connections_(shared_->parts.executor, {}, [this](const Connection& one) { forget_connection(one); }),
      housekeeping_(shared_->parts.executor) {}

// A sandbox that was made for a connection ends with it. Whoever wants to keep one makes it by name.
void Server::forget_connection(const Connection& connection) {
  if (connection.sandbox.empty() || closed_) return;
  auto end = [](std::shared_ptr<Shared> shared, auth::Principal who,
                std::string id) -> boost::asio::awaitable<void> {
    if (auto ended = co_await shared->parts.service->destroy(who, id); !ended)
      log::info(session::subject_of(who, id), "the sandbox of a connection could not be ended",
                {{"error", ended.error().message()}});
  };
  boost::asio::co_spawn(shared_->parts.executor, end(shared_, connection.owner(), connection.sandbox),
                        boost::asio::detached);
}

boost::asio::awaitable<void> Server::keep_house() {
  const auto self = shared_from_this();
  while (!closed_) {
    co_await housekeeping_.wait(std::chrono::seconds(30));
    connections_.close_idle();
  }
}

void Server::close() {
  closed_ = true;
  housekeeping_.ring();
  connections_.close_all();
  for (const auto& outbox : open_) outbox->close();
}

CallPtr Server::make_call(const net::Request& request, Message message, Revision revision,
                          std::shared_ptr<Connection> connection) {
  auto call = std::make_shared<Call>();
  call->shared = shared_;
  call->who = grant_of(request).who;
  call->revision = revision;
  call->id = std::move(message.id);
  call->method = std::move(message.method);
  call->params = std::move(message.params);
  call->connection = std::move(connection);
  call->outbox = std::make_shared<Outbox>(shared_->parts.executor, random_hex(6));
  return call;
}

void Server::launch(CallPtr call, std::shared_ptr<Running> running, boost::asio::awaitable<void> work) {
  auto end = [call, running](std::exception_ptr) {
    running->ended = true;
    call->outbox->close();
    if (call->connection != nullptr) call->connection->end(call->id);
  };
  boost::asio::co_spawn(shared_->parts.executor, std::move(work),
                        boost::asio::bind_cancellation_slot(running->signal.slot(), std::move(end)));
}

Task<void> Server::post(net::Exchange& exchange) {
  if (auto refused = refuse_origin(exchange.request())) co_return co_await exchange.send(std::move(*refused));
  bj::value id = nullptr;
  Result<Message> message = fail(Code::internal, "");
  {
    CO_TRY(const net::WholeBody body, co_await exchange.read_whole());
    const auto document = json::parse(body.text);
    if (!document) {
      Fault fault{kParseError, document.error().message(), nullptr, 400};
      co_return co_await send_fault(exchange, id, std::move(fault), 400);
    }
    message = read_message(*document, id);
  }
  if (!message) {
    Fault fault{kInvalidRequest, message.error().message(), nullptr, 400};
    co_return co_await send_fault(exchange, id, std::move(fault), 400);
  }
  if (closed_) {
    Fault fault{kRefused, "the service is stopping", nullptr, 503};
    co_return co_await send_fault(exchange, id, std::move(fault), 503);
  }
  if (is_stateless_request(exchange.request(), *message))
    co_return co_await without_connection(exchange, std::move(*message));
  if (message->method == "initialize" && message->kind == Message::Kind::request)
    co_return co_await initialize(exchange, std::move(*message));
  co_return co_await with_connection(exchange, std::move(*message));
}

Task<void> Server::initialize(net::Exchange& exchange, Message message) {
  const bj::value* asked = message.params.if_contains("protocolVersion");
  if (asked == nullptr || !asked->is_string()) {
    Fault fault{kInvalidParams, "'protocolVersion' is missing", nullptr, 200};
    co_return co_await send_fault(exchange, message.id, std::move(fault), 200);
  }
  if (bj::serialize(message.params).size() > kHelloMax) {
    Fault fault{kInvalidParams,
                fmt::format("'clientInfo' and 'capabilities' have at most {} bytes together", kHelloMax),
                nullptr, 200};
    co_return co_await send_fault(exchange, message.id, std::move(fault), 200);
  }
  const auto known = parse_revision(asked->get_string());
  const Revision revision = known && !is_stateless(*known) ? *known : Revision::november_2025;
  auto opened = connections_.open(grant_of(exchange.request()).who, revision, std::move(message.params));
  if (!opened) {
    Fault fault{kRefused, opened.error().message(), nullptr, 429};
    co_return co_await send_fault(exchange, message.id, std::move(fault), 429);
  }
  bj::object result{{"protocolVersion", to_string(revision)},
                    {"capabilities", capabilities(*shared_)},
                    {"serverInfo", server_info()},
                    {"instructions", instructions()}};
  net::Response response =
      net::Response::json(200, bj::serialize(result_message(message.id, std::move(result))));
  response.headers.add(std::string(kConnectionHeader), (*opened)->id());
  co_return co_await exchange.send(std::move(response));
}

Task<void> Server::with_connection(net::Exchange& exchange, Message message) {
  const net::Request& request = exchange.request();
  const std::string_view name = request.headers.get(kConnectionHeader);
  if (name.empty()) {
    Fault fault{kRefused, "the header Mcp-Session-Id is missing: begin with 'initialize'", nullptr, 400};
    co_return co_await send_fault(exchange, message.id, std::move(fault), 400);
  }
  const auto connection = connections_.find(name, grant_of(request).who);
  if (connection == nullptr) {
    Fault fault{kUnknownConnection, "there is no such connection: begin again with 'initialize'", nullptr,
                404};
    co_return co_await send_fault(exchange, message.id, std::move(fault), 404);
  }
  const std::string_view version = request.headers.get("MCP-Protocol-Version");
  // Clients that say nothing are taken to mean the first one; some say it.
  const bool says_nothing = version.empty() || version == "2025-03-26";
  if (const auto known = parse_revision(version); !says_nothing && (!known || is_stateless(*known))) {
    Fault fault{kRefused,
                fmt::format("the connection speaks {}, not {}", to_string(connection->revision()),
                            version.substr(0, 32)),
                nullptr, 400};
    co_return co_await send_fault(exchange, message.id, std::move(fault), 400);
  }
  connection->used = std::chrono::steady_clock::now();
  if (message.kind == Message::Kind::response) {
    connection->answered(message.body);
    co_return co_await send_accepted(exchange);
  }
  if (message.kind == Message::Kind::notification) {
    const bj::value* id = message.params.if_contains("requestId");
    if (message.method == "notifications/cancelled" && id != nullptr) connection->cancel(*id);
    co_return co_await send_accepted(exchange);
  }
  CallPtr call = make_call(request, std::move(message), connection->revision(), connection);
  co_return co_await run(exchange, std::move(call));
}

Task<void> Server::without_connection(net::Exchange& exchange, Message message) {
  const net::Request& request = exchange.request();
  if (message.kind != Message::Kind::request) co_return co_await send_accepted(exchange);
  if (auto wrong = check_stateless(request, message)) {
    const int status = wrong->status;
    co_return co_await send_fault(exchange, message.id, std::move(*wrong), status);
  }
  CallPtr call = make_call(request, std::move(message), Revision::july_2026, nullptr);
  if (call->method == "tools/call") {
    if (auto wrong = check_parameter_headers(request, *call))
      co_return co_await send_fault(exchange, call->id, std::move(*wrong), 400);
  }
  // Counted by who asks, so that nobody takes the places of others.
  const std::string caller = call->who.tenant + "\n" + call->who.key_id;
  if (stateless_.of(caller) >= kStatelessMax) {
    Fault fault{kRefused, fmt::format("at most {} requests of one key run at once", kStatelessMax), nullptr,
                429};
    co_return co_await send_fault(exchange, call->id, std::move(fault), 429);
  }
  const Tally::Place place(stateless_, caller);
  if (call->method == "subscriptions/listen") co_return co_await listen(exchange, std::move(call));
  co_return co_await run(exchange, std::move(call));
}

Task<void> Server::run(net::Exchange& exchange, CallPtr call) {
  auto running = std::make_shared<Running>();
  if (call->connection != nullptr && !call->connection->begin(call->id, running, call->outbox)) {
    Fault fault{kInvalidRequest, "a request with this id is under way, or too many are", nullptr, 400};
    co_return co_await send_fault(exchange, call->id, std::move(fault), 400);
  }
  Delivery delivery = delivery_for(exchange.request(), *call, running);
  launch(call, running, answer_into_outbox(call));
  co_return co_await deliver(exchange, std::move(delivery));
}

// A stream of what changes, for as long as the client wants it.
Task<void> Server::listen(net::Exchange& exchange, CallPtr call) {
  const bj::object* filter = object_in(call->params, "notifications");
  if (filter == nullptr) {
    Fault fault{kInvalidParams, "'notifications' says what to listen for", nullptr, 200};
    co_return co_await send_fault(exchange, call->id, std::move(fault), 200);
  }
  Watched wanted{flag_in(*filter, "toolsListChanged"),
                 flag_in(*filter, "promptsListChanged"),
                 flag_in(*filter, "resourcesListChanged"),
                 {}};
  bj::object honoured;
  for (const char* name : {"toolsListChanged", "promptsListChanged", "resourcesListChanged"})
    if (flag_in(*filter, name)) honoured[name] = true;
  if (const bj::value* uris = filter->if_contains("resourceSubscriptions");
      uris != nullptr && uris->is_array()) {
    for (const bj::value& uri : uris->get_array())
      if (uri.is_string() && uri.get_string().size() <= kUriMax &&
          wanted.uris.size() < Connection::kSubscriptionsMax)
        wanted.uris.emplace(uri.get_string());
    honoured["resourceSubscriptions"] = bj::value_from(wanted.uris);
  }
  auto mark = [id = call->id](bj::object& params) { params["_meta"] = bj::object{{kMetaSubscription, id}}; };
  bj::object accepted{{"notifications", std::move(honoured)}};
  mark(accepted);
  call->outbox->put(notification("notifications/subscriptions/acknowledged", std::move(accepted)));
  if (watchers_.of(call->who.tenant) >= kWatchersMax)
    co_return co_await send_fault(exchange, call->id, too_many_watchers(), 429);
  const Tally::Place place(watchers_, call->who.tenant);
  auto running = std::make_shared<Running>();
  Delivery delivery = delivery_for(exchange.request(), *call, running);
  launch(call, running,
         watch(
             call, [wanted] { return wanted; }, mark));
  co_return co_await deliver(exchange, std::move(delivery));
}

Task<void> Server::get(net::Exchange& exchange) {
  const net::Request& request = exchange.request();
  if (auto refused = refuse_origin(request)) co_return co_await exchange.send(std::move(*refused));
  const std::string_view name = request.headers.get(kConnectionHeader);
  const auto version = parse_revision(request.headers.get("MCP-Protocol-Version"));
  if (name.empty()) {
    const bool stateless = version && is_stateless(*version);
    Fault fault{kRefused,
                stateless ? "this revision has no stream of its own: use subscriptions/listen"
                          : "the header Mcp-Session-Id is missing: begin with 'initialize'",
                nullptr, 400};
    net::Response response = fault_response(nullptr, fault, stateless ? 405 : 400);
    if (stateless) response.headers.add("Allow", "POST");
    co_return co_await exchange.send(std::move(response));
  }
  const auto connection = connections_.find(name, grant_of(request).who);
  if (connection == nullptr) {
    Fault fault{kUnknownConnection, "there is no such connection: begin again with 'initialize'", nullptr,
                404};
    co_return co_await send_fault(exchange, nullptr, std::move(fault), 404);
  }
  connection->used = std::chrono::steady_clock::now();
  Delivery delivery;
  delivery.connection = connection;
  delivery.takes_json = false;
  delivery.starts_at_once = true;
  // A client that comes back for the rest of an earlier stream.
  if (const std::string last(request.headers.get("Last-Event-ID")); !last.empty()) {
    const auto dash = last.rfind('-');
    const auto outbox = dash == std::string::npos ? nullptr : connection->stream(last.substr(0, dash));
    if (outbox != nullptr) {
      delivery.outbox = outbox;
      delivery.after = std::strtoull(last.c_str() + dash + 1, nullptr, 10);
      co_return co_await deliver(exchange, std::move(delivery));
    }
  }
  Message message;
  CallPtr call = make_call(request, std::move(message), connection->revision(), connection);
  if (watchers_.of(call->who.tenant) >= kWatchersMax)
    co_return co_await send_fault(exchange, nullptr, too_many_watchers(), 429);
  const Tally::Place place(watchers_, call->who.tenant);
  if (connection->own != nullptr) connection->own->close();
  connection->own = call->outbox;
  auto watched = [connection] { return Watched{true, true, true, connection->subscriptions}; };
  delivery.running = std::make_shared<Running>();
  delivery.outbox = call->outbox;
  delivery.connection = nullptr;  // nothing that was missed is kept
  launch(call, delivery.running, watch(call, watched, [](bj::object&) {}));
  auto done = co_await deliver(exchange, std::move(delivery));
  if (connection->own == call->outbox) connection->own = nullptr;
  co_return done;
}

Task<net::Response> Server::del(net::Request& request) {
  if (auto refused = refuse_origin(request)) co_return std::move(*refused);
  const std::string name(request.headers.get(kConnectionHeader));
  const auto connection = connections_.find(name, grant_of(request).who);
  const Fault unknown{kUnknownConnection, "there is no such connection", nullptr, 404};
  if (connection == nullptr) co_return fault_response(nullptr, unknown, name.empty() ? 400 : 404);
  connections_.close(name);
  co_return net::Response::empty(204);
}

}  // namespace atl::api::mcp
