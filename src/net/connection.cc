#include "net/connection.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/ids.h"
#include "base/log.h"
#include "net/exchange.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;
constexpr std::size_t kFirstBuffer = 8U << 10;
constexpr std::size_t kBuffer = 64U << 10;
constexpr std::chrono::seconds kLingerTime{30}, kLingerStall{5};

bool sane_request_id(std::string_view id) {
  if (id.empty() || id.size() > 64) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

void split_target(Request& request) {
  // absolute-form, as proxies send it
  std::string_view target = request.target;
  for (std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    auto slash = target.find('/', scheme.size());
    request.target = slash == std::string_view::npos ? "/" : std::string(target.substr(slash));
    target = request.target;
    break;
  }
  auto mark = target.find('?');
  request.path = target.substr(0, mark);
  request.raw_query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

Response preflight(const Cors& cors, const Request& request) {
  Response response = Response::empty(204);
  response.headers.add("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  std::string_view wanted = request.headers.get("Access-Control-Request-Headers");
  if (!wanted.empty()) response.headers.add("Access-Control-Allow-Headers", std::string(wanted));
  response.headers.add("Access-Control-Max-Age", fmt::format("{}", cors.max_age.count()));
  return response;
}

Response not_routed(const Router& router, const Router::Match& match, const Request& request) {
  if (match.allowed.empty()) {
    return router.error_renderer()(Error(Code::not_found, fmt::format("no such path: {}", request.path)),
                                   request);
  }
  std::string allow;
  for (Method method : match.allowed) {
    allow += fmt::format("{}{}", allow.empty() ? "" : ", ", to_string(method));
    if (method == Method::get) allow += ", HEAD";
  }
  Response response =
      request.method == Method::options
          ? Response::empty(204)
          : router.render_method(fmt::format("{} is not allowed here", request.method_word), request);
  response.headers.set("Allow", allow + ", OPTIONS");
  return response;
}

Task<void> run_simple(const Route& route, const SimpleHandler& handler, ConnectionExchange& exchange) {
  Request& request = exchange.request();
  while (!exchange.body_done()) {
    CO_TRY(std::string piece, co_await exchange.read());
    if (request.body.empty()) {
      request.body = std::move(piece);
    } else {
      request.body += piece;
    }
  }
  // What the head's buffer already held of the body.
  CO_TRY(std::string last, co_await exchange.read());
  request.body += last;
  (void)route;
  CO_TRY(Response response, co_await handler(request));
  co_return co_await exchange.send(std::move(response));
}

Result<void> decode_params(Request& request, Fields params) {
  for (auto& [name, value] : params) request.params.emplace_back(name, TRY(percent_decode(value)));
  return {};
}

std::size_t head_size(const Request& request) {
  std::size_t size = request.target.size();
  for (const auto& [name, value] : request.headers) size += name.size() + value.size() + 4;
  return size;
}

// Finds the handler and runs it. An Error means that nothing was answered yet, or that the answer broke.
Task<void> dispatch(Router& router, const Cors& cors, ConnectionExchange& exchange) {
  Request& request = exchange.request();
  if (request.method == Method::options && request.headers.has("Access-Control-Request-Method") &&
      !cors.origins.empty()) {
    co_return co_await exchange.send(preflight(cors, request));
  }
  Router::Match match = router.match(request.method, request.path);
  if (match.route == nullptr) co_return co_await exchange.send(not_routed(router, match, request));
  if (auto decoded = decode_params(request, std::move(match.params)); !decoded)
    co_return fail(decoded.error());
  if (head_size(request) > match.route->options.header_bytes_max) {
    co_return co_await exchange.send(Response::text(431, "request header fields too large\n"));
  }
  exchange.set_body_limit(match.route->options.body_bytes_max);
  if (const auto* simple = std::get_if<SimpleHandler>(&match.route->handler)) {
    co_return co_await run_simple(*match.route, *simple, exchange);
  }
  co_return co_await std::get<StreamHandler>(match.route->handler)(exchange);
}

// The one place where a handler's exception ends.
asio::awaitable<Result<void>> guarded_dispatch(Router& router, const Cors& cors,
                                               ConnectionExchange& exchange) {
  std::string what;
  try {
    co_return co_await dispatch(router, cors, exchange);
  } catch (const std::exception& exception) {
    what = exception.what();
  }
  co_return fail(Error(Code::internal, "internal error").with_detail(what));
}

}  // namespace

Connection::Connection(std::shared_ptr<Server::Shared> shared_, std::unique_ptr<Transport> transport_,
                       std::string peer_)
    : shared(std::move(shared_)),
      transport(std::move(transport_)),
      peer(std::move(peer_)),
      read_done_(shared->executor, Steady::time_point::max()) {
  shared->connections.insert(this);
}

Connection::~Connection() {
  shared->connections.erase(this);
}

void Connection::set_deadline(Phase phase, std::chrono::milliseconds from_now) {
  phase_ = phase;
  deadline_ = Steady::now() + from_now;
}

void Connection::check_deadline(Steady::time_point now) {
  if (now < deadline_ && now < write_deadline_) return;
  timed_out = true;
  if (now >= deadline_ && (phase_ == Phase::head || phase_ == Phase::body)) {
    transport->try_send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  }
  deadline_ = write_deadline_ = Steady::time_point::max();
  abort();
}

void Connection::close_when_done() {
  closing = true;
  if (phase_ == Phase::idle && !abort_upgraded) abort();
}

void Connection::abort() {
  gone = true;
  if (abort_upgraded) {
    abort_upgraded();
  } else {
    transport->close();
  }
}

void Connection::prepare_space() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ < buffer_.size()) return;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  buffer_.resize(buffer_.empty() ? kFirstBuffer : std::max(kBuffer, end_ + kFirstBuffer));
}

asio::awaitable<bool> Connection::fill() {
  if (gone) co_return false;
  if (phase_ == Phase::answer) set_deadline(Phase::body, shared->options.body_stall_time);
  if (reading_) {
    std::size_t had = end_;
    while (reading_ && end_ == had) {
      co_await read_done_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    if (phase_ == Phase::body) phase_ = Phase::answer, deadline_ = Steady::time_point::max();
    co_return !gone;
  }
  prepare_space();
  auto [error, size] =
      co_await transport->read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_));
  if (phase_ == Phase::body) phase_ = Phase::answer, deadline_ = Steady::time_point::max();
  if (error || size == 0) {
    gone = true;
    co_return false;
  }
  end_ += size;
  bytes_in += size;
  co_return true;
}

void Connection::watch() {
  if (reading_ || gone) return;
  prepare_space();
  if (end_ - begin_ >= kBuffer) return;  // a client that sends so far ahead is not waited for
  reading_ = true;
  transport->read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_),
                       [self = shared_from_this()](error_code error, std::size_t size) {
                         self->reading_ = false;
                         if (error || size == 0) {
                           self->gone = true;
                           if (auto callback = std::exchange(self->on_gone, nullptr)) callback();
                         } else {
                           self->end_ += size;
                           self->bytes_in += size;
                           if (self->on_gone) self->watch();
                         }
                         self->read_done_.cancel();
                       });
}

asio::awaitable<error_code> Connection::write(std::span<const asio::const_buffer> buffers) {
  write_deadline_ = Steady::now() + shared->options.write_stall_time;
  error_code error = co_await transport->write(buffers);
  write_deadline_ = Steady::time_point::max();
  if (error) {
    gone = true;
  } else {
    bytes_out += asio::buffer_size(buffers);
  }
  co_return error;
}

asio::awaitable<void> Connection::refuse(int status, std::string_view message) {
  std::string answer = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n{}\n",
      status, reason_phrase(status), message.size() + 1, message);
  asio::const_buffer buffer = asio::buffer(answer);
  co_await write(std::span(&buffer, 1));
  co_await linger();
}

// Closing with unread input makes the kernel send a reset, which can destroy our answer on its way: a client that
// writes a large body sees its connection break before it comes to reading why. So: end our half, and read on until
// it has noticed, as long as it sends, but not for ever.
asio::awaitable<void> Connection::linger() {
  if (gone || transport->secure()) co_return;
  co_await transport->shut_down_write();
  for (const auto until = Steady::now() + kLingerTime; Steady::now() < until;) {
    set_deadline(Phase::idle, kLingerStall);
    begin_ = end_;
    if (!co_await fill()) co_return;
  }
}

asio::awaitable<bool> Connection::read_head(RequestParser& parser, Request& request) {
  bool first = true;
  while (!parser.is_header_done()) {
    std::string_view bytes = buffered();
    boost::beast::error_code error = boost::beast::http::error::need_more;
    if (!bytes.empty()) {
      if (std::exchange(first, false)) set_deadline(Phase::head, shared->options.header_time);
      error = {};
      consume(parser.put(asio::const_buffer(bytes.data(), bytes.size()), error));
    }
    if (error == boost::beast::http::error::need_more) {
      if (!co_await fill()) co_return false;
      continue;
    }
    if (error == boost::beast::http::error::header_limit) {
      co_await refuse(431, "request header fields too large");
      co_return false;
    }
    if (error) {
      co_await refuse(400, "malformed request: " + error.message());
      co_return false;
    }
  }
  phase_ = Phase::answer;
  deadline_ = Steady::time_point::max();
  split_target(request);
  bool ours = request.path.starts_with('/') || request.target == "*";
  if (!ours || (parser.version() >= 11 && !request.headers.has("Host"))) {
    co_await refuse(400, ours ? "missing Host" : "malformed request target");
    co_return false;
  }
  std::string_view id = request.headers.get("X-Request-Id");
  request.id = sane_request_id(id) ? std::string(id) : shared->next_request_id();
  request.peer = peer;
  request.secure = transport->secure();
  co_return true;
}

asio::awaitable<bool> Connection::serve_one() {
  Request request;
  RequestParser parser(request, shared->options.header_bytes_max);
  if (!co_await read_head(parser, request)) co_return false;
  auto started_at = Steady::now();
  std::uint64_t in_before = bytes_in, out_before = bytes_out;

  Router& router = shared->router_for(request);
  ConnectionExchange exchange(*this, request, parser);
  Result<void> result = co_await guarded_dispatch(router, shared->options.cors, exchange);
  if (!result && result.error().code() == Code::internal) {
    log::error("request failed", {{"request_id", request.id},
                                  {"error", result.error().message()},
                                  {"detail", result.error().detail()}});
  }
  if (result && !exchange.started()) result = fail(Code::internal, "the handler gave no answer");
  if (!result && !exchange.started() && !gone) {
    // What is left of a body that we refused is not worth reading.
    if (!exchange.body_done() && result.error().code() != Code::not_found) closing = true;
    Response rendered = router.error_renderer()(result.error(), request);
    co_await exchange.send(std::move(rendered));
  } else if (!exchange.finished()) {
    exchange.abort();
  }
  if (shared->access) {
    auto duration = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - started_at);
    shared->access(Access{request.id, request.peer, request.method_word, request.target,
                          exchange.aborted() ? 0 : exchange.status(), bytes_in - in_before,
                          bytes_out - out_before, duration});
  }
  if (exchange.upgraded() || gone) co_return false;
  if (!exchange.body_done()) {
    exchange.set_body_limit(kBodySteppedOver);
    while (!closing && !exchange.body_done()) {
      auto piece = co_await exchange.read();
      if (!piece) closing = true;
    }
  }
  if (!closing) co_return true;
  if (!exchange.body_done()) co_await linger();
  co_return false;
}

asio::awaitable<void> Connection::run() {
  auto self = shared_from_this();
  set_deadline(Phase::idle, shared->options.header_time);
  if (transport->secure() && co_await transport->handshake()) {
    transport->close();
    co_return;
  }
  // Clients open connections ahead of their requests; the time for a head begins with its first byte.
  set_deadline(Phase::idle, shared->options.idle_time);
  bool again = true;
  while (again) {
    again = co_await serve_one();
    if (again) set_deadline(Phase::idle, shared->options.idle_time);
  }
  deadline_ = Steady::time_point::max();
  if (!abort_upgraded && self.use_count() == 1) transport->close();
}

}  // namespace atl::net
