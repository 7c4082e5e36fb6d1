#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "api/http/pump.h"
#include "net/http.h"

// Two ways for a handler that streams to notice that its client went away. Both need the request's body read
// to its end, and belong to the loop thread.
namespace atl::api::http {

// Runs `work`, which streams the answer itself, until it ends or the client goes away. In the latter case
// what it waits for is canceled and the result is Code::canceled. Returns only after `work` has ended,
// because the exchange is valid only until the handler returns.
Task<void> until_disconnect(boost::asio::any_io_executor executor, net::Exchange& exchange, Task<void> work);

// The events of a source for a client that must hear something now and then: gives the next event, or nothing
// when `interval` passed without one, so that the handler can send a sign of life.
template <class Source, class Event>
class ClientPump {
 public:
  // See Pump for `source` and `is_last`. The exchange must outlive this.
  ClientPump(boost::asio::any_io_executor executor, net::Exchange& exchange, std::unique_ptr<Source> source,
             bool (*is_last)(const Event&))
      : exchange_(exchange), pump_(std::move(executor), std::move(source), is_last) {}
  // The exchange may go on after this: it must not call into what is gone.
  ~ClientPump() { exchange_.on_disconnect({}); }
  ClientPump(const ClientPump&) = delete;
  ClientPump& operator=(const ClientPump&) = delete;

  // Code::canceled if the client went away; otherwise the source's own errors.
  Task<std::optional<Event>> next(std::chrono::milliseconds interval) {
    if (!std::exchange(watching_, true)) exchange_.on_disconnect([this] { pump_.nudge(); });
    std::optional<Result<Event>> event = co_await pump_.take(interval);
    if (exchange_.disconnected()) co_return fail(Code::canceled, "the client went away");
    if (!event) co_return std::optional<Event>();
    if (!*event) co_return fail(std::move(*event).error());
    co_return std::optional<Event>(std::move(**event));
  }

 private:
  net::Exchange& exchange_;
  Pump<Source, Event> pump_;
  bool watching_ = false;
};

}  // namespace atl::api::http
