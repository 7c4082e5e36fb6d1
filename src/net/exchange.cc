#include "net/exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>

#include "net/error_header.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  // A line break in a value would let whoever supplied it write headers of ours.
  for (char c : value) out += c == '\r' || c == '\n' || c == '\0' ? ' ' : c;
  out += "\r\n";
}

Error went_away() {
  return Error(Code::canceled, "the client went away");
}

// The bare connection after an upgrade. Keeps the connection alive and closes it.
class UpgradedStream final : public ByteStream {
 public:
  explicit UpgradedStream(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~UpgradedStream() override { connection_->transport->close(); }

  Task<std::string> read() override {
    if (connection_->buffered().empty() && !co_await connection_->fill()) co_return std::string();
    std::string bytes(connection_->buffered());
    connection_->consume(bytes.size());
    co_return bytes;
  }
  Task<void> write(std::string bytes) override {
    asio::const_buffer buffer(bytes.data(), bytes.size());
    error_code error = co_await connection_->write(std::span(&buffer, 1));
    if (error) co_return fail(Code::unavailable, "the client went away");
    co_return Result<void>();
  }
  Task<void> close_write() override {
    co_await connection_->transport->shut_down_write();
    co_return Result<void>();
  }
  void abort() override { connection_->abort(); }

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace

ConnectionExchange::ConnectionExchange(Connection& connection, Request& request, RequestParser& parser)
    : connection_(connection), request_(request), parser_(parser) {
  // Answered when the handler asks for the body: one that refuses by the head spares the client the upload.
  continue_wanted_ = equal_ignoring_case(request.headers.get("Expect"), "100-continue");
  connection_.probe = Probe::status_line;
}

ConnectionExchange::~ConnectionExchange() {
  connection_.on_gone = nullptr;
  connection_.gathered_bytes = 0;
  connection_.probe = Probe::none;
}

Result<void> ConnectionExchange::note_admitted() {
  Server::Shared& shared = *connection_.shared;
  connection_.admitted = true;
  connection_.grant = request_.grant;
  if (!shared.subject_of) return {};
  const std::string holder(shared.subject_of(request_).tenant);
  if (holder.empty()) return {};
  // Deleting is how a tenant gives connections back, so it is always let in.
  if (request_.method != Method::del && shared.is_crowded_by(holder)) {
    connection_.closing = true;  // it would be one more that waits
    return fail(Code::unavailable,
                "more than half of all connections wait for answers to this tenant: end some of its calls");
  }
  connection_.share = shared.hold(holder);
  return {};
}

Task<std::string> ConnectionExchange::read() {
  if (continue_wanted_ && state_ == State::fresh) {
    continue_wanted_ = false;
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::const_buffer buffer(kContinue.data(), kContinue.size());
    CO_CHECK(co_await write_now(std::span(&buffer, 1)));
  }
  if (parser_.length() && *parser_.length() > body_bytes_max_) {
    co_return fail(Code::too_large, fmt::format("the body is larger than {} bytes", body_bytes_max_));
  }
  while (parser_.piece().empty() && !parser_.is_done()) {
    boost::beast::error_code error = boost::beast::http::error::need_more;
    std::string_view bytes = connection_.buffered();
    if (!bytes.empty()) {
      error = {};
      std::size_t used = parser_.put(asio::const_buffer(bytes.data(), bytes.size()), error);
      connection_.consume(used);
    }
    if (error == boost::beast::http::error::need_more) {
      if (!parser_.piece().empty()) break;
      // What the parser leaves is the line before a chunk, or what follows the last one: it bounds neither.
      if (connection_.buffered().size() > connection_.shared->options.header_bytes_max)
        co_return fail(Code::invalid_argument, "malformed body: a line between its chunks is too long");
      if (co_await connection_.fill()) continue;
      if (connection_.timed_out) co_return fail(Code::deadline_exceeded, "the body came too slowly");
      if (connection_.gone) co_return fail(went_away());
      co_return fail(Code::invalid_argument, "the body ended before it was complete");
    }
    if (error) co_return fail(Code::invalid_argument, "malformed body: " + error.message());
  }
  std::string piece = std::exchange(parser_.piece(), std::string());
  body_bytes_ += piece.size();
  if (body_bytes_ > body_bytes_max_) {
    co_return fail(Code::too_large, fmt::format("the body is larger than {} bytes", body_bytes_max_));
  }
  co_return piece;
}

Task<WholeBody> ConnectionExchange::read_whole() {
  WholeBody body{BodyBudget::Share(connection_.shared->bodies), {}};
  // What can never fit is told before it is sent.
  if (const auto announced = parser_.length();
      announced && *announced > connection_.shared->bodies.limits().connection_bytes)
    co_return fail(connection_.shared->bodies.over_the_connection());
  while (true) {
    CO_TRY(std::string piece, co_await read());
    if (piece.empty()) break;
    // Counted as it arrives and not as announced: an announcement costs the client nothing.
    CO_CHECK(body.share.grow(piece.size()));
    connection_.gathered_bytes = body.share.bytes();
    // The whole body came with its head: no copy.
    if (body.text.empty() && parser_.is_done()) {
      body.text = std::move(piece);
      continue;
    }
    // Pages that were asked for and never written take no memory, copies of what grows do.
    if (body.text.empty() && parser_.length()) body.text.reserve(*parser_.length());
    body.text += piece;
  }
  connection_.gathered_bytes = 0;
  co_return body;
}

bool ConnectionExchange::bodyless(int status) const {
  return status == 204 || status == 304 || status < 200 || request_.method == Method::head;
}

void ConnectionExchange::append_cors(std::string& out) const {
  const Cors& cors = connection_.shared->options.cors;
  std::string_view origin = request_.headers.get("Origin");
  if (cors.origins.empty() || origin.empty()) return;
  bool any = std::find(cors.origins.begin(), cors.origins.end(), "*") != cors.origins.end();
  if (!any && std::find(cors.origins.begin(), cors.origins.end(), origin) == cors.origins.end()) return;
  append_field(out, "Access-Control-Allow-Origin", any ? std::string_view("*") : origin);
  // The answer depends on who asked, and a cache between must know.
  if (!any) append_field(out, "Vary", "Origin");
  if (!cors.exposed_headers.empty()) {
    append_field(out, "Access-Control-Expose-Headers",
                 fmt::format("{}", fmt::join(cors.exposed_headers, ", ")));
  }
}

// A body that was not read to its end cannot be stepped over cheaply if it is large or of unknown size, and a
// client must be told before it sends its next request.
bool ConnectionExchange::can_step_over_body() const {
  if (parser_.is_done() || !parser_.is_header_done()) return true;
  const auto left = parser_.content_length_remaining();
  return left && *left <= kBodySteppedOver;
}

std::string ConnectionExchange::head(int status, const Headers& headers, std::optional<std::uint64_t> length,
                                     bool chunked) {
  status_ = status;
  // A client that has ended its half can send no further request than those it has sent already.
  const bool more_may_come = !connection_.input_ended || !connection_.buffered().empty();
  bool keep = parser_.keep_alive() && !connection_.closing && !connection_.shared->stopping &&
              more_may_come && can_step_over_body();
  if (!keep) connection_.closing = true;
  std::string out;
  out.reserve(512);
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\nDate: {}\r\nX-Request-Id: {}\r\n", status,
                 reason_phrase(status), connection_.shared->date(), request_.id);
  if (const trace::Context& context = request_.span.context(); context.is_valid())
    append_field(out, "traceparent", trace::to_traceparent(context));
  const auto& shared = *connection_.shared;
  // Which parts are away is nothing for callers without a key.
  if (!shared.degraded.empty() && shared.subject_of && !shared.subject_of(request_).tenant.empty())
    append_field(out, "Atoll-Degraded", shared.degraded);
  for (const auto& [name, value] : headers) append_field(out, name, value);
  append_cors(out);
  if (chunked) out += "Transfer-Encoding: chunked\r\n";
  if (length) fmt::format_to(std::back_inserter(out), "Content-Length: {}\r\n", *length);
  if (status >= 200) {
    if (!keep) out += "Connection: close\r\n";
    // HTTP/1.0 closes unless told otherwise.
    if (keep && parser_.version() < 11) out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
  // Probes have sent the beginning of this status line already.
  out.erase(0, connection_.take_early_bytes());
  connection_.probe = chunked && !bodyless(status) ? Probe::chunk_size : Probe::none;
  return out;
}

Task<void> ConnectionExchange::write_now(std::span<const asio::const_buffer> buffers) {
  if (connection_.gone) co_return fail(went_away());
  error_code error = co_await connection_.write(buffers);
  if (error) co_return fail(went_away());
  co_return Result<void>();
}

Task<void> ConnectionExchange::send(Response response) {
  if (state_ != State::fresh) co_return fail(Code::internal, "the answer was already started");
  if (response.status >= 400 && !response.headers.has(kErrorHeader))
    name_error(response, code_of_status(response.status));
  std::optional<std::uint64_t> length = response.body.size();
  if (response.status == 204 || response.status == 304 || response.status < 200) length.reset();
  std::string top = head(response.status, response.headers, length, false);
  state_ = State::finished;
  std::array<asio::const_buffer, 2> buffers{asio::buffer(top), asio::buffer(response.body)};
  std::size_t count = bodyless(response.status) || response.body.empty() ? 1 : 2;
  co_return co_await write_now(std::span<const asio::const_buffer>(buffers.data(), count));
}

Task<void> ConnectionExchange::start(int status, Headers headers, std::optional<std::uint64_t> length) {
  if (state_ != State::fresh) co_return fail(Code::internal, "the answer was already started");
  // HTTP/1.0 knows no chunks: there the end of the connection is the end of the body.
  bool chunked = !length && parser_.version() >= 11 && !(status == 204 || status == 304);
  if (!length && !chunked) connection_.closing = true;
  std::string top = head(status, headers, length, chunked);
  state_ = length ? State::sized : chunked ? State::chunked : State::until_close;
  length_left_ = length.value_or(0);
  asio::const_buffer buffer = asio::buffer(top);
  co_return co_await write_now(std::span(&buffer, 1));
}

Task<void> ConnectionExchange::write(std::string bytes) {
  if (state_ == State::aborted) co_return fail(went_away());
  if (state_ != State::chunked && state_ != State::sized && state_ != State::until_close) {
    co_return fail(Code::internal, "the answer is not being streamed");
  }
  // An empty chunk would be the last one.
  if (bytes.empty() || bodyless(status_)) co_return Result<void>();
  if (state_ == State::sized) {
    if (bytes.size() > length_left_) co_return fail(Code::internal, "more bytes than announced");
    length_left_ -= bytes.size();
  }
  if (state_ != State::chunked) {
    asio::const_buffer buffer = asio::buffer(bytes);
    co_return co_await write_now(std::span(&buffer, 1));
  }
  std::array<char, 20> size;
  auto end = fmt::format_to(size.data(), "{:x}\r\n", bytes.size());
  std::array<asio::const_buffer, 3> buffers{
      asio::buffer(size.data(), static_cast<std::size_t>(end - size.data())), asio::buffer(bytes),
      asio::buffer("\r\n", 2)};
  co_return co_await write_now(buffers);
}

Task<void> ConnectionExchange::finish() {
  if (state_ == State::aborted) co_return fail(went_away());
  if (state_ == State::finished) co_return Result<void>();
  if (state_ == State::sized && length_left_ != 0 && !bodyless(status_)) {
    abort();
    co_return fail(Code::internal, "fewer bytes than announced");
  }
  bool chunked = state_ == State::chunked && !bodyless(status_);
  state_ = State::finished;
  connection_.probe = Probe::none;
  if (!chunked) co_return Result<void>();
  static constexpr std::string_view kLast = "0\r\n\r\n";
  asio::const_buffer buffer(kLast.data(), kLast.size());
  co_return co_await write_now(std::span(&buffer, 1));
}

void ConnectionExchange::abort() {
  if (finished()) return;
  // A reset, so that a cut body is not taken for a whole one.
  state_ = State::aborted;
  connection_.reset();
}

bool ConnectionExchange::disconnected() {
  // Not before the body was read: until then it is read() that takes what comes.
  if (parser_.is_done()) connection_.watch();
  return connection_.gone;
}

void ConnectionExchange::on_disconnect(std::function<void()> callback) {
  connection_.on_gone = std::move(callback);
  if (connection_.on_gone && parser_.is_done()) connection_.watch();
}

Task<std::unique_ptr<ByteStream>> ConnectionExchange::upgrade(int status, Headers headers) {
  if (state_ != State::fresh) co_return fail(Code::internal, "the answer was already started");
  connection_.on_gone = nullptr;
  std::string top = head(status, headers, std::nullopt, false);
  asio::const_buffer buffer = asio::buffer(top);
  CO_CHECK(co_await write_now(std::span(&buffer, 1)));
  state_ = State::upgraded;
  std::unique_ptr<ByteStream> stream = std::make_unique<UpgradedStream>(connection_.shared_from_this());
  co_return stream;
}

Task<std::unique_ptr<WebSocket>> ConnectionExchange::accept_websocket(WebSocketOptions options) {
  if (state_ != State::fresh) co_return fail(Code::internal, "the answer was already started");
  bool asked = request_.method == Method::get && request_.headers.lists("Connection", "upgrade") &&
               request_.headers.lists("Upgrade", "websocket") && request_.headers.has("Sec-WebSocket-Key") &&
               request_.headers.get("Sec-WebSocket-Version") == "13";
  if (!asked) co_return fail(Code::invalid_argument, "expected a WebSocket handshake");
  if (!connection_.buffered().empty())
    co_return fail(Code::invalid_argument, "data before the handshake was answered");
  connection_.on_gone = nullptr;
  state_ = State::upgraded;
  status_ = 101;
  co_return co_await accept_websocket_on(connection_, request_, std::move(options));
}

}  // namespace atl::net
