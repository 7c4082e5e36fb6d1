#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// Behind those ports is this daemon, not a server inside: of a sandbox with Network::egress nobody may
// connect to them (Code::permission_denied) and no list of its ports names them.
Result<void> check_port(Network network, std::uint16_t port);
void hide_proxy_ports(Network network, std::vector<std::uint16_t>& ports);

// Opens those ports inside, serves them with `proxy` until the connection ends, and sets the variables that
// lead programs there: for processes that start from now on, and in interpreters that run. There is no other
// route, because the sandbox has a loopback and nothing else.
Task<void> open_proxy_endpoint(std::shared_ptr<GuestConnection> connection,
                               std::shared_ptr<egress::Proxy> proxy);

// Makes programs inside trust an authority besides those of the sandbox's own store; an empty `certificate`
// ends that. Puts a bundle into `directory`, which no snapshot includes, and sets the variables that name it;
// a copied interpreter does not keep those.
inline constexpr const char* kTrustDirectory = "/run/atoll";
Task<void> trust_authority(std::shared_ptr<GuestConnection> connection, std::string certificate,
                           std::string directory = kTrustDirectory);

// Sets the wall "network" in `isolation` to what is in force.
void say_network(Isolation& isolation, Network network);

}  // namespace atl::sandbox
