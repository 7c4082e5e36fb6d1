#include "net/connection.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/ids.h"
#include "base/log.h"
#include "net/error_header.h"
#include "net/exchange.h"
#include "net/head_rules.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;
// Most requests fit into the first; idle connections, of which there may be thousands, keep no more.
constexpr std::size_t kFirstBuffer = 8U << 10;
constexpr std::size_t kBuffer = 64U << 10;
// A client that goes on sending what was refused is read for so long, and one that stops for so much less.
constexpr std::chrono::seconds kLingerTime{30}, kLingerStall{5};
constexpr std::string_view kEveryStatusLine = "HTTP/1.1 ";
constexpr int kProbesMax = 8;  // of a status line there are no more bytes that are the same in all
static_assert(kEveryStatusLine.size() >= kProbesMax);

// A client's own id goes into logs and back into a header, so it is taken only if it can do no harm there.
// Two of them may name different traces: W3C wants neither to be believed.
std::string_view traceparent_of(const Headers& headers) {
  std::string_view found;
  for (const auto& [name, value] : headers) {
    if (!equal_ignoring_case(name, "traceparent")) continue;
    if (!found.empty()) return {};
    found = value;
  }
  return found;
}

bool sane_request_id(std::string_view id) {
  if (id.empty() || id.size() > 64) return false;
  return std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
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
    // The router answers HEAD by the route of GET.
    if (method == Method::get) allow += ", HEAD";
  }
  Response response =
      request.method == Method::options
          ? Response::empty(204)
          : router.render_method(fmt::format("{} is not allowed here", request.method_word), request);
  response.headers.set("Allow", allow + ", OPTIONS");
  return response;
}

// The body's share of the budget is held until the handler is done with the body.
Task<void> run_simple(const SimpleHandler& handler, const Guard& access, ConnectionExchange& exchange) {
  Request& request = exchange.request();
  CO_TRY(WholeBody body, co_await exchange.read_whole());
  request.held = std::move(body.share);
  request.body = std::move(body.text);
  Result<Response> response = co_await handler(request);
  if (request.pending) {
    Guard::Answer answer;
    if (response) answer = {response->status, nullptr, response->body};
    if (!response) answer.error = &response.error();
    auto seen = co_await access.answered(request, answer);
    // The act is done, but its record is not kept: the caller must not take it for recorded.
    if (!seen && response) response = fail(std::move(seen).error());
  }
  if (!response) co_return fail(std::move(response).error());
  co_return co_await exchange.send(std::move(*response));
}

Task<void> run_streaming(const StreamHandler& handler, const Guard& access, ConnectionExchange& exchange) {
  Result<void> result = co_await handler(exchange);
  if (exchange.request().pending) {
    Guard::Answer answer{exchange.started() ? exchange.status() : 0, nullptr, {}};
    if (!result) answer.error = &result.error();
    auto seen = co_await access.answered(exchange.request(), answer);
    // What has begun to be sent cannot be taken back.
    if (!seen && result && !exchange.started()) result = fail(std::move(seen).error());
  }
  co_return result;
}

Result<void> decode_params(Request& request, Fields params) {
  for (auto& [name, value] : params) request.params.emplace_back(name, TRY(percent_decode(value)));
  return {};
}

// About what came over the wire: ": " and the line break are the four.
std::size_t head_size(const Request& request) {
  std::size_t size = request.target.size();
  for (const auto& [name, value] : request.headers) size += name.size() + value.size() + 4;
  return size;
}

// As OpenTelemetry names them: what anybody can send, a method of his own or a path without a route, makes no
// new name. `pattern` is empty where there is no route.
void name_span(Request& request, std::string_view pattern) {
  if (!request.span.is_recorded()) return;
  const bool is_known = request.method != Method::other;
  const std::string_view word = is_known ? to_string(request.method) : "HTTP";
  request.span.rename(pattern.empty() ? std::string(word) : fmt::format("{} {}", word, pattern));
  request.span.set("http.request.method", is_known ? word : "_OTHER");
  if (!pattern.empty()) request.span.set("http.route", pattern);
  request.span.set("atoll.request_id", request.id);
}

// Finds the handler and runs it. An Error means that nothing was answered yet, or that the answer broke.
Task<void> dispatch(Router& router, const Cors& cors, ConnectionExchange& exchange) {
  Request& request = exchange.request();
  if (request.method == Method::options && request.headers.has("Access-Control-Request-Method") &&
      !cors.origins.empty()) {
    name_span(request, {});
    co_return co_await exchange.send(preflight(cors, request));
  }
  Router::Match match = router.match(request.method, request.path);
  name_span(request, match.route == nullptr ? std::string_view() : match.route->pattern);
  if (match.route == nullptr) co_return co_await exchange.send(not_routed(router, match, request));
  if (auto decoded = decode_params(request, std::move(match.params)); !decoded)
    co_return fail(decoded.error());
  if (head_size(request) > match.route->options.header_bytes_max) {
    co_return co_await exchange.send(Response::text(431, "request header fields too large\n"));
  }
  // Before the body, so that a caller who is refused costs us no more than its head.
  auto refused = co_await match.route->access->admit(request);
  if (!refused && refused.error().code() == Code::internal) co_return fail(refused.error());
  if (!refused) {
    Response rendered = router.error_renderer()(refused.error(), request);
    name_error(rendered, refused.error().code());
    co_return co_await exchange.send(std::move(rendered));
  }
  if (*refused) co_return co_await exchange.send(std::move(**refused));
  if (request.grant) {
    if (auto room = exchange.note_admitted(); !room) {
      const Guard::Answer answer{0, &room.error(), {}};
      if (request.pending) CO_CHECK(co_await match.route->access->answered(request, answer));
      co_return room;
    }
  }
  exchange.set_body_limit(match.route->options.body_bytes_max);
  if (const auto* simple = std::get_if<SimpleHandler>(&match.route->handler)) {
    co_return co_await run_simple(*simple, *match.route->access, exchange);
  }
  co_return co_await run_streaming(std::get<StreamHandler>(match.route->handler), *match.route->access,
                                   exchange);
}

// Answers that are the client's own fault do not make a span fail: OpenTelemetry's rule for servers.
void end_span(Request& request, int status) {
  request.span.set("http.response.status_code", status);
  if (status == 0) request.span.fail("the answer was given up");
  if (status >= 500) request.span.fail(reason_phrase(status));
  request.span.end();
}

log::Subject subject_of(const Server::Shared& shared, const Request& request) {
  log::Subject about;
  if (shared.subject_of) about = shared.subject_of(request);
  about.trace = request.span.context();
  return about;
}

void log_answer(const log::Subject& about, const Request& request, int status) {
  log::debug(about, "a request was answered",
             {{"request_id", request.id},
              {"method", request.method_word},
              {"path", std::string(request.path)},
              {"status", std::to_string(status)}});
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
  waits_since_ = Steady::now();
  deadline_ = waits_since_ + from_now;
}

void Connection::check_deadline(Steady::time_point now) {
  // Called for all connections by one timer of the server: none of them has timers of its own.
  if (now >= next_probe_) send_probe(now);
  if (now >= deadline_ || now >= write_deadline_) time_out();
}

void Connection::time_out() {
  timed_out = true;
  // In the middle of an answer a 408 would be read as part of that answer.
  const bool writing = write_deadline_ != Steady::time_point::max();
  if (!writing && (phase_ == Phase::head || phase_ == Phase::body)) {
    transport->try_send(fmt::format(
        "HTTP/1.1 408 Request Timeout\r\n{}: {}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        kErrorHeader, error_facts(Code::deadline_exceeded)));
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

void Connection::reset() {
  // The WebSocket has the transport, and its own way to break off.
  if (abort_upgraded) return abort();
  gone = true;
  transport->reset();
}

void Connection::prepare_space() {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ < buffer_.size()) return;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // A head that is still incomplete at 64 KiB goes on growing; the parser refuses it at header_bytes_max.
  buffer_.resize(buffer_.empty() ? kFirstBuffer : std::max(kBuffer, end_ + kFirstBuffer));
}

// An idle connection keeps no more than it began with.
void Connection::shrink() {
  if (begin_ != end_ || reading_ || buffer_.size() <= kFirstBuffer) return;
  begin_ = end_ = 0;
  std::string().swap(buffer_);
}

// The end of the other side's half is no departure: it may wait for its answer.
void Connection::end_input(error_code error) {
  input_ended = true;
  if (error && error != asio::error::eof) gone = true;
}

asio::awaitable<bool> Connection::fill() {
  if (gone || input_ended) co_return false;
  // The handler asks for more of the body: from here on the client is the one that is waited for.
  if (phase_ == Phase::answer) set_deadline(Phase::body, shared->options.body_stall_time);
  const std::uint64_t had = bytes_in;
  if (reading_) {
    // watch() has a read under way into the same buffer: wait for that one, two at once are not allowed. The
    // timer never expires, it is canceled.
    while (reading_ && bytes_in == had) {
      co_await read_done_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  } else {
    prepare_space();
    auto [error, size] =
        co_await transport->read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_));
    if (error || size == 0) end_input(error);
    end_ += size;
    bytes_in += size;
  }
  if (phase_ == Phase::body) phase_ = Phase::answer, deadline_ = Steady::time_point::max();
  co_return bytes_in != had;
}

void Connection::watch() {
  if (input_ended && !gone) watch_departure();
  if (reading_ || gone || input_ended) return;
  prepare_space();
  if (end_ - begin_ >= kBuffer) return;  // a client that sends so far ahead is not waited for
  reading_ = true;
  transport->read_some(asio::buffer(buffer_.data() + end_, buffer_.size() - end_),
                       [self = shared_from_this()](error_code error, std::size_t size) {
                         self->reading_ = false;
                         if (error || size == 0) {
                           self->end_input(error);
                           if (self->gone) self->depart();
                         } else {
                           self->end_ += size;
                           self->bytes_in += size;
                         }
                         // Somebody still wants to know of the departure.
                         if (self->on_gone) self->watch();
                         self->read_done_.cancel();
                       });
}

void Connection::depart() {
  gone = true;
  next_probe_ = Steady::time_point::max();
  if (auto callback = std::exchange(on_gone, nullptr)) callback();
}

// A client that closed and one that only ended its half of the connection look the same until something is
// sent: the system of a client that closed answers with a reset.
void Connection::watch_departure() {
  if (watching_departure_) return;
  watching_departure_ = true;
  transport->on_departure([weak = weak_from_this()] {
    if (auto self = weak.lock(); self && !self->gone) self->depart();
  });
  // Under TLS try_send() sends nothing, and the socket below tells by itself.
  if (!gone && !transport->secure()) send_probe(Steady::now());
}

void Connection::send_probe(Steady::time_point now) {
  next_probe_ = Steady::time_point::max();
  const bool busy = write_deadline_ != Steady::time_point::max();  // then that write will tell
  if (gone || !on_gone || probes_ >= kProbesMax) return;
  if (!busy && probe == Probe::status_line) {
    transport->try_send(kEveryStatusLine.substr(early_bytes_, 1));
    ++early_bytes_;
  } else if (!busy && probe == Probe::chunk_size) {
    transport->try_send("0");
  }
  // After 1, 2, 4 ... seconds: a long wait costs few bytes.
  next_probe_ = now + std::chrono::seconds(1) * (1 << probes_++);
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
      "HTTP/1.1 {} {}\r\nContent-Type: text/plain; charset=utf-8\r\n{}: {}\r\nContent-Length: "
      "{}\r\nConnection: "
      "close\r\n\r\n{}\n",
      status, reason_phrase(status), kErrorHeader, error_facts(code_of_status(status)), message.size() + 1,
      message);
  asio::const_buffer buffer = asio::buffer(answer);
  co_await write(std::span(&buffer, 1));
  co_await linger();
}

// Closing with unread input makes the kernel send a reset, which can destroy our answer on its way: a client
// that writes a large body sees its connection break before it comes to reading why. So: end our half, and
// read on until it has noticed, as long as it sends, but not for ever.
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
      const std::size_t used = parser.put(asio::const_buffer(bytes.data(), bytes.size()), error);
      // Obsolete folding of header lines: proxies read it in different ways, which is how requests are
      // smuggled.
      if (has_folded_line(bytes.substr(0, used))) error = boost::beast::http::error::bad_value;
      consume(used);
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
  if (auto checked = check_head(request, parser.version()); !checked) {
    co_await refuse(400, checked.error().message());
    co_return false;
  }
  std::string_view id = request.headers.get("X-Request-Id");
  request.id = sane_request_id(id) ? std::string(id) : shared->next_request_id();
  request.peer = peer;
  request.secure = transport->secure();
  if (request.secure) request.tls_subject = transport->subject();
  co_return true;
}

asio::awaitable<bool> Connection::serve_one() {
  Request request;
  RequestParser parser(request, shared->options.header_bytes_max);
  if (!co_await read_head(parser, request)) co_return false;
  auto started_at = Steady::now();
  const std::uint64_t out_before = bytes_out;

  request.span = trace::Span::of_request(traceparent_of(request.headers));
  // Empty as yet; a body that is read whole replaces it by its own share.
  request.held = BodyBudget::Share(shared->bodies);
  auto* const site = shared->site_for(request);
  Router& router = site == nullptr ? shared->router : site->router;
  ConnectionExchange exchange(*this, request, parser);
  Result<void> result = co_await guarded_dispatch(router, shared->options.cors, exchange);
  if (!result && result.error().code() == Code::internal) {
    log::error(subject_of(*shared, request), "request failed",
               {{"request_id", request.id},
                {"error", result.error().message()},
                {"detail", result.error().detail()}});
  }
  if (result && !exchange.started()) result = fail(Code::internal, "the handler gave no answer");
  if (!result && !exchange.started() && !gone) {
    // What is left of a body that we refused is not worth reading.
    if (!exchange.body_done() && result.error().code() != Code::not_found) closing = true;
    Response rendered = router.error_renderer()(result.error(), request);
    name_error(rendered, result.error().code());
    const bool later = rendered.status == 429 || rendered.status == 503;
    if (later && !rendered.headers.has("Retry-After")) rendered.headers.set("Retry-After", "1");
    co_await exchange.send(std::move(rendered));
  } else if (!exchange.finished()) {
    exchange.abort();
  }
  // An upgraded connection goes on under the grant that let it in, so that cut_if() still finds it.
  if (!exchange.upgraded()) grant.reset(), share.reset();
  end_span(request, exchange.aborted() ? 0 : exchange.status());
  const log::Subject about = subject_of(*shared, request);
  if (shared->access) {
    auto duration = std::chrono::duration_cast<std::chrono::microseconds>(Steady::now() - started_at);
    // The head and what of the body was taken; what came after that in the same packet is the next one's.
    const std::uint64_t taken = bytes_in - buffered().size();
    shared->access(Access{request.id, request.peer, request.method_word, request.target,
                          exchange.aborted() ? 0 : exchange.status(),
                          taken - std::exchange(counted_in_, taken), bytes_out - out_before, duration,
                          about.trace, about.tenant, about.session_id,
                          site != nullptr && site->answers == Server::Answers::passed_on});
  }
  if (log::is_on(log::Level::debug)) log_answer(about, request, exchange.aborted() ? 0 : exchange.status());
  upgraded = exchange.upgraded();
  if (upgraded || gone) co_return false;
  if (!exchange.body_done()) {
    // The handler left a rest of the body unread: it stands before the next request, so it is read and
    // dropped if it is small.
    exchange.set_body_limit(kBodySteppedOver);
    while (!closing && !exchange.body_done()) {
      auto piece = co_await exchange.read();
      if (!piece) closing = true;
    }
  }
  if (!closing) co_return true;
  // Unread input: closing now would destroy the answer that was just sent.
  if (!exchange.body_done() || !buffered().empty()) co_await linger();
  co_return false;
}

asio::awaitable<void> Connection::run() {
  const auto self = shared_from_this();
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
    if (!again) break;
    shrink();
    set_deadline(Phase::idle, shared->options.idle_time);
  }
  deadline_ = Steady::time_point::max();
  // A read that is still pending ends with it.
  if (!upgraded) transport->close();
}

}  // namespace atl::net
