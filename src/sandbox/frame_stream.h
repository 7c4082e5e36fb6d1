#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "guest/protocol.h"
#include "os/event.h"
#include "os/fd.h"
#include "os/task.h"

namespace atl::sandbox {

// A text of a frame, where it lies: valid as long as the frame is.
inline std::string_view view(guest::Text text) {
  return {text.data, text.size};
}

using FramePayload = guest::Writer<std::string>;

// A time as a guest gives it, in Unix microseconds: what no clock can hold becomes the farthest that one can.
inline WallTime time_of(std::int64_t micros) {
  constexpr std::int64_t farthest = std::numeric_limits<std::int64_t>::max() / 1000;
  return from_unix_micros(std::clamp(micros, -farthest, farthest));
}

// What a guest says about one request. Everything in it is untrusted.
class FrameChannel {
 public:
  virtual ~FrameChannel() = default;
  // One frame. False if no honest guest would send it: the stream then ends.
  virtual bool frame(guest::Type type, std::uint16_t flags, std::string_view payload) = 0;
  // The stream ended first. Called at most once, and nothing comes after it.
  virtual void lost(const Error& why) = 0;
  // The guest was frozen before it answered. A channel on which somebody waits for an answer fails with
  // `why`, because nobody knows when the guest runs again; a channel that only listens goes on when it does.
  // The guest may still carry out what was asked when it wakes: its answer is then ignored.
  virtual void frozen(const Error& why) { (void)why; }
};

// The host's end of a guest's stream: frames in both directions, channels, and the end of it. It survives any
// guest: what a guest sends is bounded and checked, and a guest that breaks the rules, goes silent or goes
// away ends the stream with Code::provider_failed for everyone on it.
//
// Belongs to the loop thread.
class FrameStream : public std::enable_shared_from_this<FrameStream> {
 public:
  FrameStream(boost::asio::any_io_executor executor, os::Fd stream);
  ~FrameStream();

  // Waits for the guest's greeting. Everything else may be called after it.
  Task<void> greet(std::chrono::milliseconds patience);

  bool is_open() const { return !ended_.has_value(); }
  const std::optional<Error>& ended() const { return ended_; }
  boost::asio::any_io_executor executor() const { return executor_; }

  // Opens a channel and sends its request. The stream keeps the channel alive until forget() or the end.
  std::uint32_t open(std::shared_ptr<FrameChannel> channel, guest::Type type, std::string_view request);
  // Takes over a channel that the guest opened.
  void adopt(std::uint32_t id, std::shared_ptr<FrameChannel> channel);
  void forget(std::uint32_t channel);
  void send(std::uint32_t channel, guest::Type type, std::uint16_t flags, std::string_view payload);
  void send_credit(std::uint32_t channel, std::uint32_t bytes);

  // A request with one answer: the payload of its reply.
  Task<std::string> call(guest::Type type, std::string request);

  // Ends the stream for everyone, once.
  void end(Error why);
  // Waits for the end and tells it.
  Task<Error> wait_for_end();
  // A frozen guest is silent for a reason. While it is paused, requests are refused with Code::conflict.
  void set_paused(bool paused) { paused_ = paused; }
  // The guest stands still now: whoever waits for one of its answers is told Code::conflict.
  void fail_waiting();
  // Has the guest come to rest between two frames (guest::Type::hold): no byte is under way in either
  // direction until release(), what is sent meanwhile waits here. On failure nothing has changed.
  Task<void> hold();
  // The guest goes on, at the other end of `replacement` if that is open: the sandbox was saved and is
  // another process now, which knows everything that this one knew.
  void release(os::Fd replacement = {});
  bool is_held() const { return held_; }

  // Channels of processes that a guest told about in its greeting: `make` is asked for each. Set before
  // greet().
  using Revive =
      std::move_only_function<std::shared_ptr<FrameChannel>(std::uint32_t id, std::string_view payload)>;
  void on_live(Revive make) { revive_ = std::move(make); }

 private:
  void read_more();
  void receive();
  bool parse(std::string_view bytes);
  bool dispatch(const guest::Header& header, std::string_view payload);
  bool greeting(const guest::Header& header, std::string_view payload);
  void flush();
  void watch_silence();

  boost::asio::any_io_executor executor_;
  boost::asio::posix::stream_descriptor stream_;
  boost::asio::steady_timer watchdog_;
  os::Event changed_;
  std::unordered_map<std::uint32_t, std::shared_ptr<FrameChannel>> channels_;
  std::optional<Error> ended_;
  std::string input_;  // the beginning of a frame
  std::string output_;
  std::size_t output_sent_ = 0;
  bool writing_ = false;
  bool greeted_ = false;
  bool paused_ = false;
  bool held_ = false;          // what is sent waits
  bool stands_still_ = false;  // the guest has said that it is held: nothing is read
  std::uint32_t streams_ = 0;  // how often the stream was replaced
  std::string held_output_;    // what was sent since hold()
  std::uint32_t live_left_ = 0;
  std::uint32_t next_channel_ = 1;
  std::uint32_t calls_ = 0;  // answers that are waited for
  std::uint64_t frames_seen_ = 0;
  std::uint64_t frames_at_check_ = 0;
  bool watching_ = false;
  bool probed_ = false;
  Revive revive_;
};

// The error that a guest's `failed` frame tells.
Error failure_of(std::string_view payload);

}  // namespace atl::sandbox
