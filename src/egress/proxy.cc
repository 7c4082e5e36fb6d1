#include "egress/proxy.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <charconv>
#include <optional>
#include <utility>

#include "base/log.h"
#include "egress/authority.h"
#include "egress/buffered.h"
#include "egress/client_hello.h"
#include "egress/http_request.h"
#include "egress/tls_stream.h"

namespace atl::egress {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kHeadMax = 64U << 10;
constexpr std::size_t kConnectionsMax = 512;

// Ends both directions of a relay at once; never leaves relay().
struct RelayEnded {};

asio::awaitable<void> pump(ByteStream& from, ByteStream& to) {
  for (;;) {
    auto bytes = co_await from.read();
    if (!bytes) throw RelayEnded();
    if (bytes->empty()) break;
    auto written = co_await to.write(std::move(*bytes));
    if (!written) throw RelayEnded();
  }
  auto closed = co_await to.close_write();
  if (!closed) throw RelayEnded();
}

asio::awaitable<void> relay(ByteStream& a, ByteStream& b) {
  using namespace asio::experimental::awaitable_operators;
  try {
    co_await (pump(a, b) && pump(b, a));
  } catch (const RelayEnded&) {
    co_return;
  }
}

std::string plain_answer(int status, std::string_view reason, std::string_view text) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}\n",
      status, reason, text.size() + 1, text);
}

}  // namespace

struct Proxy::State {
  asio::any_io_executor executor;
  std::shared_ptr<const Rules> rules;
  Resolver* resolver;
  Connector* connector;
  Authority* authority;
  Observer observer;
  std::list<std::shared_ptr<Connection>> connections;
};

// One client from its first byte to its last. Keeps the state alive, and with it what it was given.
class Proxy::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<State> state, std::unique_ptr<ByteStream> client)
      : state_(std::move(state)), client_(std::move(client)) {}

  asio::awaitable<void> run();
  void cut() { signal_.emit(asio::cancellation_type::terminal); }
  auto slot() { return signal_.slot(); }
  // False once the rules no longer allow what this connection reached.
  bool is_allowed(const Rules& rules) const {
    if (!reached_) return true;
    const auto* name = std::get_if<std::string>(&host_);
    return rules.check_host(host_, port_).allowed &&
           rules.check_address(name ? *name : std::string(), *reached_, port_).allowed;
  }

 private:
  enum class Tls { no, yes };

  Task<std::unique_ptr<ByteStream>> reach(Host host, std::uint16_t port, Tls tls);
  Task<Address> choose(const Host& host, std::uint16_t port);
  asio::awaitable<void> socks();
  asio::awaitable<void> http();
  asio::awaitable<void> connect_tunnel(ConnectRequest target);
  asio::awaitable<void> tunnel(std::unique_ptr<ByteStream> upstream);
  asio::awaitable<void> intercept(ConnectRequest target);
  asio::awaitable<void> forward(HttpRequest request, Buffered& client, Tls tls);
  Task<void> send_body(const HttpRequest& request, Buffered& client, ByteStream& upstream);
  // Waits for the client hello of a tunnel, if there is one, and holds it against the host.
  Task<void> check_hello();
  void report(std::string host, std::uint16_t port, bool allowed, std::string reason) {
    if (state_->observer) state_->observer({std::move(host), port, allowed, std::move(reason)});
  }

  std::shared_ptr<State> state_;
  Buffered client_;
  asio::cancellation_signal signal_;
  Host host_ = std::string();
  std::uint16_t port_ = 0;
  std::optional<Address> reached_;
};

Task<Address> Proxy::Connection::choose(const Host& host, std::uint16_t port) {
  const auto rules = state_->rules;
  auto decision = rules->check_host(host, port);
  if (!decision.allowed) {
    report(to_string(host), port, false, decision.reason);
    co_return fail(Code::permission_denied,
                   fmt::format("{}:{} is not allowed: {}", to_string(host), port, decision.reason));
  }
  if (const auto* address = std::get_if<Address>(&host)) {
    report(to_string(host), port, true, decision.reason);
    co_return *address;
  }
  const auto name = std::get<std::string>(host);
  CO_TRY(const auto addresses, co_await state_->resolver->resolve(name));
  for (const auto& address : addresses) {
    decision = rules->check_address(name, address, port);
    if (!decision.allowed) continue;
    report(name, port, true, decision.reason);
    co_return address;
  }
  const auto reason = addresses.empty() ? std::string("the name does not resolve") : decision.reason;
  report(name, port, false, reason);
  co_return fail(Code::permission_denied, fmt::format("{}:{} is not allowed: {}", name, port, reason));
}

Task<std::unique_ptr<ByteStream>> Proxy::Connection::reach(Host host, std::uint16_t port, Tls tls) {
  CO_TRY(const auto address, co_await choose(host, port));
  host_ = host;
  port_ = port;
  reached_ = address;
  if (tls == Tls::yes) co_return co_await state_->connector->connect_tls(address, port, to_string(host));
  co_return co_await state_->connector->connect(address, port);
}

asio::awaitable<void> Proxy::Connection::run() {
  auto first = co_await client_.need(1);
  if (!first) co_return;
  if (client_.buffered()[0] == '\x05') {
    co_await socks();
  } else {
    co_await http();
  }
}

asio::awaitable<void> Proxy::Connection::http() {
  auto length = co_await client_.need_until("\r\n\r\n", kHeadMax);
  if (!length) co_return;
  const auto head = client_.take(*length);
  if (is_connect(head)) {
    auto target = parse_connect(head);
    if (target) {
      co_await connect_tunnel(std::move(*target));
    } else {
      report("", 0, false, target.error().message());
      auto answer = plain_answer(400, "Bad Request", target.error().message());
      co_await client_.write(std::move(answer));
    }
    co_return;
  }
  auto request = parse_request(head, std::nullopt);
  if (!request) {
    report("", 0, false, request.error().message());
    auto answer = plain_answer(400, "Bad Request", request.error().message());
    co_await client_.write(std::move(answer));
    co_return;
  }
  co_await forward(std::move(*request), client_, Tls::no);
}

asio::awaitable<void> Proxy::Connection::connect_tunnel(ConnectRequest target) {
  if (state_->rules->headers_for(target.host) != nullptr && target.port == 443) {
    co_await intercept(std::move(target));
    co_return;
  }
  auto upstream = co_await reach(target.host, target.port, Tls::no);
  if (!upstream) {
    const bool refused = upstream.error().code() == Code::permission_denied;
    auto answer =
        plain_answer(refused ? 403 : 502, refused ? "Forbidden" : "Bad Gateway", upstream.error().message());
    co_await client_.write(std::move(answer));
    co_return;
  }
  std::string established = "HTTP/1.1 200 Connection Established\r\n\r\n";
  auto sent = co_await client_.write(std::move(established));
  if (sent) co_await tunnel(std::move(*upstream));
}

asio::awaitable<void> Proxy::Connection::tunnel(std::unique_ptr<ByteStream> upstream) {
  if (port_ == 443) {
    auto checked = co_await check_hello();
    if (!checked) {
      report(to_string(host_), port_, false, checked.error().message());
      co_return;
    }
  }
  co_await relay(client_, *upstream);
}

Task<void> Proxy::Connection::check_hello() {
  const auto* name = std::get_if<std::string>(&host_);
  if (name == nullptr) co_return Result<void>();
  for (;;) {
    const auto hello = inspect_client_hello(client_.buffered());
    switch (hello.kind) {
      case ClientHello::Kind::incomplete: {
        auto more = co_await client_.need(client_.buffered().size() + 1);
        if (!more) co_return fail(more.error());
        break;
      }
      case ClientHello::Kind::not_tls:
        co_return fail(Code::permission_denied, "a tunnel to port 443 without TLS");
      case ClientHello::Kind::malformed:
        co_return fail(Code::permission_denied, "a malformed TLS client hello");
      case ClientHello::Kind::hello: {
        const auto named = parse_host(hello.server_name.value_or(""));
        if (!named || *named != host_)
          co_return fail(Code::permission_denied, "TLS names another host than the tunnel");
        co_return Result<void>();
      }
    }
  }
}

// TLS ends here, the header is set, and TLS starts again towards the verified server.
asio::awaitable<void> Proxy::Connection::intercept(ConnectRequest target) {
  const auto name = to_string(target.host);
  auto context = state_->authority == nullptr ? Result<ssl_ctx_st*>(fail(Code::unsupported, "no authority"))
                                              : state_->authority->context_for(name);
  const auto decision = state_->rules->check_host(target.host, target.port);
  if (!context || !decision.allowed) {
    const auto reason = context ? decision.reason : context.error().message();
    report(name, target.port, false, reason);
    auto answer = plain_answer(403, "Forbidden", fmt::format("{} is not allowed: {}", name, reason));
    co_await client_.write(std::move(answer));
    co_return;
  }
  std::string established = "HTTP/1.1 200 Connection Established\r\n\r\n";
  auto sent = co_await client_.write(std::move(established));
  if (!sent) co_return;
  auto raw = std::make_unique<Buffered>(std::move(client_));
  auto tls = co_await accept_tls(std::move(raw), **context);
  if (!tls) co_return;
  Buffered inner(std::move(*tls));
  auto length = co_await inner.need_until("\r\n\r\n", kHeadMax);
  if (!length) co_return;
  auto request = parse_request(inner.take(*length), target);
  if (!request) {
    report(name, target.port, false, request.error().message());
    auto answer = plain_answer(400, "Bad Request", request.error().message());
    co_await inner.write(std::move(answer));
    co_return;
  }
  co_await forward(std::move(*request), inner, Tls::yes);
  co_await inner.close_write();
}

Task<void> Proxy::Connection::send_body(const HttpRequest& request, Buffered& client, ByteStream& upstream) {
  if (request.body == HttpRequest::Body::length) {
    for (auto left = request.length; left > 0;) {
      CO_TRY(auto bytes, co_await client.read());
      if (bytes.empty()) co_return fail(Code::unavailable, "the body ended early");
      if (bytes.size() > left) bytes.resize(left);
      left -= bytes.size();
      CO_CHECK(co_await upstream.write(std::move(bytes)));
    }
  }
  while (request.body == HttpRequest::Body::chunked) {
    CO_TRY(const auto length, co_await client.need_until("\r\n", 1024));
    const auto line = client.take(length);
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (error != std::errc() || (*end != '\r' && *end != ';'))
      co_return fail(Code::invalid_argument, "a bad chunk");
    auto frame = fmt::format("{:x}\r\n", size);
    CO_CHECK(co_await upstream.write(std::move(frame)));
    for (auto left = size; left > 0;) {
      CO_CHECK(co_await client.need(1));
      auto bytes = client.take(std::min<std::uint64_t>(left, client.buffered().size()));
      left -= bytes.size();
      CO_CHECK(co_await upstream.write(std::move(bytes)));
    }
    CO_CHECK(co_await client.need(2));
    // Trailers are not forwarded: after the last chunk only the empty line may come.
    if (client.take(2) != "\r\n") co_return fail(Code::invalid_argument, "a chunk without its end");
    std::string close_frame = "\r\n";
    CO_CHECK(co_await upstream.write(std::move(close_frame)));
    if (size == 0) break;
  }
  co_return Result<void>();
}

asio::awaitable<void> Proxy::Connection::forward(HttpRequest request, Buffered& client, Tls tls) {
  auto upstream = co_await reach(request.host, request.port, tls);
  if (!upstream) {
    const bool refused = upstream.error().code() == Code::permission_denied;
    auto answer =
        plain_answer(refused ? 403 : 502, refused ? "Forbidden" : "Bad Gateway", upstream.error().message());
    co_await client.write(std::move(answer));
    co_return;
  }
  auto head = upstream_head(request, state_->rules->headers_for(request.host), tls == Tls::yes ? 443 : 80);
  auto sent = co_await (*upstream)->write(std::move(head));
  if (!sent) co_return;
  auto body = co_await send_body(request, client, **upstream);
  if (!body) co_return;
  for (;;) {
    auto bytes = co_await (*upstream)->read();
    if (!bytes || bytes->empty()) break;
    auto written = co_await client.write(std::move(*bytes));
    if (!written) co_return;
  }
  co_await client.close_write();
}

asio::awaitable<void> Proxy::Connection::socks() {
  constexpr char ok = 0, not_allowed = 2, unreachable = 4, bad_command = 7, bad_type = 8;
  const auto answer = [](char code) {
    return std::string("\x05", 1) + code + std::string("\x00\x01\0\0\0\0\0\0", 8);
  };
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(client_.buffered()[i]); };
  if (!co_await client_.need(2)) co_return;
  const auto methods = 2U + byte(1);
  if (!co_await client_.need(methods)) co_return;
  client_.take(methods);
  std::string no_authentication("\x05\x00", 2);
  if (!co_await client_.write(std::move(no_authentication))) co_return;
  if (!co_await client_.need(5)) co_return;
  const auto command = byte(1), type = byte(3);
  const auto length = type == 1 ? 4U : type == 4 ? 16U : type == 3 ? 1U + byte(4) : 0U;
  if (byte(0) != 5 || command != 1 || length == 0) {
    auto refusal = answer(command != 1 ? bad_command : bad_type);
    co_await client_.write(std::move(refusal));
    co_return;
  }
  if (!co_await client_.need(4 + length + 2)) co_return;
  const auto request = client_.take(4 + length + 2);
  const auto octet = [&](std::size_t i) { return static_cast<unsigned char>(request[i]); };
  const auto port = static_cast<std::uint16_t>(octet(4 + length) << 8 | octet(5 + length));
  Result<Host> host = std::string();
  if (type == 3) {
    host = parse_host(std::string_view(request).substr(5, length - 1));
  } else if (type == 1) {
    host = Address::v4({octet(4), octet(5), octet(6), octet(7)});
  } else {
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t i = 0; i < 16; ++i) bytes[i] = octet(4 + i);
    host = Address::v6(bytes);
  }
  if (!host || port == 0 || state_->rules->headers_for(*host) != nullptr) {
    // A name with a header rule goes through the HTTP proxy, where the header can be set.
    report(host ? to_string(*host) : "", port, false,
           host ? "header rules need the HTTP proxy" : host.error().message());
    auto refusal = answer(not_allowed);
    co_await client_.write(std::move(refusal));
    co_return;
  }
  auto upstream = co_await reach(*host, port, Tls::no);
  auto reply = answer(upstream                                             ? ok
                      : upstream.error().code() == Code::permission_denied ? not_allowed
                                                                           : unreachable);
  auto sent = co_await client_.write(std::move(reply));
  if (upstream && sent) co_await tunnel(std::move(*upstream));
}

Proxy::Proxy(asio::any_io_executor executor, std::shared_ptr<const Rules> rules, Resolver& resolver,
             Connector& connector, Authority* authority, Observer observer)
    : state_(std::make_shared<State>(State{std::move(executor),
                                           std::move(rules),
                                           &resolver,
                                           &connector,
                                           authority,
                                           std::move(observer),
                                           {}})) {}

Proxy::~Proxy() {
  state_->observer = nullptr;
  for (const auto& connection : std::list(state_->connections)) connection->cut();
}

void Proxy::serve(std::unique_ptr<ByteStream> client) {
  if (state_->connections.size() >= kConnectionsMax)
    return;  // the stream is dropped: the client sees a reset
  auto connection = std::make_shared<Connection>(state_, std::move(client));
  const auto at = state_->connections.insert(state_->connections.end(), connection);
  auto run = [](std::shared_ptr<Connection> self) -> asio::awaitable<void> { co_await self->run(); };
  asio::co_spawn(state_->executor, run(connection),
                 asio::bind_cancellation_slot(connection->slot(),
                                              [state = state_, at](const std::exception_ptr& thrown) {
                                                if (thrown)
                                                  log::debug("egress connection ended by cancellation");
                                                state->connections.erase(at);
                                              }));
}

void Proxy::set_rules(std::shared_ptr<const Rules> rules) {
  state_->rules = std::move(rules);
  for (const auto& connection : std::list(state_->connections)) {
    if (!connection->is_allowed(*state_->rules)) connection->cut();
  }
}

std::size_t Proxy::open_connections() const {
  return state_->connections.size();
}

Task<std::vector<Address>> Proxy::resolve(std::string name) {
  CO_TRY(const auto host, parse_host(name));
  if (const auto* address = std::get_if<Address>(&host)) co_return std::vector{*address};
  const auto canonical = std::get<std::string>(host);
  // The port is not known yet; a name that some rule could allow may be resolved, its addresses are checked
  // again.
  const auto decision = state_->rules->check_host(host, 443);
  const auto plain = state_->rules->check_host(host, 80);
  if (!decision.allowed && !plain.allowed) {
    if (state_->observer) state_->observer({canonical, 53, false, decision.reason});
    co_return fail(Code::permission_denied, fmt::format("{} is not allowed: {}", canonical, decision.reason));
  }
  co_return co_await state_->resolver->resolve(canonical);
}

}  // namespace atl::egress
