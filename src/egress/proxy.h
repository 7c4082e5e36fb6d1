#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "egress/address.h"
#include "egress/rules.h"
#include "os/byte_stream.h"
#include "os/task.h"

namespace atl::egress {

class Authority;

// Names to addresses, on the host. Injected, so that tests resolve and dial nothing real.
class Resolver {
 public:
  virtual ~Resolver() = default;
  virtual Task<std::vector<Address>> resolve(std::string name) = 0;
};

// Opens connections, on the host.
class Connector {
 public:
  virtual ~Connector() = default;
  virtual Task<std::unique_ptr<ByteStream>> connect(Address address, std::uint16_t port) = 0;
  // The same, with TLS to a server that proves to be `name`.
  virtual Task<std::unique_ptr<ByteStream>> connect_tls(Address address, std::uint16_t port,
                                                        std::string name) = 0;
};

// One attempt to get out, for the session's log.
struct Attempt {
  std::string host;  // canonical; as sent if it has no canonical form
  std::uint16_t port = 0;
  bool allowed = false;
  std::string reason;
};

// The one way out of one sandbox: an HTTP and SOCKS5 proxy whose client side is a stream from inside. Every
// target is brought into canonical form once, and that form is checked, resolved and dialled; every address a
// name resolves to is checked again. A TLS client hello inside a tunnel must name the host the tunnel was
// opened to. Belongs to one executor. Connections end with the Proxy.
class Proxy {
 public:
  using Observer = std::function<void(const Attempt&)>;

  // `authority` may be null: then names with header rules are refused over TLS instead of passed without the
  // header.
  Proxy(boost::asio::any_io_executor executor, std::shared_ptr<const Rules> rules, Resolver& resolver,
        Connector& connector, Authority* authority, Observer observer);
  ~Proxy();

  // Serves one client until either side ends. Returns at once.
  void serve(std::unique_ptr<ByteStream> client);
  // In force for new connections at once; open connections that the new rules do not allow are cut.
  void set_rules(std::shared_ptr<const Rules> rules);
  std::size_t open_connections() const;
  // Names the sandbox's resolver may answer.
  Task<std::vector<Address>> resolve(std::string name);

 private:
  class Connection;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace atl::egress
