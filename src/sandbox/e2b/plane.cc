#include "sandbox/e2b/plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "base/bytes.h"

namespace atl::sandbox::e2b {
namespace {

// Shares the stream with whoever may cut it.
class SharedStream final : public net::ByteStream {
 public:
  explicit SharedStream(std::shared_ptr<net::ByteStream> stream) : stream_(std::move(stream)) {}
  Task<std::string> read() override { return stream_->read(); }
  Task<void> write(std::string bytes) override { return stream_->write(std::move(bytes)); }
  Task<void> close_write() override { return stream_->close_write(); }
  void abort() override { stream_->abort(); }

 private:
  std::shared_ptr<net::ByteStream> stream_;
};

// Domains whose services reach every agent at one host, by headers.
constexpr std::string_view kSharedHostDomains[] = {"e2b.app", "e2b.dev", "e2b.pro", "e2b-staging.dev"};
// Seconds; longer silence means that the connection is dead.
constexpr const char* kKeepalive = "50";
constexpr std::chrono::milliseconds kStallTime{120'000};
constexpr std::size_t kAnswerMax = 64U << 20;

}  // namespace

Error broken(const boost::asio::cancellation_state& state, std::string message) {
  if (state.cancelled() != boost::asio::cancellation_type::none) return Error(Code::canceled, "canceled");
  return Error(Code::unavailable, std::move(message));
}

void add_user(net::Headers& headers, const std::string& user) {
  if (user.empty() || user == "user") return;
  headers.add("Authorization", "Basic " + to_base64(user + ":"));
}

Task<std::optional<Object>> RpcStream::next() {
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  for (;;) {
    CO_TRY(auto whole, envelopes_.next());
    if (!whole) {
      auto piece = co_await (*call_)->read();
      if (!piece || piece->empty())
        co_return fail(broken(state, "the connection to the remote sandbox broke"));
      envelopes_.add(*piece);
      continue;
    }
    CO_TRY(Object message, parse_answer(whole->text));
    if (!whole->is_last) co_return std::optional<Object>(std::move(message));
    if (const Object* error = object_in(message, "error"))
      co_return fail(rpc_error(text_in(*error, "code"), text_in(*error, "message")));
    co_return std::optional<Object>();
  }
}

Result<void> Plane::check_running() const {
  if (has_ended()) return fail(Code::unavailable, "the sandbox has ended: " + why_ended_);
  if (paused_) return fail(Code::conflict, "the sandbox is paused");
  return {};
}

void Plane::set_paused(bool paused) {
  paused_ = paused;
  changed_.notify();
}

void Plane::set_ended(std::string why) {
  if (has_ended()) return;
  why_ended_ = std::move(why);
  changed_.notify();
}

void Plane::set_access(Access access) {
  if (access.token.empty()) access.token = options_.access.token;
  if (access.traffic_token.empty()) access.traffic_token = options_.access.traffic_token;
  if (access.domain.empty()) access.domain = options_.access.domain;
  access.id = options_.access.id;
  options_.access = std::move(access);
}

Result<net::Url> Plane::url_of(std::uint16_t port) const {
  if (!options_.sandbox_url.empty()) return net::Url::parse(options_.sandbox_url);
  const std::string& domain = options_.access.domain.empty() ? options_.domain : options_.access.domain;
  const bool shared =
      port == kAgentPort && std::ranges::find(kSharedHostDomains, domain) != std::end(kSharedHostDomains);
  if (shared) return net::Url::parse("https://sandbox." + domain);
  return net::Url::parse(fmt::format("https://{}-{}.{}", port, options_.access.id, domain));
}

net::Headers Plane::headers_of(std::uint16_t port) const {
  const Access& access = options_.access;
  net::Headers headers;
  headers.add("E2b-Sandbox-Id", access.id);
  headers.add("E2b-Sandbox-Port", std::to_string(port));
  const bool of_sandbox = port == kAgentPort || port == kInterpreterPort;
  if (of_sandbox && !access.token.empty()) headers.add("X-Access-Token", access.token);
  if (port != kAgentPort && !access.traffic_token.empty())
    headers.add("E2B-Traffic-Access-Token", access.traffic_token);
  return headers;
}

net::ClientOptions Plane::client_options() const {
  net::ClientOptions options;
  options.tries = 1;
  options.stall_time = kStallTime;
  options.body_bytes_max = kAnswerMax;
  return options;
}

void Plane::note_status(int status) {
  if (status == 502 && on_doubt) on_doubt();
}

Task<std::unique_ptr<net::ByteStream>> Plane::dial(std::uint16_t port) {
  CO_TRY(net::Url url, url_of(port));
  net::ClientOptions options = client_options();
  co_return co_await net::connect(executor_, std::move(url), std::move(options));
}

Task<std::shared_ptr<CuttableCall>> Plane::open(std::uint16_t port, net::ClientRequest request,
                                                net::RequestBody body) {
  CO_CHECK(check_running());
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  CO_TRY(const net::Url url, url_of(port));
  for (const auto& [name, value] : headers_of(port)) request.headers.add(name, value);
  request.target = url.base + request.target;
  auto dialled = co_await dial(port);
  if (!dialled)
    co_return fail(broken(state, "the remote sandbox is not reached: " + dialled.error().message()));
  std::shared_ptr<net::ByteStream> stream = std::move(*dialled);
  auto call = net::make_call(executor_, std::make_unique<SharedStream>(stream), client_options());
  auto sent = co_await net::send_head(*call, request, url.authority(), body);
  if (!sent) co_return fail(broken(state, "the remote sandbox: " + sent.error().message()));
  co_return std::make_shared<CuttableCall>(std::move(stream), std::move(call));
}

Task<net::ClientResponse> Plane::send(std::uint16_t port, net::ClientRequest request) {
  CO_TRY(const auto call, co_await open(port, std::move(request), net::RequestBody::whole));
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  auto answer = co_await (*call)->head();
  if (!answer) co_return fail(broken(state, "the remote sandbox: " + answer.error().message()));
  for (;;) {
    auto piece = co_await (*call)->read();
    if (!piece) co_return fail(broken(state, "the remote sandbox: " + piece.error().message()));
    if (piece->empty()) break;
    answer->body += *piece;
    if (answer->body.size() > kAnswerMax)
      co_return fail(Code::too_large, "the remote sandbox's answer is too large");
  }
  note_status(answer->status);
  co_return std::move(*answer);
}

Task<Object> Plane::call(std::string method, Object message, std::string user, Repeat repeat) {
  net::ClientRequest request{.method = "POST", .target = "/" + method};
  request.headers.add("Content-Type", "application/json");
  request.headers.add("Connect-Protocol-Version", "1");
  add_user(request.headers, user);
  request.body = boost::json::serialize(message);
  Result<net::ClientResponse> answer = co_await send(kAgentPort, request);
  if (!answer && answer.error().code() == Code::unavailable && repeat == Repeat::once && check_running())
    answer = co_await send(kAgentPort, std::move(request));
  if (!answer) co_return fail(std::move(answer).error());
  if (answer->status != 200) co_return fail(rpc_error(answer->status, answer->body));
  co_return parse_answer(answer->body);
}

Task<std::unique_ptr<RpcStream>> Plane::open_stream(std::string method, Object message, std::string user) {
  net::ClientRequest request{.method = "POST", .target = "/" + method};
  request.headers.add("Content-Type", "application/connect+json");
  request.headers.add("Connect-Protocol-Version", "1");
  request.headers.add("Keepalive-Ping-Interval", kKeepalive);
  add_user(request.headers, user);
  request.body = envelope(boost::json::serialize(message));
  CO_TRY(auto call, co_await open(kAgentPort, std::move(request), net::RequestBody::whole));
  const auto state = co_await boost::asio::this_coro::cancellation_state;
  auto head = co_await (*call)->head();
  if (!head) co_return fail(broken(state, "the remote sandbox: " + head.error().message()));
  note_status(head->status);
  if (head->status != 200) {
    auto body = co_await (*call)->read();
    co_return fail(rpc_error(head->status, body.value_or("")));
  }
  co_return std::make_unique<RpcStream>(std::move(call));
}

}  // namespace atl::sandbox::e2b
