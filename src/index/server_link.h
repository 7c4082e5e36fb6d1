#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/blocking_client.h"

namespace atl::index {

struct LinkOptions {
  std::chrono::milliseconds wait{5000};     // for a connection, an answer, a byte
  int tries = 3;                            // of one call
  std::chrono::milliseconds back_off{100};  // before the second try; doubles
  std::chrono::milliseconds rest{500};      // after a call that failed: nobody is asked meanwhile; doubles
  std::chrono::milliseconds rest_max{30'000};
};

// Calls a server that may be away. A call is tried a few times. If that does not help, no call is made for
// `rest` (twice as long after each further failure): callers get Code::unavailable at once instead of each
// waiting for the same time-out. Safe from every thread; calls block.
class ServerLink {
 public:
  // `name` is for messages: "Qdrant". `headers`, such as a key, are sent with every call and never shown.
  ServerLink(std::string name, net::Url url, std::vector<std::pair<std::string, std::string>> headers,
             LinkOptions options);

  struct Answer {
    int status = 0;
    boost::json::object body;
  };
  // Gives every answer of the server but 429 and 5xx, also a refusal. Those two, a failed connection and an
  // answer that is no JSON object (something else listens there) are Code::unavailable. A call may be sent
  // more than once: it must be one that changes nothing the second time.
  //
  // An answer of more than 16 MiB or a million values is Code::too_large. With TooLarge::asker the server
  // stays as good as it was: for questions of which a tenant decides how much they bring.
  enum class TooLarge : std::uint8_t { server, asker };
  Result<Answer> call(const std::string& method, const std::string& target, const boost::json::object* body,
                      TooLarge blamed = TooLarge::server);

  void set_headers(std::vector<std::pair<std::string, std::string>> headers);
  // Why it is away; empty: it is not.
  std::string away_because() const;
  std::chrono::milliseconds rest_left() const;
  // Ends calls under way and refuses later ones.
  void stop();

 private:
  Result<Answer> try_once(const std::string& method, const std::string& target,
                          const boost::json::object* body);
  Result<net::ClientResponse> send(net::ClientRequest request);
  void failed(const std::string& why);
  void worked();
  bool is_stopped() const;

  const std::string name_;
  const net::Url url_;
  const LinkOptions options_;
  mutable std::mutex mutex_;  // of all below
  std::vector<std::pair<std::string, std::string>> headers_;
  std::set<net::BlockingClient*> under_way_;
  std::string away_because_;
  std::chrono::milliseconds rest_{0};
  std::chrono::steady_clock::time_point rests_until_;
  bool stopped_ = false;
};

}  // namespace atl::index
