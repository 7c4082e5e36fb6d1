#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/event.h"
#include "os/fd.h"
#include "os/task.h"
#include "sandbox/native/wire.h"

namespace atl::sandbox::native {

// The daemon's side of the spawner's socket. Belongs to the loop thread. When the spawner dies, every call
// under way and every later one fails with Code::provider_failed, and on_lost is called once.
class SpawnerClient : public std::enable_shared_from_this<SpawnerClient> {
 public:
  struct Answer {
    Reply reply;
    std::vector<os::Fd> fds;
  };

  SpawnerClient(boost::asio::any_io_executor executor, os::Fd socket);
  // Begins to listen; `on_ended` hears of sandboxes that ended (name, why).
  void start(std::function<void(const std::string&, const std::string&)> on_ended,
             std::function<void()> on_lost);
  // The spawner's answer; an error of the spawner's is this call's error.
  // `beside` is a descriptor that goes with it; it stays the caller's.
  Task<Answer> call(Request request, int beside = -1);
  // Without an answer.
  void tell(Request request);
  // The same before the loop runs. Answers to other calls must not be on their way.
  Result<Answer> call_now(Request request);
  // No more callbacks; calls fail. The spawner sees its daemon leave.
  void close();
  bool is_open() const { return socket_.is_open(); }
  // The spawner has not answered every call.
  bool is_waiting() const { return !pending_.empty(); }
  // Whoever closes the last descriptor of a filesystem takes it down, for tens of milliseconds in which the kernel
  // mostly waits: nothing for the loop, on which everybody else would wait, too. Done when this is destroyed.
  void close_behind(os::Fd last);
  // Kernels of captures that lie in memory, by the capture's directory, until they are discarded.
  std::map<std::string, std::shared_ptr<os::Fd>> parked;

 private:
  void listen();
  void receive();
  void lose();

  boost::asio::any_io_executor executor_;
  boost::asio::posix::stream_descriptor socket_;
  std::uint64_t next_token_ = 1;
  struct Pending {
    explicit Pending(const boost::asio::any_io_executor& executor) : arrived(executor) {}
    os::Event arrived;
    std::optional<Result<Answer>> answer;
  };
  std::map<std::uint64_t, std::shared_ptr<Pending>> pending_;
  std::function<void(const std::string&, const std::string&)> on_ended_;
  std::function<void()> on_lost_;
  std::optional<boost::asio::thread_pool> closers_;  // from the first one on
};

}  // namespace atl::sandbox::native
