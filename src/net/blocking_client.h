#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <mutex>
#include <optional>

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
  // Many of those, one behind the other: over one connection as long as the server keeps it. `next` gives the
  // next request, or nothing; `took` gets its answer, and its error ends all. Each has the time of a whole
  // call. A request to which a kept connection gave no answer is sent once more over a new one: the server
  // may get it twice.
  Result<void> send_for_heads(const std::function<std::optional<ClientRequest>()>& next,
                              const std::function<Result<void>(const ClientResponse&)>& took);
  // Ends the call under way and refuses later ones.
  void stop();

 private:
  using Time = std::chrono::steady_clock::time_point;
  // What `work` gives, unless `deadline`, which it may move, comes before its end.
  using Work = std::function<Task<void>(Client& client, Time& deadline)>;
  Result<void> run(const Work& work);

  Url url_;
  ClientOptions options_;
  std::chrono::milliseconds whole_;
  std::mutex mutex_;
  boost::asio::io_context* loop_ = nullptr;  // of the call under way
  bool stopped_ = false;
};

}  // namespace atl::net
