#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "api/mcp/bell.h"
#include "api/mcp/message.h"

namespace atl::api::mcp {

// The messages that go out on one stream: of a request, of a connection, of a subscription. Whoever answers
// puts them in; whoever holds the exchange with the client takes them out, and may do so again from an
// earlier one on if the client lost its connection. Belongs to the loop thread.
class Outbox {
 public:
  struct Event {
    std::uint64_t number = 0;  // from 1, without gaps
    std::string text;          // one JSON message
    bool is_last = false;
    int status = 200;  // of HTTP, if it is the whole answer
  };
  // What a client that does not read may make us keep. Beyond it, notifications are dropped; the answer never
  // is.
  static constexpr std::size_t kEventsMax = 1'000;
  static constexpr std::size_t kBytesMax = 1U << 20;

  Outbox(boost::asio::any_io_executor executor, std::string name)
      : name_(std::move(name)), changed_(std::move(executor)) {}
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  const std::string& name() const { return name_; }

  void put(const bj::object& message);
  // The answer. Nothing comes after it.
  void finish(const bj::object& message, int status);
  // Ends without an answer.
  void close();
  // The client is to come back for the rest later (SSE polling).
  void send_away() {
    sends_away_ = true;
    wake();
  }

  // The first event after number `after`, waiting for one. Nothing: `time` passed, wake() was called, or no
  // more will come (see is_over()).
  boost::asio::awaitable<std::optional<Event>> take(std::uint64_t after, std::chrono::milliseconds time);
  void wake() { changed_.ring(); }
  bool is_over(std::uint64_t after) const { return closed_ && last_number() <= after; }
  bool is_closed() const { return closed_; }
  // Of all events that are kept.
  std::size_t bytes() const { return bytes_; }
  // True once: the reader is to go.
  bool take_sending_away() { return std::exchange(sends_away_, false); }
  // Events up to this number will not be asked for again.
  void forget(std::uint64_t up_to);

 private:
  std::uint64_t last_number() const { return next_ - 1; }

  std::string name_;
  std::deque<Event> events_;
  std::size_t bytes_ = 0;
  std::uint64_t next_ = 1;
  bool closed_ = false, sends_away_ = false;
  Bell changed_;
};

}  // namespace atl::api::mcp
