// One HTTP request to its server and the answer back.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "egress/connection.h"
#include "egress/relay.h"

namespace atl::egress {
namespace {

namespace asio = boost::asio;

void check(const Result<void>& done) {
  if (!done) throw RelayEnded();
}

asio::awaitable<void> send_exactly(Buffered& from, ByteStream& to, std::uint64_t left) {
  while (left > 0) {
    check(co_await from.need(1));
    auto bytes = from.take(std::min<std::uint64_t>(left, from.buffered().size()));
    left -= bytes.size();
    check(co_await to.write(std::move(bytes)));
  }
}

// Chunk by chunk, each framed anew. Trailers are not forwarded: after the last chunk only the empty line may
// come.
asio::awaitable<void> send_chunks(Buffered& from, ByteStream& to) {
  for (;;) {
    const auto length = co_await from.need_until("\r\n", 1024);
    if (!length) throw RelayEnded();
    const auto line = from.take(*length);
    std::uint64_t size = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
    if (error != std::errc() || (*end != '\r' && *end != ';')) throw RelayEnded();
    auto frame = fmt::format("{:x}\r\n", size);
    check(co_await to.write(std::move(frame)));
    co_await send_exactly(from, to, size);
    check(co_await from.need(2));
    if (from.take(2) != "\r\n") throw RelayEnded();
    std::string close_frame = "\r\n";
    check(co_await to.write(std::move(close_frame)));
    if (size == 0) co_return;
  }
}

asio::awaitable<void> send_body(const HttpRequest& request, Buffered& client, ByteStream& upstream) {
  if (request.body == HttpRequest::Body::length) co_await send_exactly(client, upstream, request.length);
  if (request.body == HttpRequest::Body::chunked) co_await send_chunks(client, upstream);
}

// The end of the answer is the end of the exchange, whatever the client still wants to send.
asio::awaitable<void> send_answer(ByteStream& upstream, ByteStream& client, Redactor& redactor) {
  for (;;) {
    auto bytes = co_await upstream.read();
    if (!bytes) throw RelayEnded();
    const bool last = bytes->empty();
    auto piece = last ? redactor.finish() : redactor.pass(std::move(*bytes));
    if (!piece.empty()) check(co_await client.write(std::move(piece)));
    if (last) break;
  }
  check(co_await client.close_write());
  throw RelayEnded();
}

// What a server says after it switched, without the secrets that it was sent.
asio::awaitable<void> pump_redacted(ByteStream& from, ByteStream& to, Redactor& redactor) {
  if (redactor.empty()) {
    co_await pump(from, to);
    co_return;
  }
  co_await send_answer(from, to, redactor);
}

// Only a server that agrees to switch gets more than the one request.
asio::awaitable<void> serve_websocket(Buffered& client, Buffered& upstream, Redactor& redactor) {
  auto length = co_await upstream.need_until("\r\n\r\n", kHeadBytesMax);
  if (!length) co_return;
  const bool switched = upstream.buffered().starts_with("HTTP/1.1 101 ");
  if (switched) {
    co_await exchange(pump(client, upstream), pump_redacted(upstream, client, redactor));
  } else {
    co_await exchange(send_answer(upstream, client, redactor), send_exactly(client, upstream, 0));
  }
}

}  // namespace

std::string plain_answer(int status, std::string_view reason, std::string_view text) {
  return fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}\n",
      status, reason, text.size() + 1, text);
}

std::string refusal_answer(const Error& why) {
  if (why.code() == Code::resource_exhausted) return plain_answer(503, "Service Unavailable", why.message());
  const bool refused = why.code() == Code::permission_denied;
  return plain_answer(refused ? 403 : 502, refused ? "Forbidden" : "Bad Gateway", why.message());
}

// A secret travels over TLS only, or to an address inside the house that a rule names; what goes through a
// proxy leaves the house.
Task<SetHeaders> Proxy::Connection::headers_to_set(const Host& host, Tls tls, Redactor& redactor) const {
  SetHeaders set;
  const auto rules = state_->rules;
  const Headers* headers = rules->headers_for(host);
  if (headers == nullptr) co_return set;
  for (const auto& [name, value] : *headers) {
    if (value.has_secret() && tls == Tls::no && (via_ || !reached_->is_special()))
      co_return fail(Code::permission_denied, fmt::format("{} holds a secret: use https", name));
    std::vector<std::string> revealed;
    CO_TRY(auto filled, co_await value.fill(state_->outside.secrets.get(), revealed));
    for (auto& secret : revealed) redactor.keep_out(std::move(secret));
    set.emplace(name, std::move(filled));
  }
  // A compressed answer could carry a secret past the redactor.
  if (!redactor.empty()) set.emplace("Accept-Encoding", "identity");
  co_return set;
}

Task<std::unique_ptr<ByteStream>> Proxy::Connection::reach_and_send(const HttpRequest& request, Tls tls,
                                                                    Redactor& redactor) {
  CO_TRY(auto upstream, co_await reach(request.host, request.port, tls));
  auto set = co_await headers_to_set(request.host, tls, redactor);
  if (!set) {
    refuse(request.host, request.port, set.error());
    co_return fail(std::move(set).error());
  }
  auto head = upstream_head(request, *set, tls == Tls::yes ? 443 : 80);
  CO_CHECK(co_await upstream->write(std::move(head)));
  co_return std::move(upstream);
}

asio::awaitable<void> Proxy::Connection::forward(HttpRequest request, Buffered& client, Tls tls) {
  Redactor redactor;
  auto reached = co_await reach_and_send(request, tls, redactor);
  if (!reached) {
    auto answer = refusal_answer(reached.error());
    co_await client.write(std::move(answer));
    co_return;
  }
  Buffered upstream(std::move(*reached));
  if (request.websocket) {
    co_await serve_websocket(client, upstream, redactor);
  } else {
    co_await exchange(send_body(request, client, upstream), send_answer(upstream, client, redactor));
  }
}

}  // namespace atl::egress
