#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "os/task.h"

namespace atl::api::http {

// Waits for the next event of a source, or for a while, or for a nudge, without ever losing an event: the
// source's next() runs in a coroutine of its own, one event ahead at most, so that giving up waiting cancels
// nothing. Destroying the pump cancels the pending next() and destroys the source once that has returned.
//
// Source: has `Task<Event> next()`. `is_last` tells the event after which next() must not be called.
template <class Source, class Event>
class Pump {
 public:
  Pump(boost::asio::any_io_executor executor, std::unique_ptr<Source> source, bool (*is_last)(const Event&))
      : state_(std::make_shared<State>(executor, std::move(source), is_last)) {
    boost::asio::co_spawn(executor, run(state_),
                          boost::asio::bind_cancellation_slot(state_->signal.slot(), boost::asio::detached));
  }
  ~Pump() {
    state_->closed = true;
    state_->taken.cancel();
    // Posted: the source may be what is running right now.
    boost::asio::post(state_->arrived.get_executor(), [state = state_] {
      if (!state->ended) state->signal.emit(boost::asio::cancellation_type::terminal);
    });
  }
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  // Nothing: `time` passed, or nudge() was called.
  boost::asio::awaitable<std::optional<Result<Event>>> take(std::chrono::milliseconds time) {
    auto state = state_;
    if (!state->slot && !state->nudged) {
      state->arrived.expires_after(time);
      co_await state->arrived.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    state->nudged = false;
    std::optional<Result<Event>> event = std::exchange(state->slot, std::nullopt);
    if (event) state->taken.cancel();
    co_return event;
  }
  // Ends a take() that waits. May be called from a callback.
  void nudge() {
    state_->nudged = true;
    state_->arrived.cancel();
  }

 private:
  struct State {
    State(boost::asio::any_io_executor executor, std::unique_ptr<Source> source_,
          bool (*is_last_)(const Event&))
        : source(std::move(source_)),
          is_last(is_last_),
          arrived(executor),
          taken(executor, boost::asio::steady_timer::time_point::max()) {}
    std::unique_ptr<Source> source;
    bool (*is_last)(const Event&);
    std::optional<Result<Event>> slot;
    boost::asio::steady_timer arrived, taken;
    boost::asio::cancellation_signal signal;
    bool closed = false, ended = false, nudged = false;
  };

  static boost::asio::awaitable<void> run(std::shared_ptr<State> state) {
    bool last = false;
    while (!last && !state->closed) {
      Result<Event> event = co_await state->source->next();
      if (state->closed) break;
      last = !event || state->is_last(*event);
      state->slot = std::move(event);
      state->arrived.cancel();
      while (state->slot && !state->closed && !last) {
        co_await state->taken.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      }
    }
    state->ended = true;
    state->source.reset();
  }

  std::shared_ptr<State> state_;
};

}  // namespace atl::api::http
