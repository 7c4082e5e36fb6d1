#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "os/task.h"

namespace atl::os {

// One at a time, or so many, first come first served, for coroutines of the loop. Not for threads.
class Turn {
 public:
  explicit Turn(boost::asio::any_io_executor executor, std::uint32_t at_once = 1)
      : state_(std::make_shared<State>(std::move(executor), at_once)) {}

  // Whoever holds it has the turn; letting go passes it on. May outlive the Turn.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept : state_(std::move(other.state_)) {}
    Hold& operator=(Hold&& other) noexcept {
      if (this != &other) {
        release();
        state_ = std::move(other.state_);
      }
      return *this;
    }
    ~Hold() { release(); }

   private:
    friend class Turn;
    explicit Hold(std::shared_ptr<struct TurnState> state) : state_(std::move(state)) {}
    inline void release();
    std::shared_ptr<struct TurnState> state_;
  };

  // Ends with a hold when it is this caller's turn, in the order of asking. Code::canceled if the wait is
  // canceled; the place in the queue is then given up.
  inline Task<Hold> take();

 private:
  using State = struct TurnState;
  std::shared_ptr<State> state_;
};

// Shared by the Turn and everyone who holds or waits, so that each may go first. On the loop only.
struct TurnState {
  TurnState(boost::asio::any_io_executor e, std::uint32_t at_once) : executor(std::move(e)), free(at_once) {}
  struct Waiter {
    explicit Waiter(const boost::asio::any_io_executor& e)
        : timer(e, boost::asio::steady_timer::time_point::max()) {}
    boost::asio::steady_timer timer;
    bool given = false;
  };
  boost::asio::any_io_executor executor;
  std::uint32_t free;
  std::deque<std::shared_ptr<Waiter>> waiting;

  // The next waiter has the turn before anybody who asks from now on.
  void pass_on() {
    if (waiting.empty()) {
      ++free;
      return;
    }
    const auto next = std::move(waiting.front());
    waiting.pop_front();
    next->given = true;
    next->timer.cancel();
  }
};

void Turn::Hold::release() {
  if (const auto state = std::exchange(state_, nullptr)) state->pass_on();
}

Task<Turn::Hold> Turn::take() {
  const auto state = state_;
  if (state->free > 0) {
    --state->free;
    Hold hold(state);
    co_return hold;
  }
  const auto waiter = std::make_shared<TurnState::Waiter>(state->executor);
  state->waiting.push_back(waiter);
  boost::system::error_code ignored;
  co_await waiter->timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  if (!waiter->given) {
    std::erase(state->waiting, waiter);
    co_return fail(Code::canceled, "canceled while waiting for its turn");
  }
  Hold hold(state);
  co_return hold;
}

}  // namespace atl::os
