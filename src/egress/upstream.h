#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "egress/address.h"
#include "os/byte_stream.h"

namespace atl::egress {

struct Outside;

// A SOCKS5 proxy of the owner's that connections are handed to, as it is written down.
struct UpstreamText {
  std::string address;          // "host:port", "[v6]:port"
  std::string username;         // empty: the proxy asks for none
  std::string sealed_password;  // only Secrets::unseal() opens it

  bool operator==(const UpstreamText&) const = default;
};

// The same, read. The rules have had their say before it is asked for anything, and it is asked for the very
// address they allowed, never for a name that it could resolve otherwise.
class Upstream {
 public:
  // Code::invalid_argument if the address is no host and port, or a name or password is over 255 bytes.
  static Result<Upstream> parse(const UpstreamText& text);
  static constexpr std::size_t kCredentialMax = 255;  // RFC 1929

  // Where it is. An address that is internal (outside.internal), that is not opened there and that
  // `outside.internal_proxies` does not name is Code::permission_denied, also one that a name resolves to.
  Task<std::vector<Address>> locate(const Outside& outside) const;
  // A connection to `address` through it. Errors begin with "the egress proxy".
  Task<std::unique_ptr<ByteStream>> connect(const Outside& outside, Address address,
                                            std::uint16_t port) const;

  bool operator==(const Upstream&) const = default;

 private:
  Task<std::unique_ptr<ByteStream>> ask(const Outside& outside, std::unique_ptr<ByteStream> stream,
                                        Address address, std::uint16_t port) const;

  Host host_ = std::string();
  std::uint16_t port_ = 0;
  std::string username_, sealed_password_;
};

}  // namespace atl::egress
