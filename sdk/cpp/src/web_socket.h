#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

// WebSocket frames of a client (RFC 6455), without any input or output.
namespace atl::client::detail {

enum class Opcode : std::uint8_t { more = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

struct Frame {
  Opcode opcode = Opcode::text;
  std::string payload;
};

std::string web_socket_key();
// What the service must answer to that key.
std::string web_socket_accept(const std::string& key);
// A whole frame as a client must send it, masked.
std::string masked_frame(Opcode opcode, std::string_view payload);

// Bytes in, whole messages out: fragments are joined; control frames come as they are. ProtocolError for a
// frame that no service may send.
class FrameReader {
 public:
  void feed(std::string_view bytes);
  std::optional<Frame> next();

 private:
  bool take();

  std::string left_;
  std::size_t taken_ = 0;  // of left_
  Frame message_;
  std::deque<Frame> ready_;
};

}  // namespace atl::client::detail
