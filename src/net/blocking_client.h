#pragma once

#include <boost/asio/io_context.hpp>
#include <mutex>

#include "net/client.h"

namespace atl::net {

// Calls one server from a thread that may wait, such as one that forwards things in the background. One call
// at a time, from one thread; only stop() may come from another. Redirections are not followed: their answer
// is the answer.
class BlockingClient {
 public:
  // `wait`: for a connection, for an answer, and without a byte moving. A whole call, however it trickles,
  // takes at most four times that. Nothing is tried twice. An answer over `body_bytes_max` is
  // Code::too_large.
  BlockingClient(Url url, std::chrono::milliseconds wait, std::uint64_t body_bytes_max = 1U << 20);

  // The whole answer, whatever its status. Code::canceled after stop().
  Result<ClientResponse> send(ClientRequest request);
  // The same for those who need no more than the status: the answer's body is not waited for, however long
  // or slow it is.
  Result<ClientResponse> send_for_head(ClientRequest request);
  // Ends the call under way and refuses later ones.
  void stop();

 private:
  using Call = Task<ClientResponse> (*)(Client&, ClientRequest);
  Result<ClientResponse> run(Call call, ClientRequest request);

  Url url_;
  ClientOptions options_;
  std::chrono::milliseconds whole_;
  std::mutex mutex_;
  boost::asio::io_context* loop_ = nullptr;  // of the call under way
  bool stopped_ = false;
};

}  // namespace atl::net
