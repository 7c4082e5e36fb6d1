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
#include "sandbox/native/spawner_protocol.h"

namespace atl::sandbox::native {

// The daemon's side of the spawner's socket. Belongs to the loop thread. When the spawner dies, every call
// under way and every later one fails with Code::provider_failed, and on_lost is called once. When only the
// connection is lost, it goes on with a spare one: calls under way that cannot be made twice fail with
// Code::unavailable, and on_again is called with the names that the spawner has. A message whose descriptors
// this process has no room for fails that call alone, with Code::resource_exhausted.
//
// Shared: by the provider, by the state of every sandbox, and by calls under way, which may outlive both.
class SpawnerClient : public std::enable_shared_from_this<SpawnerClient> {
 public:
  // What came back, and the descriptors that came with it, which are the caller's from here on.
  struct Answer {
    Reply reply;
    std::vector<os::Fd> fds;
  };

  SpawnerClient(boost::asio::any_io_executor executor, os::Fd socket);
  // Begins to listen; `on_ended` hears of sandboxes that ended (name, why).
  using Names = std::vector<std::string>;
  void start(std::function<void(const std::string&, const std::string&)> on_ended,
             std::function<void()> on_lost, std::function<void(const Names&)> on_again = nullptr);
  // Before the loop runs. Without one, a lost connection is a lost spawner.
  Result<void> add_spare();
  // Waits for the spawner's answer; an error of the spawner's is this call's error. `beside` is a descriptor
  // that is sent along and stays the caller's. The request is not taken back if the caller stops waiting: its
  // answer and the descriptors in it are dropped.
  Task<Answer> call(Request request, int beside = -1);
  // Sends a request whose answer nobody needs. Never waits; a lost connection drops it.
  void tell(Request request);
  // The same before the loop runs. Answers to other calls must not be on their way.
  Result<Answer> call_now(Request request);
  // No more callbacks; calls fail. The spawner sees its daemon leave.
  void close();
  bool is_open() const { return socket_.is_open(); }
  // The spawner has not answered every call.
  bool is_waiting() const { return !pending_.empty(); }
  // Closes a descriptor on another thread. Closing the last one of a filesystem takes the filesystem down,
  // for tens of milliseconds in which the loop would stand still. All are closed when this is destroyed.
  void close_behind(os::Fd last);
  // Interpreters of checkpoints that lie in memory, by the checkpoint's directory, until they are discarded.
  // Shared with the calls that send one of them while it is discarded.
  std::map<std::string, std::shared_ptr<os::Fd>> checkpoints;

 private:
  void listen();
  void receive();
  void take(Reply reply, std::vector<os::Fd> fds);
  void lose();
  void fail_pending(const Error& error);
  void go_on_with_spare();
  // A call of its own. 0: it could not be made.
  std::uint64_t ask_for(Ask what);

  boost::asio::any_io_executor executor_;
  boost::asio::posix::stream_descriptor socket_;
  std::uint64_t next_token_ = 1;
  struct Pending {
    explicit Pending(const boost::asio::any_io_executor& executor) : arrived(executor) {}
    os::Event arrived;
    std::optional<Result<Answer>> answer;
    std::string again;  // what to say on another connection; empty: it must not be said twice
  };
  std::map<std::uint64_t, std::shared_ptr<Pending>> pending_;
  std::function<void(const std::string&, const std::string&)> on_ended_;
  std::function<void()> on_lost_;
  std::function<void(const Names&)> on_again_;
  os::Fd spare_;
  bool wants_spare_ = false;
  std::uint64_t hello_token_ = 0, second_token_ = 0;  // its own calls under way
  std::optional<boost::asio::thread_pool> closers_;   // from the first one on
};

}  // namespace atl::sandbox::native
