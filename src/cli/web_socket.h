#pragma once

#include <memory>
#include <string>

#include "cli/connection.h"
#include "net/byte_stream.h"
#include "net/http.h"

namespace atl::cli {

// The client's end of a WebSocket (RFC 6455) at an endpoint. One receive and one send may be under way at
// once.
class ClientWebSocket {
 public:
  // `target` with its query. A refusal of the service is its error; one that cannot be reached
  // Code::unavailable.
  static Task<std::unique_ptr<ClientWebSocket>> connect(boost::asio::any_io_executor executor,
                                                        Endpoint endpoint, std::string target);
  explicit ClientWebSocket(std::unique_ptr<net::ByteStream> stream) : stream_(std::move(stream)) {}

  // A whole message. Pings are answered meanwhile. Code::canceled when the service closed in order,
  // Code::unavailable when the connection was cut.
  Task<net::Message> receive();
  Task<void> send(net::Message message);
  // Ends the connection; a receive that waits fails.
  void abort() { stream_->abort(); }

 private:
  struct Frame {
    bool last = false;
    unsigned opcode = 0;
    std::string bytes;
  };
  Task<Frame> read_frame();
  Task<void> fill(std::size_t bytes);
  Task<void> write_frame(unsigned opcode, std::string bytes);

  std::unique_ptr<net::ByteStream> stream_;
  std::string buffer_;  // read and not yet used
  bool writing_ = false;
  std::string waiting_;  // frames to be written after the one that is
};

}  // namespace atl::cli
