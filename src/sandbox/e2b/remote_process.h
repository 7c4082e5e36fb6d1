#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/event.h"
#include "sandbox/e2b/plane.h"
#include "sandbox/process.h"

namespace atl::sandbox::e2b {

// A process of a remote sandbox. A coroutine of its own follows the other side's stream until the process has
// ended, and keeps this alive meanwhile; a stream that breaks is opened again, and whether output was lost
// then is in the Outcome's reason. Belongs to the loop thread.
class RemoteProcess final : public Process, public std::enable_shared_from_this<RemoteProcess> {
 public:
  // Starts one and waits until it runs, or gives the reason why it cannot.
  static Task<std::shared_ptr<RemoteProcess>> start(std::shared_ptr<Plane> plane, ProcessSpec spec);
  // One that runs already, of process.Process/List. Null if the entry makes no sense.
  static std::shared_ptr<RemoteProcess> adopt(std::shared_ptr<Plane> plane, const Object& entry);

  const ProcessInfo& info() const override { return info_; }
  std::unique_ptr<ProcessStream> attach(Replay replay) override;
  Task<void> write_stdin(std::string bytes) override;
  Task<void> close_stdin() override;
  Task<void> resize(PtySize size) override;
  Task<void> signal(int number) override;
  Task<Outcome> wait() override;

  bool has_ended() const { return outcome_.has_value(); }
  // The sandbox is gone: nothing more is known of it.
  void lose(Ending ending, std::string reason);

 private:
  class Listener;
  struct Channel;

  RemoteProcess(std::shared_ptr<Plane> plane, ProcessSpec spec);
  static boost::asio::awaitable<void> follow(std::shared_ptr<RemoteProcess> self,
                                             std::unique_ptr<RpcStream> stream);
  // The stream after one that broke; null if there is none any more.
  static boost::asio::awaitable<std::unique_ptr<RpcStream>> follow_again(std::shared_ptr<RemoteProcess> self);
  static boost::asio::awaitable<void> end_in_time(std::shared_ptr<RemoteProcess> self);
  // Takes one event; true at the end of the process.
  Task<bool> take(Object message);
  Task<void> take_output(Stream stream, std::string bytes);
  void finish(Outcome outcome);
  Outcome outcome_of(const Object& end) const;
  Object selector() const { return Object{{"pid", info_.pid}}; }
  Task<void> end_with(Ending ending, std::string reason);

  std::shared_ptr<Plane> plane_;
  ProcessSpec spec_;
  ProcessInfo info_;
  os::Event changed_;
  std::optional<Outcome> outcome_;
  std::optional<std::pair<Ending, std::string>> forced_;
  int signal_sent_ = 0;
  bool stdin_open_ = false;
  bool output_lost_ = false;
  bool was_attached_ = false;
  std::uint64_t output_bytes_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<std::weak_ptr<Channel>> channels_;
  std::deque<Output> recent_;
  std::size_t recent_bytes_ = 0;
};

}  // namespace atl::sandbox::e2b
