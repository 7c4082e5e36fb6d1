#include "net/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "base/ids.h"
#include "net/await.h"
#include "net/client_call.h"
#include "net/transport.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// What is left of an answer that nobody needs is read only to keep its connection.
constexpr std::size_t kSteppedOver = 64U << 10;
constexpr std::chrono::milliseconds kStepTime{1000};

class SocketStream final : public ByteStream {
 public:
  SocketStream(std::unique_ptr<Transport> transport, std::shared_ptr<asio::ssl::context> context)
      : context_(std::move(context)), transport_(std::move(transport)) {}
  ~SocketStream() override { transport_->close(); }

  Task<std::string> read() override {
    std::string bytes(65536, '\0');
    auto [error, size] = co_await transport_->read_some(asio::buffer(bytes));
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) co_return std::string();
    if (error) co_return fail(Error(Code::unavailable, "the connection broke: " + error.message()));
    bytes.resize(size);
    co_return bytes;
  }
  Task<void> write(std::string bytes) override {
    asio::const_buffer buffer = asio::buffer(bytes);
    error_code error = co_await transport_->write(std::span(&buffer, 1));
    if (error) co_return fail(Error(Code::unavailable, "the connection broke: " + error.message()));
    co_return Result<void>();
  }
  Task<void> close_write() override {
    co_await transport_->shut_down_write();
    co_return Result<void>();
  }
  void abort() override { transport_->close(); }

 private:
  std::shared_ptr<asio::ssl::context> context_;  // must outlive the transport
  std::unique_ptr<Transport> transport_;
};

Result<std::shared_ptr<asio::ssl::context>> client_context(const ClientOptions& options) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  error_code error;
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  context->set_verify_mode(asio::ssl::verify_peer, error);
  if (options.ca_file.empty()) {
    context->set_default_verify_paths(error);
  } else {
    context->load_verify_file(options.ca_file, error);
  }
  if (error) return fail(Code::invalid_argument, "TLS: the authorities are not readable: " + error.message());
  if (options.certificate_file.empty()) return context;
  context->use_certificate_chain_file(options.certificate_file, error);
  if (error) return fail(Code::invalid_argument, "TLS: our certificate is not readable: " + error.message());
  context->use_private_key_file(options.key_file, asio::ssl::context::pem, error);
  if (error)
    return fail(Code::invalid_argument, "TLS: the key of our certificate does not do: " + error.message());
  return context;
}

asio::awaitable<std::pair<error_code, Socket>> dial(asio::any_io_executor executor, Url url) {
  if (url.scheme == Scheme::unix_socket) {
    asio::local::stream_protocol::socket socket(executor);
    auto [error] = co_await socket.async_connect(asio::local::stream_protocol::endpoint(url.host), kAwait);
    co_return std::pair(error, Socket(std::move(socket)));
  }
  tcp::resolver resolver(executor);
  tcp::socket socket(executor);
  auto [error, found] = co_await resolver.async_resolve(url.host, std::to_string(url.port), kAwait);
  error_code last = error;
  for (const auto& entry : found) {
    socket = tcp::socket(executor);
    auto [refused] = co_await socket.async_connect(entry.endpoint(), kAwait);
    last = refused;
    if (!refused) break;
  }
  co_return std::pair(last, Socket(std::move(socket)));
}

bool is_idempotent(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "PUT" || method == "DELETE" || method == "OPTIONS";
}

bool is_passing(int status) {
  return status == 502 || status == 503 || status == 504;
}

std::chrono::milliseconds wait_before(int attempt, const ClientOptions& options,
                                      std::string_view retry_after) {
  int seconds = -1;
  std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), seconds);
  if (seconds >= 0) return std::chrono::seconds(std::min(seconds, 10));
  std::array<std::uint8_t, 1> dice;
  random_bytes(dice);
  auto base = options.back_off * (1 << std::min(attempt, 10));
  return base / 2 + base * dice[0] / 512;
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  Url url;
  if (text.starts_with("unix:")) {
    url.scheme = Scheme::unix_socket;
    url.host = text.substr(5);
    if (url.host.empty()) return fail(Code::invalid_argument, "a unix: address needs a path");
    return url;
  }
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.scheme = Scheme::https, url.port = 443;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return fail(Code::invalid_argument, fmt::format("expected http://, https:// or unix:, got '{}'", text));
  }
  std::string_view authority = rest.substr(0, rest.find('/'));
  url.base = rest.substr(authority.size());
  while (url.base.ends_with('/')) url.base.pop_back();
  auto colon = authority.rfind(':');
  if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
    std::string_view digits = authority.substr(colon + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return fail(Code::invalid_argument, fmt::format("no port number in '{}'", text));
    }
    authority = authority.substr(0, colon);
  }
  if (authority.starts_with('[') && authority.ends_with(']'))
    authority = authority.substr(1, authority.size() - 2);
  url.host = authority;
  if (url.host.empty()) return fail(Code::invalid_argument, fmt::format("no host in '{}'", text));
  return url;
}

std::string Url::authority() const {
  if (scheme == Scheme::unix_socket) return "localhost";
  std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  bool usual = (scheme == Scheme::http && port == 80) || (scheme == Scheme::https && port == 443);
  return usual ? name : fmt::format("{}:{}", name, port);
}

Task<std::unique_ptr<ByteStream>> connect(asio::any_io_executor executor, Url url, ClientOptions options) {
  // The attempt runs by itself; it or the timer decides, whichever is first.
  struct Attempt {
    explicit Attempt(const asio::any_io_executor& on) : timer(on) {}
    asio::steady_timer timer;
    std::optional<Result<std::unique_ptr<ByteStream>>> result;
    bool over = false;
  };
  auto attempt = std::make_shared<Attempt>(executor);
  attempt->timer.expires_after(options.connect_time);
  auto run = [](asio::any_io_executor on, Url to, ClientOptions how) -> Task<std::unique_ptr<ByteStream>> {
    auto [error, socket] = co_await dial(on, to);
    if (error) {
      co_return fail(
          Error(Code::unavailable, fmt::format("cannot connect to {}: {}", to.authority(), error.message())));
    }
    set_no_delay(socket);
    std::unique_ptr<ByteStream> stream;
    if (to.scheme != Scheme::https) {
      stream = std::make_unique<SocketStream>(make_transport(std::move(socket)), nullptr);
      co_return stream;
    }
    CO_TRY(auto context, client_context(how));
    auto transport = make_tls_transport(std::move(socket), *context, to.host);
    error_code refused = co_await transport->handshake();
    if (refused) {
      co_return fail(
          Error(Code::unavailable, fmt::format("TLS with {} failed: {}", to.authority(), refused.message())));
    }
    stream = std::make_unique<SocketStream>(std::move(transport), std::move(context));
    co_return stream;
  };
  asio::co_spawn(executor, run(executor, url, options),
                 [attempt](std::exception_ptr, Result<std::unique_ptr<ByteStream>> result) {
                   if (!attempt->over) attempt->result = std::move(result);
                   attempt->timer.cancel();
                 });
  co_await attempt->timer.async_wait(kAwait);
  attempt->over = true;
  if (!attempt->result)
    co_return fail(Code::deadline_exceeded, fmt::format("cannot connect to {} in time", url.authority()));
  co_return std::move(*attempt->result);
}

struct Client::State {
  asio::any_io_executor executor;
  Url url;
  ClientOptions options;
  std::vector<std::unique_ptr<ByteStream>> idle;
  bool keeps_none = false;  // a connection was lost between two calls, or an answer had too much of a rest

  // One that was kept, or null.
  std::unique_ptr<ByteStream> take_idle() {
    if (idle.empty()) return nullptr;
    std::unique_ptr<ByteStream> stream = std::move(idle.back());
    idle.pop_back();
    return stream;
  }

  Task<ClientResponse> head_once(const ClientRequest& request, bool& stale) {
    std::unique_ptr<ByteStream> stream = keeps_none ? nullptr : take_idle();
    const bool reused = stream != nullptr;
    if (!reused) {
      CO_TRY(stream, co_await connect(executor, url, options));
    }
    HttpCall call(executor, std::move(stream), options);
    Result<ClientResponse> answer = co_await head_of(call, request);
    stale = !answer && reused && call.silent() && answer.error().code() == Code::unavailable;
    if (stale) keeps_none = true;
    if (!answer || keeps_none || idle.size() >= options.idle_connections_max) co_return answer;
    const auto is_over = co_await call.step_over(kSteppedOver, kStepTime);
    keeps_none = !is_over || !*is_over;
    if (!keeps_none) idle.push_back(call.release());
    co_return answer;
  }

  Task<ClientResponse> head_of(HttpCall& call, const ClientRequest& request) {
    CO_CHECK(co_await call.start(request, url.authority(), RequestBody::whole));
    co_return co_await call.head();
  }

  Task<ClientResponse> send_once(const ClientRequest& request, bool fresh, bool& stale) {
    std::unique_ptr<ByteStream> stream = fresh ? nullptr : take_idle();
    const bool reused = stream != nullptr;
    if (!reused) {
      CO_TRY(stream, co_await connect(executor, url, options));
    }
    HttpCall call(executor, std::move(stream), options);
    Result<ClientResponse> answer = co_await collect(call, request);
    stale = !answer && reused && call.silent();
    if (answer && call.reusable() && idle.size() < options.idle_connections_max)
      idle.push_back(call.release());
    co_return answer;
  }

  Task<ClientResponse> collect(HttpCall& call, const ClientRequest& request) {
    CO_CHECK(co_await call.start(request, url.authority(), RequestBody::whole));
    CO_TRY(ClientResponse response, co_await call.head());
    while (true) {
      CO_TRY(std::string piece, co_await call.read());
      if (piece.empty()) break;
      response.body += piece;
      if (response.body.size() > options.body_bytes_max) {
        co_return fail(Code::too_large,
                       fmt::format("the answer is larger than {} bytes", options.body_bytes_max));
      }
    }
    co_return response;
  }
};

Client::Client(asio::any_io_executor executor, Url url, ClientOptions options)
    : state_(std::make_shared<State>(State{std::move(executor), std::move(url), std::move(options), {}})) {}

Client::~Client() = default;

// A URL without a path and a request without one of its own ask for the root.
static std::string whole_target(const Url& url, const std::string& target) {
  std::string whole = url.base + target;
  return whole.empty() ? "/" : whole;
}

Task<ClientResponse> Client::send(ClientRequest request) {
  auto state = state_;
  request.target = whole_target(state->url, request.target);
  bool again = is_idempotent(request.method);
  for (int attempt = 0;; ++attempt) {
    bool stale = false;
    Result<ClientResponse> answer = co_await state->send_once(request, attempt > 0, stale);
    bool passing = answer ? is_passing(answer->status) : row(answer.error().code()).retryable;
    bool last = attempt + 1 >= state->options.tries;
    if (!passing || !again || (last && !stale)) co_return answer;
    if (stale) continue;
    std::string retry_after(answer ? answer->headers.get("Retry-After") : "");
    asio::steady_timer timer(state->executor, wait_before(attempt, state->options, retry_after));
    co_await timer.async_wait(kAwait);
  }
}

Task<ClientResponse> Client::send_for_head(ClientRequest request) {
  auto state = state_;
  request.target = whole_target(state->url, request.target);
  while (true) {
    bool stale = false;
    Result<ClientResponse> answer = co_await state->head_once(request, stale);
    if (!stale) co_return answer;
  }
}

Task<std::unique_ptr<ClientCall>> Client::open(ClientRequest request, RequestBody body) {
  auto state = state_;
  request.target = whole_target(state->url, request.target);
  CO_TRY(auto stream, co_await connect(state->executor, state->url, state->options));
  auto call = std::make_unique<HttpCall>(state->executor, std::move(stream), state->options);
  CO_CHECK(co_await call->start(request, state->url.authority(), body));
  std::unique_ptr<ClientCall> made = std::move(call);
  co_return made;
}

}  // namespace atl::net
