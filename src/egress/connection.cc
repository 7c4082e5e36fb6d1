#include "egress/connection.h"

#include <fmt/format.h>

#include "egress/authority.h"
#include "egress/client_hello.h"
#include "egress/relay.h"
#include "egress/socks.h"
#include "egress/tls_stream.h"

namespace atl::egress {
namespace {

namespace asio = boost::asio;
constexpr std::size_t kAddressesMax = 4;  // of one name that are tried
constexpr std::uint16_t kHttpPort = 80, kHttpsPort = 443;

std::string socks_refusal(const Error& why) {
  if (why.code() == Code::resource_exhausted) return socks_reply(SocksReply::failed);
  return socks_reply(why.code() == Code::permission_denied ? SocksReply::not_allowed
                                                           : SocksReply::unreachable);
}

}  // namespace

void Proxy::Connection::cut() {
  if (reached_) state_->report(to_string(host_), port_, false, "cut: the rules no longer allow it");
  signal_.emit(asio::cancellation_type::terminal);
}

bool Proxy::Connection::is_allowed(const Rules& rules) const {
  if (!reached_) return true;  // it will ask
  // New rules may send everything through another proxy: what went through the old one ends.
  if (rules.proxy() != via_) return false;
  const auto* name = std::get_if<std::string>(&host_);
  return rules.check_host(host_, port_).allowed &&
         rules.check_address(name ? *name : std::string(), *reached_, port_).allowed;
}

Task<std::vector<Address>> Proxy::Connection::choose(const Host& host, std::uint16_t port) {
  auto decision = state_->rules->check_host(host, port);
  const auto denied = [&] {
    state_->report(to_string(host), port, false, decision.reason);
    return fail(Code::permission_denied,
                fmt::format("{}:{} is not allowed: {}", to_string(host), port, decision.reason));
  };
  if (!decision.allowed) co_return denied();
  std::vector<Address> chosen;
  if (const auto* address = std::get_if<Address>(&host)) {
    state_->report(to_string(host), port, true, decision.reason);
    chosen.push_back(*address);
    co_return chosen;
  }
  const auto name = std::get<std::string>(host);
  CO_TRY(const auto addresses, co_await state_->outside.resolver->resolve(name));
  // The rules may have changed while the name was resolved.
  decision = state_->rules->check_host(host, port);
  if (!decision.allowed) co_return denied();
  decision = {false, "the name has no address"};
  for (const auto& address : addresses) {
    // By address, too: a name that is allowed may point into the internal network (DNS rebinding).
    const auto each = state_->rules->check_address(name, address, port);
    if (each.allowed || chosen.empty()) decision = each;
    if (each.allowed && chosen.size() < kAddressesMax) chosen.push_back(address);
  }
  if (chosen.empty()) co_return denied();
  state_->report(name, port, true, decision.reason);
  co_return chosen;
}

Task<std::unique_ptr<ByteStream>> Proxy::Connection::reach(Host host, std::uint16_t port, Tls tls) {
  CO_TRY(const auto addresses, co_await choose(host, port));
  // After the rules: what is not allowed costs the tenant none of its dials.
  if (state_->outside.dials && !ticket_) {
    auto ticket = state_->outside.dials->take();
    if (!ticket) {
      refuse(host, port, ticket.error());
      co_return fail(std::move(ticket).error());
    }
    ticket_ = std::move(*ticket);
  }
  Result<std::unique_ptr<ByteStream>> upstream = fail(Code::unavailable, "nothing was dialled");
  for (const auto& address : addresses) {
    // From here on a change of the rules ends this connection, dialled or not.
    host_ = host;
    port_ = port;
    reached_ = address;
    via_ = state_->rules->proxy();
    if (!is_allowed(*state_->rules)) continue;
    upstream = co_await dial(address, port);
    if (upstream && tls == Tls::yes)
      upstream = co_await state_->outside.connector->secure(std::move(*upstream), to_string(host));
    if (upstream) break;
  }
  // A server whose certificate is not valid was refused, not unreachable, and the owner of the proxy is told
  // why.
  if (!upstream && (tls == Tls::yes || via_)) refuse(host, port, upstream.error());
  co_return upstream;
}

Task<std::unique_ptr<ByteStream>> Proxy::Connection::dial(Address address, std::uint16_t port) {
  if (!via_) co_return co_await state_->outside.connector->connect(address, port);
  co_return co_await via_->connect(state_->outside, address, port);
}

asio::awaitable<void> Proxy::Connection::run() {
  auto first = co_await client_.need(1);
  if (!first) co_return;
  // No HTTP method begins with this byte: one port speaks both.
  if (client_.buffered()[0] == '\x05') {
    co_await socks();
  } else {
    co_await http();
  }
}

asio::awaitable<void> Proxy::Connection::http() {
  auto length = co_await client_.need_until("\r\n\r\n", kHeadBytesMax);
  if (!length) co_return;
  const auto head = client_.take(*length);
  const auto refuse_head = [this](const Error& why) {
    state_->report("", 0, false, why.message());
    return plain_answer(400, "Bad Request", why.message());
  };
  if (is_connect(head)) {
    auto target = parse_connect(head);
    if (target) {
      Manners manners{"HTTP/1.1 200 Connection Established\r\n\r\n", refusal_answer};
      co_await tunnel(std::move(*target), std::move(manners));
    } else {
      auto answer = refuse_head(target.error());
      co_await client_.write(std::move(answer));
    }
    co_return;
  }
  auto request = parse_request(head, std::nullopt);
  if (!request) {
    auto answer = refuse_head(request.error());
    co_await client_.write(std::move(answer));
    co_return;
  }
  co_await forward(std::move(*request), client_, Tls::no);
}

asio::awaitable<void> Proxy::Connection::socks() {
  while (socks_greeting(client_.buffered()) == 0) {
    auto more = co_await client_.need(client_.buffered().size() + 1);
    if (!more) co_return;
  }
  // Only now: the client may have sent its request along with the greeting.
  client_.take(socks_greeting(client_.buffered()));
  std::string welcome(kSocksWelcome);
  auto welcomed = co_await client_.write(std::move(welcome));
  if (!welcomed) co_return;
  auto request = parse_socks(client_.buffered());
  while (request.kind == SocksRequest::Kind::incomplete) {
    auto more = co_await client_.need(client_.buffered().size() + 1);
    if (!more) co_return;
    request = parse_socks(client_.buffered());
  }
  client_.take(request.size);
  if (request.kind == SocksRequest::Kind::refused) {
    state_->report("", request.port, false, request.reason);
    auto refusal = socks_reply(request.refusal);
    co_await client_.write(std::move(refusal));
    co_return;
  }
  ConnectRequest target{request.host, request.port};
  Manners manners{socks_reply(SocksReply::ok), socks_refusal};
  co_await tunnel(std::move(target), std::move(manners));
}

// What the inside of a tunnel will be decides the port: TLS that needs a header set, HTTP, or anything else.
asio::awaitable<void> Proxy::Connection::tunnel(ConnectRequest target, Manners manners) {
  const bool by_name = std::holds_alternative<std::string>(target.host);
  const bool sets_headers = state_->rules->headers_for(target.host) != nullptr;
  // HTTP inside a tunnel is forwarded as requests, so that the host it names is the host that was allowed.
  if (target.port == kHttpsPort ? sets_headers : target.port == kHttpPort && by_name) {
    auto decision = state_->rules->check_host(target.host, target.port);
    if (decision.allowed && target.port == kHttpsPort && state_->outside.authority == nullptr)
      decision = {false, "headers cannot be set here"};
    if (!decision.allowed) {
      const Error why(Code::permission_denied, fmt::format("{}:{} is not allowed: {}", to_string(target.host),
                                                           target.port, decision.reason));
      state_->report(to_string(target.host), target.port, false, decision.reason);
      auto answer = manners.refused(why);
      co_await client_.write(std::move(answer));
      co_return;
    }
    if (target.port == kHttpsPort) {
      co_await intercept(std::move(target), std::move(manners.established));
      co_return;
    }
    auto sent = co_await client_.write(std::move(manners.established));
    if (sent) co_await serve_inside(std::move(target), client_, Tls::no);
    co_return;
  }
  auto upstream = co_await reach(target.host, target.port, Tls::no);
  auto answer = upstream ? std::move(manners.established) : manners.refused(upstream.error());
  auto sent = co_await client_.write(std::move(answer));
  if (upstream && sent) co_await relay_checked(**upstream);
}

asio::awaitable<void> Proxy::Connection::intercept(ConnectRequest target, std::string established) {
  auto context = state_->outside.authority->context_for(to_string(target.host));
  if (!context) {
    refuse(target.host, target.port, context.error());
    co_return;
  }
  auto sent = co_await client_.write(std::move(established));
  if (!sent) co_return;
  // With what was read ahead: the client hello may have come with the CONNECT.
  auto raw = std::make_unique<Buffered>(std::move(client_));
  auto tls = co_await accept_tls(std::move(raw), **context);
  if (!tls) {
    refuse(target.host, target.port, tls.error());
    co_return;
  }
  Buffered inner(std::move(*tls));
  co_await serve_inside(std::move(target), inner, Tls::yes);
  co_await inner.close_write();
}

asio::awaitable<void> Proxy::Connection::serve_inside(ConnectRequest target, Buffered& client, Tls tls) {
  auto length = co_await client.need_until("\r\n\r\n", kHeadBytesMax);
  if (!length) co_return;
  auto request = parse_request(client.take(*length), target);
  if (!request) {
    refuse(target.host, target.port, request.error());
    auto answer = plain_answer(400, "Bad Request", request.error().message());
    co_await client.write(std::move(answer));
    co_return;
  }
  co_await forward(std::move(*request), client, tls);
}

// The server may be the first to speak, so its bytes do not wait for the client's.
asio::awaitable<void> Proxy::Connection::relay_checked(ByteStream& upstream) {
  co_await exchange(pump_checked(upstream), pump(upstream, client_));
}

asio::awaitable<void> Proxy::Connection::pump_checked(ByteStream& upstream) {
  auto first = co_await client_.need(1);
  if (first) {
    auto checked = co_await check_hello();
    if (!checked) {
      refuse(host_, port_, checked.error());
      // Ends both directions: the server must not go on answering a client that was refused.
      throw RelayEnded();
    }
  }
  co_await pump(client_, upstream);
}

Task<void> Proxy::Connection::check_hello() {
  // Allowed as an address: there is no name that a hello could contradict.
  if (std::holds_alternative<Address>(host_)) co_return Result<void>();
  for (;;) {
    const auto hello = inspect_client_hello(client_.buffered());
    switch (hello.kind) {
      case ClientHello::Kind::incomplete:
        CO_CHECK(co_await client_.need(client_.buffered().size() + 1));
        break;
      case ClientHello::Kind::not_tls:
        if (port_ != kHttpsPort) co_return Result<void>();
        co_return fail(Code::permission_denied, "a tunnel to port 443 without TLS");
      case ClientHello::Kind::malformed:
        co_return fail(Code::permission_denied, "a malformed TLS client hello");
      case ClientHello::Kind::hello:
        co_return co_await check_name(hello.server_name.value_or(""), hello.encrypted);
    }
  }
}

Task<void> Proxy::Connection::check_name(const std::string& server_name, bool encrypted) const {
  const auto named = parse_host(server_name);
  if (!named || *named != host_)
    co_return fail(Code::permission_denied, "TLS names another host than the tunnel");
  // An encrypted hello may name another server behind the one that is allowed.
  if (encrypted && state_->rules->check_host(host_, port_).named)
    co_return fail(Code::permission_denied, "an encrypted TLS client hello hides the host");
  co_return Result<void>();
}

}  // namespace atl::egress
