#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "os/byte_stream.h"
#include "sandbox/frame_stream.h"

namespace atl::sandbox {

// Connections that programs inside make to a port of their loopback, handed to the host.
class PortListener {
 public:
  virtual ~PortListener() = default;
  virtual std::uint16_t port() const = 0;
  // The next one. Ends with the stream.
  virtual Task<std::unique_ptr<ByteStream>> accept() = 0;
};

// Datagrams that programs inside send to a port of their loopback, handed to the host.
class DatagramPort {
 public:
  struct Datagram {
    std::uint32_t sender = 0;
    std::string bytes;
  };
  virtual ~DatagramPort() = default;
  // The next one. Ends with the stream.
  virtual Task<Datagram> receive() = 0;
  // To the sender of a datagram, once. A sender that waited too long hears nothing.
  virtual void answer(std::uint32_t sender, std::string_view bytes) = 0;
};

// A connection to a server inside, on either loopback address. Code::unavailable if nobody listens.
Task<std::unique_ptr<ByteStream>> relay_connect(std::shared_ptr<FrameStream> frames, std::uint16_t port);
// Listens inside on 127.0.0.1; port 0 lets the guest choose. At most 128 connections wait for accept(); more
// are refused.
Task<std::unique_ptr<PortListener>> relay_listen(std::shared_ptr<FrameStream> frames, std::uint16_t port);
// On 127.0.0.1. At most as many datagrams wait for receive() as senders can wait for an answer; more are
// dropped.
Task<std::shared_ptr<DatagramPort>> relay_datagrams(std::shared_ptr<FrameStream> frames, std::uint16_t port);
// Ports on which something inside listens, ascending.
Task<std::vector<std::uint16_t>> relay_ports(std::shared_ptr<FrameStream> frames);

}  // namespace atl::sandbox
