#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "os/byte_stream.h"
#include "sandbox/link_wire.h"

namespace atl::sandbox {

// Connections that programs inside make to a port of their loopback, handed to the host.
class PortListener {
 public:
  virtual ~PortListener() = default;
  virtual std::uint16_t port() const = 0;
  // The next one. Ends with the wire.
  virtual Task<std::unique_ptr<ByteStream>> accept() = 0;
};

// A connection to a server inside, on either loopback address. Code::unavailable if nobody listens.
Task<std::unique_ptr<ByteStream>> relay_connect(std::shared_ptr<Wire> wire, std::uint16_t port);
// Listens inside on 127.0.0.1; port 0 lets the guest choose. At most 128 connections wait for accept(); more
// are refused.
Task<std::unique_ptr<PortListener>> relay_listen(std::shared_ptr<Wire> wire, std::uint16_t port);
// Ports on which something inside listens, ascending.
Task<std::vector<std::uint16_t>> relay_ports(std::shared_ptr<Wire> wire);

}  // namespace atl::sandbox
