#pragma once

#include <string>

#include "os/task.h"

namespace atl::net {

// Bytes both ways: a socket, a TLS session, or what a sandbox relays. One read and one write may be under way
// at once. Destroying it closes the connection.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // At most 64 KiB; empty: the other side closed its half.
  virtual Task<std::string> read() = 0;
  // All bytes are accepted, or it fails; waits while the other side does not read.
  virtual Task<void> write(std::string bytes) = 0;
  virtual Task<void> close_write() = 0;
  // Ends both directions at once; pending calls fail with Code::unavailable.
  virtual void abort() = 0;
};

// Moves bytes both ways until both sides have closed their half or one fails. Returns when nothing moves any
// more.
boost::asio::awaitable<void> relay(ByteStream& a, ByteStream& b);

}  // namespace atl::net
