#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>

#include "net/client.h"

namespace atl::net {

// Calls one server from a thread that may wait, such as one that forwards things in the background. One call
// at a time, from one thread; only stop() may come from another.
class BlockingClient {
 public:
  // `wait`: for a connection, for an answer, and without a byte moving. Nothing is tried twice.
  BlockingClient(Url url, std::chrono::milliseconds wait);

  // The whole answer, whatever its status. Code::canceled after stop().
  Result<ClientResponse> send(ClientRequest request);
  // Ends the call under way and refuses later ones.
  void stop();

 private:
  Url url_;
  ClientOptions options_;
  boost::asio::io_context loop_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace atl::net
