#include "api/e2b/proxy.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdlib>

#include "base/bytes.h"
#include "egress/tls_stream.h"

namespace atl::api::e2b {
namespace {

constexpr std::string_view kPortClosed = "The sandbox is running but port is not open";
constexpr std::chrono::seconds kHandshakeTime{30};
constexpr net::RouteOptions kOptions{.body_bytes_max = 1ULL << 40, .header_bytes_max = 64U << 10};

// A connection into a sandbox as the HTTP client's stream. abort() cancels a read that waits.
class SandboxStream final : public net::ByteStream {
 public:
  SandboxStream(boost::asio::any_io_executor executor, std::unique_ptr<sandbox::ByteStream> stream)
      : executor_(std::move(executor)), state_(std::make_shared<State>()) {
    state_->stream = std::move(stream);
  }
  Task<std::string> read() override {
    auto state = state_;
    if (state->aborted) co_return fail(Code::unavailable, "the connection was cut");
    try {
      co_return co_await boost::asio::co_spawn(
          executor_, read_inner(state),
          boost::asio::bind_cancellation_slot(state->signal.slot(), boost::asio::use_awaitable));
    } catch (const boost::system::system_error&) {
    }
    co_return fail(Code::unavailable, "the connection was cut");
  }
  Task<void> write(std::string bytes) override {
    auto state = state_;
    if (state->aborted) co_return fail(Code::unavailable, "the connection was cut");
    co_return co_await state->stream->write(std::move(bytes));
  }
  Task<void> close_write() override {
    auto state = state_;
    co_return co_await state->stream->close_write();
  }
  void abort() override {
    if (std::exchange(state_->aborted, true)) return;
    boost::asio::post(executor_,
                      [state = state_] { state->signal.emit(boost::asio::cancellation_type::terminal); });
  }

 private:
  struct State {
    std::unique_ptr<sandbox::ByteStream> stream;
    boost::asio::cancellation_signal signal;
    bool aborted = false;
  };
  static Task<std::string> read_inner(std::shared_ptr<State> state) {
    co_return co_await state->stream->read();
  }

  boost::asio::any_io_executor executor_;
  std::shared_ptr<State> state_;  // shared with calls that still wait when the owner is gone
};

bool has_prefix(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && net::equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

bool is_hop_by_hop(std::string_view name) {
  for (std::string_view hop :
       {"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "TE", "Trailer",
        "Transfer-Encoding", "Upgrade", "Content-Length", "E2b-Sandbox-Id", "E2b-Sandbox-Port", "Expect"}) {
    if (net::equal_ignoring_case(name, hop)) return true;
  }
  return false;
}

// Our own credentials are not forwarded to programs in a sandbox.
bool is_ours(std::string_view name, std::string_view value) {
  for (std::string_view ours : {"X-API-Key", "X-Access-Token", "E2b-Traffic-Access-Token"})
    if (net::equal_ignoring_case(name, ours)) return true;
  if (!net::equal_ignoring_case(name, "Authorization")) return false;
  const auto space = value.rfind(' ');
  return auth::is_key(space == std::string_view::npos ? value : value.substr(space + 1));
}

// A Cookie header without those that this service sets, which all begin with "atoll"; empty if none is left.
std::string foreign_cookies(std::string_view header) {
  std::string kept;
  while (!header.empty()) {
    const std::string_view pair = header.substr(0, header.find(';'));
    header.remove_prefix(std::min(header.size(), pair.size() + 1));
    std::string_view name = pair.substr(std::min(pair.size(), pair.find_first_not_of(' ')));
    for (std::string_view prefix : {"__Host-", "__Secure-"})
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    if (name.empty() || has_prefix(name, "atoll")) continue;
    if (!kept.empty()) kept += ';';
    kept += pair;
  }
  return kept.starts_with(' ') ? kept.substr(1) : kept;
}

bool has_body(const net::Request& request) {
  return request.headers.has("Transfer-Encoding") ||
         (request.headers.has("Content-Length") && request.headers.get("Content-Length") != "0");
}

net::ClientRequest onward(const net::Request& request, const Target& target, bool upgrade) {
  net::ClientRequest out{request.method_word, request.target, {}, {}};
  std::string masked = target.attribute(attribute::kMaskHost);
  if (auto at = masked.find("${PORT}"); at != std::string::npos)
    masked.replace(at, 7, std::to_string(target.port));
  for (const auto& [name, value] : request.headers) {
    if (is_hop_by_hop(name) || is_ours(name, value)) continue;
    if (net::equal_ignoring_case(name, "Cookie")) {
      if (std::string cookies = foreign_cookies(value); !cookies.empty())
        out.headers.add(name, std::move(cookies));
      continue;
    }
    if (!masked.empty() && net::equal_ignoring_case(name, "Host")) continue;
    out.headers.add(name, value);
  }
  if (!masked.empty()) out.headers.add("Host", masked);
  out.headers.set("X-Forwarded-For", request.peer.substr(0, request.peer.rfind(':')));
  out.headers.set("X-Forwarded-Proto", request.secure ? "https" : "http");
  if (upgrade) {
    out.headers.add("Connection", "Upgrade");
    out.headers.add("Upgrade", std::string(request.headers.get("Upgrade")));
  } else {
    out.headers.add("Connection", "close");
  }
  if (request.headers.has("Content-Length")) {
    out.headers.add("Content-Length", std::string(request.headers.get("Content-Length")));
  }
  return out;
}

net::Response port_fails(const net::Request& request, const Target& target, std::string_view message) {
  const Object body{{"sandboxId", target.id()}, {"message", message}, {"port", target.port}, {"code", 502}};
  return place_error(request, body);
}

bool speaks_tls(const Target& target) {
  return target.attribute(attribute::kHttpsPorts).find(fmt::format(" {} ", target.port)) != std::string::npos;
}

Task<void> send_body(net::Exchange& exchange, net::ClientCall& call) {
  while (true) {
    CO_TRY(std::string piece, co_await exchange.read());
    if (piece.empty()) break;
    CO_CHECK(co_await call.write(std::move(piece)));
  }
  co_return co_await call.finish_request();
}

Task<void> send_answer(net::Exchange& exchange, net::ClientCall& call) {
  auto head = co_await call.head();
  if (!head) co_return fail(Code::provider_failed, "the server in the sandbox gave no answer");
  net::Headers headers;
  std::optional<std::uint64_t> length;
  for (const auto& [name, value] : head->headers) {
    if (net::equal_ignoring_case(name, "Content-Length")) length = std::strtoull(value.c_str(), nullptr, 10);
    // What we say of ourselves is not for programs in a sandbox to say.
    const bool is_told_by_us = net::equal_ignoring_case(name, "Date") || has_prefix(name, "Atoll-");
    if (!is_hop_by_hop(name) && !is_told_by_us) headers.add(name, value);
  }
  CO_CHECK(co_await exchange.start(head->status, std::move(headers), length));
  while (true) {
    CO_TRY(std::string piece, co_await call.read());
    if (piece.empty()) break;
    CO_CHECK(co_await exchange.write(std::move(piece)));
  }
  co_return co_await exchange.finish();
}

Task<void> pass_upgrade(net::Exchange& exchange, net::ClientCall& call) {
  auto head = co_await call.head();
  if (!head) co_return fail(Code::provider_failed, "the server in the sandbox gave no answer");
  if (head->status != 101) co_return co_await send_answer(exchange, call);
  net::Headers headers;
  for (const auto& [name, value] : head->headers) {
    if (!net::equal_ignoring_case(name, "Date")) headers.add(name, value);
  }
  auto inner = call.release();
  CO_TRY(auto outer, co_await exchange.upgrade(101, std::move(headers)));
  co_await net::relay(*outer, *inner);
  co_return Result<void>();
}

}  // namespace

Proxy::Proxy(Context& context) : context_(context), tls_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {}

void Proxy::mount(net::Router& router) {
  router.set_error_renderer(render_control_error);
  for (net::Method method :
       {net::Method::get, net::Method::head, net::Method::post, net::Method::put, net::Method::patch,
        net::Method::del, net::Method::options, net::Method::other}) {
    router.add_stream(
        method, "/{path...}", context_.admission.rule({Credential::port, Permission::ports}, refuse_in_place),
        [this](net::Exchange& exchange) { return pass(exchange); }, kOptions);
  }
}

Task<void> Proxy::pass(net::Exchange& exchange) {
  net::Request& request = exchange.request();
  const Target target = target_of(request);
  if (context_.gateway && target.port == kGatewayPort && target.session().environment == kGatewayEnvironment)
    co_return co_await context_.gateway(exchange, target.session());
  // A server that is just starting gets a moment.
  Result<std::unique_ptr<sandbox::ByteStream>> stream = fail(Code::unavailable, "");
  for (int i = 0; i < 5 && !stream && stream.error().code() != Code::resource_exhausted; ++i) {
    if (i > 0) {
      boost::asio::steady_timer timer(context_.executor, std::chrono::milliseconds(20 * i));
      co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    stream = co_await context_.service.connect(target.owner, target.id(), target.port);
  }
  if (!stream) {
    net::Response refused = refusal(stream.error(), request, target);
    co_return co_await exchange.send(std::move(refused));
  }
  if (speaks_tls(target)) {
    stream = co_await secure(std::move(*stream));
    if (!stream) {
      net::Response refused =
          port_fails(request, target, "The port is among httpsPorts, but its server does not speak TLS");
      co_return co_await exchange.send(std::move(refused));
    }
  }
  net::ClientOptions options;
  options.head_time = std::chrono::hours(1);
  options.stall_time = std::chrono::hours(24);
  auto call = net::make_call(context_.executor,
                             std::make_unique<SandboxStream>(context_.executor, std::move(*stream)), options);
  co_return co_await forward(exchange, target, *call);
}

// Why there is no way to the port: as many of its owner's sandboxes run as may, the sandbox is not there any
// more, or nobody listens.
net::Response Proxy::refusal(const Error& error, const net::Request& request, const Target& target) const {
  if (error.code() == Code::resource_exhausted) {
    net::Response limited =
        place_error(request, Object{{"sandboxId", target.id()}, {"message", error.message()}, {"code", 429}});
    limited.headers.set("Retry-After", kRetryAfter);
    return limited;
  }
  auto found = look_again(context_, request, target.id());
  if (auto* refused = std::get_if<net::Response>(&found)) return std::move(*refused);
  return port_fails(request, target, kPortClosed);
}

Task<std::unique_ptr<sandbox::ByteStream>> Proxy::secure(std::unique_ptr<sandbox::ByteStream> stream) {
  using namespace boost::asio::experimental::awaitable_operators;
  boost::asio::steady_timer timer(context_.executor, kHandshakeTime);
  auto outcome = co_await (egress::connect_tls_unverified(std::move(stream), *tls_) ||
                           timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable)));
  if (outcome.index() == 1)
    co_return fail(Code::deadline_exceeded, "the server did not finish its TLS handshake");
  co_return std::get<0>(std::move(outcome));
}

Task<void> Proxy::forward(net::Exchange& exchange, const Target& target, net::ClientCall& call) {
  net::Request& request = exchange.request();
  bool upgrade = request.headers.lists("Connection", "upgrade") && request.headers.has("Upgrade");
  net::RequestBody body = !has_body(request)                      ? net::RequestBody::none
                          : request.headers.has("Content-Length") ? net::RequestBody::sized
                                                                  : net::RequestBody::streamed;
  net::ClientRequest out = onward(request, target, upgrade);
  std::string host(request.host());
  CO_CHECK(co_await net::send_head(call, out, host, body));
  if (upgrade) co_return co_await pass_upgrade(exchange, call);
  if (body == net::RequestBody::none) co_return co_await send_answer(exchange, call);
  using namespace boost::asio::experimental::awaitable_operators;
  auto [sent, answered] = co_await (send_body(exchange, call) && send_answer(exchange, call));
  co_return answered;
}

}  // namespace atl::api::e2b
