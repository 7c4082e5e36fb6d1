#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egress/buffered.h"
#include "egress/http_request.h"
#include "egress/proxy_state.h"
#include "egress/redactor.h"

namespace atl::egress {

// One client from its first byte to its last. Keeps the state alive, and with it what it was given.
class Proxy::Connection {
 public:
  Connection(std::shared_ptr<State> state, std::unique_ptr<ByteStream> client)
      : state_(std::move(state)), client_(std::move(client)) {}

  // Serves the client to its end. Never throws and reports every attempt, allowed or not, to the observer.
  // Called once.
  boost::asio::awaitable<void> run();
  // Ends it, whatever it waits for.
  void cut();
  auto slot() { return signal_.slot(); }
  // False once the rules no longer allow what this connection reached or is reaching.
  bool is_allowed(const Rules& rules) const;

 private:
  enum class Tls { no, yes };
  // What the client of a tunnel is told: that it is open, or why not, in the form of its protocol.
  struct Manners {
    std::string established;
    std::string (*refused)(const Error& why);
  };

  // Checks, resolves and dials. Only what this returns may be spoken to.
  Task<std::unique_ptr<ByteStream>> reach(Host host, std::uint16_t port, Tls tls);
  Task<std::unique_ptr<ByteStream>> dial(Address address, std::uint16_t port);
  // Addresses that may be dialled, in the order in which they are tried.
  Task<std::vector<Address>> choose(const Host& host, std::uint16_t port);

  boost::asio::awaitable<void> socks();
  boost::asio::awaitable<void> http();
  boost::asio::awaitable<void> tunnel(ConnectRequest target, Manners manners);
  // TLS ends here, the header is set, and TLS starts again towards the verified server.
  boost::asio::awaitable<void> intercept(ConnectRequest target, std::string established);
  // The one request of a tunnel whose inside is HTTP.
  boost::asio::awaitable<void> serve_inside(ConnectRequest target, Buffered& client, Tls tls);
  // Both directions until one side ends; the first bytes of the client are held against the host.
  boost::asio::awaitable<void> relay_checked(ByteStream& upstream);
  boost::asio::awaitable<void> pump_checked(ByteStream& upstream);
  // Holds the TLS hello that a tunnel begins with against the host. What is not TLS passes, but not on 443.
  Task<void> check_hello();
  Task<void> check_name(const std::string& server_name, bool encrypted) const;

  boost::asio::awaitable<void> forward(HttpRequest request, Buffered& client, Tls tls);
  Task<std::unique_ptr<ByteStream>> reach_and_send(const HttpRequest& request, Tls tls, Redactor& redactor);
  // Headers to set, with their secrets in place; those are what `redactor` keeps from coming back.
  Task<SetHeaders> headers_to_set(const Host& host, Tls tls, Redactor& redactor) const;

  void refuse(const Host& host, std::uint16_t port, const Error& why) const {
    state_->report(to_string(host), port, false, why.message());
  }

  std::shared_ptr<State> state_;
  Buffered client_;
  boost::asio::cancellation_signal signal_;
  Host host_ = std::string();
  std::uint16_t port_ = 0;
  std::optional<Address> reached_;
  std::optional<DialBudget::Ticket> ticket_;  // for what was dialled
  std::optional<Upstream> via_;               // the proxy it was reached through
};

// A whole HTTP/1.1 answer of our own that closes the connection.
std::string plain_answer(int status, std::string_view reason, std::string_view text);
// 403 for what is not allowed, 503 for what no connection is left for, 502 for what cannot be reached.
std::string refusal_answer(const Error& why);

}  // namespace atl::egress
