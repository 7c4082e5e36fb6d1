#include "cli/web_socket.h"

#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "cli/remote.h"
#include "net/client.h"

namespace atl::cli {
namespace {

constexpr unsigned kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10;
constexpr std::size_t kMessageMax = 16U << 20U;

std::string chance(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  random_bytes(bytes);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Task<std::unique_ptr<ClientWebSocket>> ClientWebSocket::connect(boost::asio::any_io_executor executor,
                                                                Endpoint endpoint, std::string target) {
  CO_TRY(const net::Url url, net::Url::parse(endpoint.url));
  net::ClientOptions options;
  options.tries = 1;
  options.stall_time = std::chrono::hours(24 * 365);
  net::Client client(executor, url, options);
  net::ClientRequest request;
  request.target = std::move(target);
  request.headers = {{"Connection", "Upgrade"},
                     {"Upgrade", "websocket"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", to_base64(chance(16))}};
  if (!endpoint.key.empty()) request.headers.add("X-API-Key", endpoint.key);
  auto call = co_await client.open(std::move(request), net::RequestBody::none);
  if (!call) co_return fail(unreachable(endpoint, call.error()));
  CO_TRY(const net::ClientResponse head, co_await (*call)->head());
  if (head.status != 101) {
    std::string body;
    while (true) {
      CO_TRY(const std::string piece, co_await (*call)->read());
      if (piece.empty() || body.size() > kMessageMax) break;
      body += piece;
    }
    co_return fail(refusal_of(head.status, body));
  }
  co_return std::make_unique<ClientWebSocket>((*call)->release());
}

Task<void> ClientWebSocket::fill(std::size_t bytes) {
  while (buffer_.size() < bytes) {
    CO_TRY(const std::string piece, co_await stream_->read());
    if (piece.empty()) co_return fail(Code::unavailable, "the connection was cut");
    buffer_ += piece;
  }
  co_return Result<void>();
}

Task<ClientWebSocket::Frame> ClientWebSocket::read_frame() {
  CO_CHECK(co_await fill(2));
  const auto at = [this](std::size_t index) { return static_cast<unsigned char>(buffer_[index]); };
  Frame frame;
  frame.last = (at(0) & 0x80U) != 0;
  frame.opcode = at(0) & 0x0FU;
  std::uint64_t size = at(1) & 0x7FU;
  const std::size_t extra = size == 126 ? 2 : size == 127 ? 8 : 0;
  if ((at(1) & 0x80U) != 0) co_return fail(Code::unavailable, "the service broke the rules of WebSockets");
  CO_CHECK(co_await fill(2 + extra));
  if (extra > 0) size = 0;
  for (std::size_t index = 0; index < extra; ++index) size = size << 8U | at(2 + index);
  if (size > kMessageMax) co_return fail(Code::too_large, "the service sent too large a message");
  CO_CHECK(co_await fill(2 + extra + size));
  frame.bytes = buffer_.substr(2 + extra, size);
  buffer_.erase(0, 2 + extra + size);
  co_return frame;
}

Task<net::Message> ClientWebSocket::receive() {
  net::Message message;
  while (true) {
    CO_TRY(Frame frame, co_await read_frame());
    if (frame.opcode == kClose) co_return fail(Code::canceled, "the service closed the connection");
    if (frame.opcode == kPing) {
      CO_CHECK(co_await write_frame(kPong, std::move(frame.bytes)));
      continue;
    }
    if (frame.opcode == kPong) continue;
    if (frame.opcode != kContinuation) message = net::Message{frame.opcode == kBinary, {}};
    message.bytes += frame.bytes;
    if (message.bytes.size() > kMessageMax)
      co_return fail(Code::too_large, "the service sent too large a message");
    if (frame.last) co_return message;
  }
}

Task<void> ClientWebSocket::send(net::Message message) {
  co_return co_await write_frame(message.binary ? kBinary : kText, std::move(message.bytes));
}

Task<void> ClientWebSocket::write_frame(unsigned opcode, std::string bytes) {
  std::string frame(1, static_cast<char>(0x80U | opcode));
  const std::uint64_t size = bytes.size();
  if (size < 126) {
    frame += static_cast<char>(0x80U | size);
  } else if (size < 65536) {
    frame += static_cast<char>(0x80U | 126U);
    frame += static_cast<char>(size >> 8U);
    frame += static_cast<char>(size & 0xFFU);
  } else {
    frame += static_cast<char>(0x80U | 127U);
    for (int shift = 56; shift >= 0; shift -= 8) frame += static_cast<char>(size >> shift & 0xFFU);
  }
  const std::string mask = chance(4);
  frame += mask;
  for (std::size_t at = 0; at < bytes.size(); ++at) frame += static_cast<char>(bytes[at] ^ mask[at % 4]);
  // One frame at a time: whoever comes while one is written leaves his to the one who writes.
  waiting_ += frame;
  if (writing_) co_return Result<void>();
  writing_ = true;
  while (!waiting_.empty()) {
    auto written = co_await stream_->write(std::exchange(waiting_, {}));
    if (!written) {
      writing_ = false;
      co_return fail(std::move(written).error());
    }
  }
  writing_ = false;
  co_return Result<void>();
}

}  // namespace atl::cli
