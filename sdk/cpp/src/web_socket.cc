#include "web_socket.h"

#include <openssl/sha.h>

#include <array>

#include "atoll/errors.h"
#include "base/bytes.h"
#include "base/ids.h"

namespace atl::client::detail {
namespace {

constexpr std::uint64_t kFrameBytesMax = 64U << 20, kControlBytesMax = 125;

void append_big_endian(std::string& out, std::uint64_t number, int bytes) {
  for (int at = bytes - 1; at >= 0; --at) out += static_cast<char>(number >> (8 * at) & 0xFF);
}

}  // namespace

std::string web_socket_key() {
  std::array<std::uint8_t, 16> bytes;
  random_bytes(bytes);
  return to_base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string web_socket_accept(const std::string& key) {
  std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  std::array<std::uint8_t, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::string masked_frame(Opcode opcode, std::string_view payload) {
  std::string frame;
  frame += static_cast<char>(0x80 | static_cast<int>(opcode));
  if (payload.size() < 126) {
    frame += static_cast<char>(0x80 | payload.size());
  } else if (payload.size() < 65536) {
    frame += static_cast<char>(0x80 | 126);
    append_big_endian(frame, payload.size(), 2);
  } else {
    frame += static_cast<char>(0x80 | 127);
    append_big_endian(frame, payload.size(), 8);
  }
  std::array<std::uint8_t, 4> mask;
  random_bytes(mask);
  for (std::uint8_t byte : mask) frame += static_cast<char>(byte);
  for (std::size_t at = 0; at < payload.size(); ++at) frame += static_cast<char>(payload[at] ^ mask[at % 4]);
  return frame;
}

void FrameReader::feed(std::string_view bytes) {
  left_ += bytes;
  while (take()) {
  }
  // Once for all of them: a server may send thousands of empty frames in one piece.
  left_.erase(0, std::exchange(taken_, 0));
}

bool FrameReader::take() {
  const std::string_view left = std::string_view(left_).substr(taken_);
  auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(left[at]); };
  if (left.size() < 2) return false;
  auto opcode = static_cast<Opcode>(byte(0) & 0x0F);
  std::uint64_t size = byte(1) & 0x7F;
  if ((byte(1) & 0x80) != 0 || (byte(0) & 0x70) != 0 || (opcode >= Opcode::close && size > kControlBytesMax))
    throw ProtocolError("a WebSocket frame that no server may send");
  std::size_t head = 2;
  if (size >= 126) {
    std::size_t width = size == 126 ? 2 : 8;
    if (left.size() < head + width) return false;
    size = 0;
    for (std::size_t at = 0; at < width; ++at) size = size << 8 | byte(head + at);
    head += width;
  }
  if (size > kFrameBytesMax || message_.payload.size() + size > kFrameBytesMax)
    throw ProtocolError("a WebSocket message is longer than any that the service sends");
  if (left.size() < head + size) return false;
  bool final = (byte(0) & 0x80) != 0;
  std::string payload(left.substr(head, size));
  taken_ += head + size;
  if (opcode >= Opcode::close) {
    ready_.push_back({opcode, std::move(payload)});
    return true;
  }
  if (opcode != Opcode::more) message_ = {opcode, {}};
  message_.payload += payload;
  if (final) ready_.push_back(std::exchange(message_, {}));
  return true;
}

std::optional<Frame> FrameReader::next() {
  if (ready_.empty()) return std::nullopt;
  Frame frame = std::move(ready_.front());
  ready_.pop_front();
  return frame;
}

}  // namespace atl::client::detail
