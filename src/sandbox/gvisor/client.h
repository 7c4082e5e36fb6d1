#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "os/event.h"
#include "os/fd.h"
#include "os/task.h"
#include "sandbox/gvisor/broker_protocol.h"

namespace atl::sandbox::gvisor {

// The daemon's side of the broker's socket. Belongs to the loop thread. When the broker dies, every call
// under way and every later one fails with Code::provider_failed; the sandboxes have ended with it. Shared by
// the provider, its sandboxes and the read that is always under way.
class BrokerClient : public std::enable_shared_from_this<BrokerClient> {
 public:
  struct Answer {
    Reply reply;
    std::vector<os::Fd> fds;
  };

  BrokerClient(boost::asio::any_io_executor executor, os::Fd socket);
  // Begins to listen.
  void start();
  // The broker's answer; an error of the broker's is this call's error.
  Task<Answer> call(Request request);
  // Sends a request whose answer nobody needs; a failure is not reported.
  void tell(Request request);
  // The same as call(), blocking, before the loop runs.
  Result<Answer> call_now(Request request);
  bool is_open() const { return socket_.is_open(); }
  // Closes the socket: calls fail from now on, and the broker waits for the next daemon.
  void close();

 private:
  void listen();
  void receive();
  void lose();

  struct Pending {
    explicit Pending(const boost::asio::any_io_executor& executor) : arrived(executor) {}
    os::Event arrived;
    std::optional<Result<Answer>> answer;
  };
  boost::asio::any_io_executor executor_;
  boost::asio::posix::stream_descriptor socket_;
  std::uint64_t next_token_ = 1;
  std::map<std::uint64_t, std::shared_ptr<Pending>> pending_;
};

}  // namespace atl::sandbox::gvisor
