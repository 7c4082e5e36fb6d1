#include "cli/mcp_bridge.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/bytes.h"
#include "base/json.h"

namespace atl::cli {
namespace {

namespace asio = boost::asio;
namespace bj = boost::json;

constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
constexpr std::size_t kAtOnce = 256;
constexpr std::size_t kMessageMax = 64U << 20;  // of one message of the service

const bj::object* member_object(const bj::object& from, std::string_view name) {
  const bj::value* value = from.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}
std::string member_text(const bj::object& from, std::string_view name) {
  const bj::value* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

// Headers are ASCII; what is not travels in base64.
std::string header_value(const std::string& text) {
  bool plain = !text.empty() && text.front() != ' ' && text.back() != ' ';
  for (const char c : text) plain = plain && c >= ' ' && c < 0x7f;
  return plain ? text : fmt::format("=?base64?{}?=", to_base64(text));
}

struct McpLine {
  std::string text;
  bj::value id;
  std::string method, version, name;  // version: of 2026-07-28 and later; empty: of a connection

  bool is_request() const { return !method.empty() && !id.is_null(); }
};

Result<McpLine> read_line(std::string text) {
  const bj::value document = TRY(json::parse(text));
  const bj::object* message = document.if_object();
  if (message == nullptr)
    return fail(Error(Code::invalid_argument, "a message is a JSON object, and a line has one of them")
                    .with_field("message"));
  McpLine line;
  line.text = std::move(text);
  if (const bj::value* id = message->if_contains("id")) line.id = *id;
  line.method = member_text(*message, "method");
  if (const bj::object* params = member_object(*message, "params")) {
    if (const bj::object* meta = member_object(*params, "_meta"))
      line.version = member_text(*meta, kMetaVersion);
    line.name = member_text(*params, line.method == "resources/read" ? "uri" : "name");
  }
  return line;
}

std::string error_line(const bj::value& id, int code, const std::string& message) {
  bj::object error{{"code", code}, {"message", message}};
  bj::object answer{{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}};
  return bj::serialize(answer);
}

Error too_long() {
  return Error(Code::too_large, fmt::format("the service's message is longer than {} bytes", kMessageMax));
}

// The messages in a stream of server-sent events.
class McpEventReader {
 public:
  // Code::too_large for one that has no end.
  Result<void> add(std::string_view bytes, const McpBridge::Write& write) {
    // What was looked at before holds no end, except that an end may be cut in two.
    std::size_t from = held_.empty() ? 0 : held_.size() - 1, begin = 0;
    held_ += bytes;
    for (std::size_t end; (end = held_.find("\n\n", from)) != std::string::npos; begin = from = end + 2) {
      std::string_view event = std::string_view(held_).substr(begin, end - begin);
      std::string data;
      while (!event.empty()) {
        const auto stop = event.find('\n');
        std::string_view row = event.substr(0, stop);
        event = stop == std::string_view::npos ? std::string_view() : event.substr(stop + 1);
        if (!row.starts_with("data:")) continue;
        row.remove_prefix(5);
        if (row.starts_with(' ')) row.remove_prefix(1);
        data += row;
      }
      if (!data.empty()) write(std::move(data));
    }
    held_.erase(0, begin);
    if (held_.size() > kMessageMax) return fail(too_long());
    return {};
  }

 private:
  std::string held_;
};

}  // namespace

struct McpBridge::State : std::enable_shared_from_this<McpBridge::State> {
  State(asio::any_io_executor where, McpService with, Find other, Write out)
      : executor(where),
        find(std::move(other)),
        write(std::move(out)),
        changed(where, asio::steady_timer::time_point::max()) {
    use(std::move(with));
  }

  void use(McpService with) {
    service = std::move(with);
    connection.clear();
    client.reset();
    auto url = net::Url::parse(service.address);
    if (!url) return;
    net::ClientOptions options;
    options.tries = 1;
    client = std::make_unique<net::Client>(executor, std::move(*url), options);
  }

  net::ClientRequest request_for(const McpLine& line) const {
    net::ClientRequest request;
    request.method = "POST";
    request.target = "/mcp";
    request.headers = {{"Content-Type", "application/json"},
                       {"Accept", "application/json, text/event-stream"}};
    if (!service.key.empty()) request.headers.add("X-API-Key", service.key);
    if (!line.version.empty()) {
      request.headers.add("MCP-Protocol-Version", line.version);
      request.headers.add("Mcp-Method", line.method);
      if (!line.name.empty()) request.headers.add("Mcp-Name", header_value(line.name));
    } else if (line.method != "initialize" && !connection.empty()) {
      request.headers.add("Mcp-Session-Id", connection);
      if (!revision.empty()) request.headers.add("MCP-Protocol-Version", revision);
    }
    request.body = line.text;
    return request;
  }

  void begin_connection(const net::ClientResponse& head, const std::string& body) {
    connection = std::string(head.headers.get("Mcp-Session-Id"));
    const auto answer = json::parse(body);
    const bj::object* result =
        answer && answer->is_object() ? member_object(answer->get_object(), "result") : nullptr;
    if (result != nullptr) revision = member_text(*result, "protocolVersion");
  }

  // Nothing: answered. A status: the service refused, and this is its body.
  struct Refused {
    int status;
    std::string body;
  };
  Task<std::optional<Refused>> send(McpLine line, Write out) {
    if (client == nullptr) co_return fail(Code::unavailable, "no service is known");
    net::ClientRequest request = request_for(line);
    CO_TRY(const auto call, co_await client->open(std::move(request)));
    CO_TRY(const net::ClientResponse head, co_await call->head());
    const bool streams = head.headers.get("Content-Type").find("event-stream") != std::string_view::npos;
    McpEventReader events;
    std::string body;
    while (true) {
      CO_TRY(const std::string piece, co_await call->read());
      if (piece.empty()) break;
      if (streams)
        CO_CHECK(events.add(piece, out));
      else if ((body += piece).size() > kMessageMax)
        co_return fail(too_long());
    }
    if (line.method == "initialize" && head.status == 200) begin_connection(head, body);
    // Errors of the protocol are answers whatever their status; others are not JSON-RPC's.
    const bool is_ours =
        body.find("\"jsonrpc\"") != std::string::npos && body.find("\"id\"") != std::string::npos;
    if (head.status >= 400 && !is_ours) co_return Refused{head.status, std::move(body)};
    if (head.status == 404 && !connection.empty() && line.version.empty())
      co_return Refused{404, std::move(body)};
    if (!streams && !body.empty()) out(std::move(body));
    co_return std::optional<Refused>();
  }

  // The service forgot us, or is another one: begins again what the client began once.
  Task<void> begin_again() {
    if (initialize.empty()) co_return Result<void>();
    CO_TRY(McpLine line, read_line(initialize));
    const Write nobody = [](const std::string&) {};
    CO_CHECK(co_await send(std::move(line), nobody));
    co_return Result<void>();
  }

  asio::awaitable<void> serve(McpLine line) {
    const bj::value id = line.id;
    const bool answers = line.is_request();
    std::string problem;
    for (int round = 0; round < 2; ++round) {
      auto sent = co_await send(line, write);
      if (sent && !*sent) co_return;
      if (!sent && sent.error().code() == Code::canceled) co_return;  // nobody waits for it
      if (sent && (*sent)->status != 404) {
        problem = (*sent)->status == 401
                      ? "the service refused the key: set ATOLL_API_KEY to one that it knows"
                      : fmt::format("the service answered with status {}", (*sent)->status);
        break;
      }
      problem = sent ? "the service does not know this connection" : sent.error().message();
      if (round > 0) break;
      if (!sent) {
        auto other = co_await find();
        if (!other) break;
        use(std::move(*other));
      }
      if (line.version.empty() && line.method != "initialize")
        if (auto begun = co_await begin_again(); !begun) break;
    }
    if (answers) write(error_line(id, -32000, problem));
  }

  // What the service says without being asked, for clients with a connection.
  asio::awaitable<void> listen() {
    while (!over && !connection.empty() && client != nullptr) {
      net::ClientRequest request;
      request.target = "/mcp";
      request.headers = {{"Accept", "text/event-stream"}, {"Mcp-Session-Id", connection}};
      if (!service.key.empty()) request.headers.add("X-API-Key", service.key);
      auto call = co_await client->open(std::move(request), net::RequestBody::none);
      if (!call) co_return;
      auto head = co_await (*call)->head();
      if (!head || head->status != 200) co_return;
      McpEventReader events;
      while (true) {
        auto piece = co_await (*call)->read();
        if (!piece || piece->empty()) break;
        if (!events.add(*piece, write)) co_return;
      }
      // A moment, so that a service that ends every stream at once is not asked without end.
      asio::steady_timer pause(executor, std::chrono::milliseconds(500));
      co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

  void start(asio::awaitable<void> work, const std::string& key, bool counts) {
    auto signal = std::make_shared<asio::cancellation_signal>();
    const std::uint64_t number = ++started;
    running[number] = {signal, key};
    if (counts) ++waiting;
    auto end = [self = shared_from_this(), number, counts, signal](std::exception_ptr) {
      self->running.erase(number);
      if (counts) --self->waiting;
      self->changed.cancel();
    };
    asio::co_spawn(executor, std::move(work), asio::bind_cancellation_slot(signal->slot(), std::move(end)));
  }

  asio::awaitable<void> wait() { co_await changed.async_wait(asio::as_tuple(asio::use_awaitable)); }

  struct Running {
    std::shared_ptr<asio::cancellation_signal> signal;
    std::string key;  // the request's id as JSON, of revisions without connections
  };

  asio::any_io_executor executor;
  McpService service;
  std::unique_ptr<net::Client> client;
  Find find;
  Write write;
  std::string connection, revision, initialize;
  std::map<std::uint64_t, Running> running;
  std::uint64_t started = 0;
  std::size_t waiting = 0;
  bool over = false;
  asio::steady_timer changed;
};

McpBridge::McpBridge(asio::any_io_executor executor, McpService service, Find find, Write write)
    : state_(std::make_shared<State>(std::move(executor), std::move(service), std::move(find),
                                     std::move(write))) {}

McpBridge::~McpBridge() = default;

asio::awaitable<void> McpBridge::take(std::string text) {
  const auto state = state_;
  auto line = read_line(std::move(text));
  if (!line) {
    // Without a field it is no JSON at all.
    const int code = line.error().field().empty() ? -32700 : -32600;
    state->write(error_line(nullptr, code, line.error().message()));
    co_return;
  }
  if (line->method == "initialize") {
    state->initialize = line->text;
    co_await state->serve(std::move(*line));
    if (!state->connection.empty()) state->start(state->listen(), "", false);
    co_return;
  }
  // Without connections a request is canceled by leaving it alone.
  if (line->method == "notifications/cancelled" && state->connection.empty()) {
    const auto message = json::parse(line->text);
    const bj::object* params = message ? member_object(message->get_object(), "params") : nullptr;
    const bj::value* id = params == nullptr ? nullptr : params->if_contains("requestId");
    if (id == nullptr) co_return;
    const std::string key = bj::serialize(*id);
    auto all = state->running;
    for (auto& [number, one] : all)
      if (one.key == key) one.signal->emit(asio::cancellation_type::terminal);
    co_return;
  }
  if (!line->is_request()) {
    co_await state->serve(std::move(*line));
    co_return;
  }
  while (state->waiting >= kAtOnce) co_await state->wait();
  const std::string key = bj::serialize(line->id);
  const bool ends = line->method != "subscriptions/listen";
  state->start(state->serve(std::move(*line)), key, ends);
}

asio::awaitable<void> McpBridge::finish() {
  const auto state = state_;
  state->over = true;
  while (state->waiting > 0) co_await state->wait();
  cancel();
  if (state->connection.empty() || state->client == nullptr) co_return;
  net::ClientRequest request;
  request.method = "DELETE";
  request.target = "/mcp";
  request.headers = {{"Mcp-Session-Id", state->connection}};
  if (!state->service.key.empty()) request.headers.add("X-API-Key", state->service.key);
  (void)co_await state->client->send(std::move(request));
}

void McpBridge::cancel() {
  state_->over = true;
  auto all = state_->running;
  for (auto& [number, one] : all) one.signal->emit(asio::cancellation_type::terminal);
}

}  // namespace atl::cli
