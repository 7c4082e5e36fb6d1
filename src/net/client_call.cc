#include "net/client_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace atl::net {
namespace {

namespace http = boost::beast::http;

// The parser takes what it understands at once. What is left is a head, the line before a chunk or what
// follows the last one, and none of these is ever this long. It bounds heads itself, and nothing else.
constexpr std::size_t kLineBytesMax = 320U << 10;
constexpr int kInterimMax = 16;  // answers before the answer

void append_head(std::string& out, const ClientRequest& request, const std::string& host, RequestBody body) {
  out += fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
  if (!request.headers.has("Host")) out += fmt::format("Host: {}\r\n", host);
  for (const auto& [name, value] : request.headers) {
    if (value.find_first_of("\r\n") == std::string::npos) out += fmt::format("{}: {}\r\n", name, value);
  }
  if (body == RequestBody::streamed) {
    out += "Transfer-Encoding: chunked\r\n";
  } else if (body != RequestBody::whole) {
  } else if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
             request.method == "PATCH") {
    out += fmt::format("Content-Length: {}\r\n", request.body.size());
  }
  out += "\r\n";
}

// A line of the request must stay one line, whoever the parts of its target came from.
bool is_one_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

// The connection after a 101, beginning with what was read too far.
class RestStream final : public ByteStream {
 public:
  RestStream(std::unique_ptr<ByteStream> stream, std::string early)
      : stream_(std::move(stream)), early_(std::move(early)) {}
  Task<std::string> read() override {
    if (!early_.empty()) co_return std::exchange(early_, std::string());
    co_return co_await stream_->read();
  }
  Task<void> write(std::string bytes) override { return stream_->write(std::move(bytes)); }
  Task<void> close_write() override { return stream_->close_write(); }
  void abort() override { stream_->abort(); }

 private:
  std::unique_ptr<ByteStream> stream_;
  std::string early_;
};

}  // namespace

HttpCall::HttpCall(boost::asio::any_io_executor executor, std::unique_ptr<ByteStream> stream,
                   const ClientOptions& options)
    : executor_(executor),
      stream_(std::move(stream)),
      options_(options),
      watchdog_(std::move(executor), *stream_),
      parser_(response_) {}

Task<void> HttpCall::send(std::string bytes) {
  watchdog_.arm(options_.stall_time);
  Result<void> sent = co_await stream_->write(std::move(bytes));
  watchdog_.disarm();
  if (watchdog_.fired())
    co_return fail(Code::deadline_exceeded, "the server did not take the request in time");
  co_return sent;
}

Task<void> HttpCall::start(const ClientRequest& request, const std::string& host, RequestBody body) {
  head_request_ = request.method == "HEAD";
  body_ = body;
  if (!is_one_word(request.method) || !is_one_word(request.target))
    co_return fail(Code::invalid_argument, "the address has characters that none can have");
  parser_.skip(head_request_);
  std::string bytes;
  append_head(bytes, request, host, body);
  if (body == RequestBody::whole) bytes += request.body;
  co_return co_await send(std::move(bytes));
}

Task<void> HttpCall::write(std::string bytes) {
  if (bytes.empty()) co_return Result<void>();
  if (body_ == RequestBody::sized) co_return co_await send(std::move(bytes));
  std::string chunk = fmt::format("{:x}\r\n", bytes.size());
  chunk += bytes;
  chunk += "\r\n";
  co_return co_await send(std::move(chunk));
}

Task<void> HttpCall::finish_request() {
  if (body_ != RequestBody::streamed) co_return Result<void>();
  std::string last = "0\r\n\r\n";
  co_return co_await send(std::move(last));
}

Task<void> HttpCall::fill() {
  watchdog_.arm(parser_.is_header_done() ? options_.stall_time : options_.head_time);
  Result<std::string> bytes = co_await stream_->read();
  watchdog_.disarm();
  if (watchdog_.fired()) co_return fail(Code::deadline_exceeded, "the server did not answer in time");
  if (!bytes) co_return fail(std::move(bytes).error());
  if (bytes->empty()) ended_ = true;
  if (!bytes->empty()) heard_ = true;
  buffer_.erase(0, std::exchange(taken_, 0));
  buffer_ += *bytes;
  if (buffer_.size() > kLineBytesMax)
    co_return fail(Code::unavailable, "malformed answer: a line of it has no end");
  co_return Result<void>();
}

// Leaves what was read where it is: an answer of very small chunks would be moved once for each of them.
boost::beast::error_code HttpCall::parse() {
  boost::beast::error_code error;
  taken_ += parser_.put(boost::asio::const_buffer(buffer_.data() + taken_, buffer_.size() - taken_), error);
  return error;
}

Task<ClientResponse> HttpCall::head() {
  while (!parser_.is_header_done()) {
    boost::beast::error_code error = http::error::need_more;
    if (has_bytes()) error = parse();
    if (error == http::error::need_more) {
      if (ended_) co_return fail(Code::unavailable, "the server closed the connection");
      CO_CHECK(co_await fill());
      continue;
    }
    if (error) co_return fail(Code::unavailable, "malformed answer: " + error.message());
    if (response_.status >= 100 && response_.status < 200 && response_.status != 101) {
      if (++interim_ > kInterimMax)
        co_return fail(Code::unavailable, "malformed answer: it is announced and does not come");
      response_ = ClientResponse();
      std::destroy_at(&parser_);
      std::construct_at(&parser_, response_);
      parser_.skip(head_request_);
    }
  }
  co_return response_;
}

Task<std::string> HttpCall::read() {
  CO_CHECK(co_await head());
  // Everything that is there in one piece: an answer may come in chunks of a byte.
  while ((parser_.piece().empty() || has_bytes()) && !parser_.is_done()) {
    boost::beast::error_code error = http::error::need_more;
    if (has_bytes()) {
      error = parse();
    } else if (ended_) {
      error = {};
      parser_.put_eof(error);
      if (error) co_return fail(Code::data_loss, "the connection broke before the answer was complete");
      break;
    }
    if (error == http::error::need_more) {
      if (!parser_.piece().empty()) break;
      if (ended_ && has_bytes())
        co_return fail(Code::data_loss, "the connection broke before the answer was complete");
      CO_CHECK(co_await fill());
      continue;
    }
    if (error) co_return fail(Code::unavailable, "malformed answer: " + error.message());
  }
  co_return std::exchange(parser_.piece(), std::string());
}

Task<bool> HttpCall::step_over(std::size_t bytes_max, std::chrono::milliseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  const auto announced = parser_.content_length_remaining();
  if (!parser_.keep_alive() || (announced && *announced > bytes_max)) co_return false;
  options_.stall_time = std::min(options_.stall_time, time);
  for (std::size_t dropped = 0; !parser_.is_done();) {
    const Result<std::string> piece = co_await read();
    if (!piece) co_return false;
    dropped += piece->size();
    if (dropped > bytes_max || std::chrono::steady_clock::now() > until) co_return false;
  }
  co_return reusable();
}

std::unique_ptr<ByteStream> HttpCall::release() {
  watchdog_.disarm();
  buffer_.erase(0, std::exchange(taken_, 0));
  if (buffer_.empty()) return std::move(stream_);
  return std::make_unique<RestStream>(std::move(stream_), std::move(buffer_));
}

std::unique_ptr<ClientCall> make_call(boost::asio::any_io_executor executor,
                                      std::unique_ptr<ByteStream> stream, const ClientOptions& options) {
  return std::make_unique<HttpCall>(std::move(executor), std::move(stream), options);
}

Task<void> send_head(ClientCall& call, const ClientRequest& request, std::string host, RequestBody body) {
  co_return co_await static_cast<HttpCall&>(call).start(request, host, body);
}

}  // namespace atl::net
