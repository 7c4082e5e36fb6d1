#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/json.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "os/event.h"
#include "os/fd.h"
#include "os/task.h"

namespace atl::sandbox::docker {

// The daemon's side of the broker's socket. Belongs to the loop thread. When the broker dies, every call
// under way and every later one fails with Code::provider_failed, and `on_lost` is called once. Shared by the
// provider, its sandboxes and the read that is always under way.
class BrokerClient : public std::enable_shared_from_this<BrokerClient> {
 public:
  struct Answer {
    boost::json::object body;
    os::Fd fd;
  };

  BrokerClient(boost::asio::any_io_executor executor, os::Fd socket);
  // Begins to listen; `on_ended` hears of sandboxes that ended (name, why).
  void start(std::function<void(const std::string&, const std::string&)> on_ended,
             std::function<void()> on_lost);
  // The broker's answer; an error of the broker's is this call's error.
  Task<Answer> call(boost::json::object request);
  // Sends a request whose answer nobody needs; a failure is not reported.
  void tell(boost::json::object request);
  // The same as call(), blocking, before the loop runs; no other call may be under way.
  Result<Answer> call_now(boost::json::object request);
  // Closes the socket: no callback comes any more, calls fail, and the broker waits for the next daemon.
  void close();
  bool is_open() const { return socket_.is_open(); }

 private:
  struct Pending {
    explicit Pending(const boost::asio::any_io_executor& executor) : arrived(executor) {}
    os::Event arrived;
    std::optional<Result<Answer>> answer;
  };
  void listen();
  void receive();
  void lose();
  Result<void> send(boost::json::object& request, std::uint64_t token);

  boost::asio::any_io_executor executor_;
  boost::asio::posix::stream_descriptor socket_;
  std::uint64_t next_token_ = 1;
  std::map<std::uint64_t, std::shared_ptr<Pending>> pending_;
  std::function<void(const std::string&, const std::string&)> on_ended_;
  std::function<void()> on_lost_;
};

}  // namespace atl::sandbox::docker
