#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "egress/proxy.h"
#include "sandbox/guest_connection.h"
#include "sandbox/isolation.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

// On the sandbox's loopback: HTTP and SOCKS5 on the same port.
inline constexpr std::uint16_t kProxyPort = 3128;
inline constexpr std::uint16_t kResolverPort = 53;
constexpr bool is_proxy_port(std::uint16_t port) {
  return port == kProxyPort || port == kResolverPort;
}

// Opens those ports inside, serves them with `proxy` until the link ends, and sets the variables that lead
// programs there for processes that start from now on, and in interpreters that run. There is no other route:
// the sandbox has a loopback and nothing else.
Task<void> open_proxy_endpoint(std::shared_ptr<GuestConnection> connection,
                               std::shared_ptr<egress::Proxy> proxy);

// Has programs inside trust an authority besides those of the sandbox's own store (an empty one: no longer):
// a bundle in that directory, which no snapshot holds, and the variables that name it, which no copied
// kernel keeps.
inline constexpr const char* kTrustDirectory = "/run/atoll";
Task<void> trust_authority(std::shared_ptr<GuestConnection> connection, std::string certificate,
                           std::string directory = kTrustDirectory);

// The wall "network", as it stands.
void say_network(Isolation& isolation, Network network);

}  // namespace atl::sandbox
