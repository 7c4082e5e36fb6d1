#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egress/address.h"
#include "egress/dial_budget.h"
#include "egress/header_value.h"
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
  // The stream is the caller's.
  virtual Task<std::unique_ptr<ByteStream>> connect(Address address, std::uint16_t port) = 0;
  // TLS over a connection, to a server that proves to be `name`.
  virtual Task<std::unique_ptr<ByteStream>> secure(std::unique_ptr<ByteStream> stream, std::string name) = 0;
};

// What a proxy needs of the world. Outlives it and its connections.
struct Outside {
  Resolver* resolver = nullptr;
  Connector* connector = nullptr;
  // Null: names with header rules are refused over TLS instead of passed without the header.
  Authority* authority = nullptr;
  std::shared_ptr<Secrets> secrets;                   // null: there are none
  std::shared_ptr<const InternalAddresses> internal;  // null: special-purpose ranges only, nothing opened
  std::optional<DialBudget::Account> dials;           // how many connections it may open; none: any number
  std::vector<Cidr> internal_proxies;  // internal addresses where an owner may have a proxy of theirs
  std::shared_ptr<Connector> own_connector = {};  // keeps `connector` alive if nobody else does
};

// One attempt to get out, for the session's log.
struct Attempt {
  std::string host;        // canonical; empty if what was sent has no canonical form
  std::uint16_t port = 0;  // 53: a name was looked up
  bool allowed = false;
  std::string reason;
};

// The one way out of one sandbox: an HTTP and SOCKS5 proxy whose client side is a stream from inside, and a
// resolver. Every target is brought into canonical form once, and that form is checked, resolved and dialled;
// every address a name resolves to is checked again. What is said inside a tunnel must fit the host the
// tunnel was opened to: TLS names it in its hello, HTTP on port 80 in its Host header. Belongs to one
// executor. Connections end with the Proxy.
class Proxy {
 public:
  using Observer = std::function<void(const Attempt&)>;

  Proxy(boost::asio::any_io_executor executor, std::shared_ptr<const Rules> rules, Outside outside,
        Observer observer);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  // Serves one client until either side ends. Returns at once.
  void serve(std::unique_ptr<ByteStream> client);
  // Answers one DNS message. Empty: no answer is due.
  Task<std::string> answer(std::string query);
  // In force for everything that is not finished: open connections that the new rules do not allow are cut,
  // also those that are still being resolved or dialled.
  void set_rules(std::shared_ptr<const Rules> rules);
  std::size_t open_connections() const;

 private:
  struct State;
  class Connection;
  std::shared_ptr<State> state_;
};

}  // namespace atl::egress
