#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "os/task.h"

namespace atl::os {

// Coroutines of one loop wait until somebody says that something changed. It carries no state: whoever waits
// checks a condition of its own in a loop, and nobody else runs between the check and the wait.
// Must outlive its waiters.
class Event {
 public:
  explicit Event(const boost::asio::any_io_executor& executor)
      : timer_(executor, std::chrono::steady_clock::time_point::max()) {}

  // Ends at the next notify(), or with Code::canceled. Who is told so may still wait for what it has to clear
  // up; for everybody else cancellation goes on as it was before the call.
  Task<void> wait() {
    const bool throws = co_await boost::asio::this_coro::throw_if_cancelled();
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    const auto state = co_await boost::asio::this_coro::cancellation_state;
    if (state.cancelled() != boost::asio::cancellation_type::none) co_return fail(Code::canceled, "canceled");
    co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (state.cancelled() != boost::asio::cancellation_type::none) co_return fail(Code::canceled, "canceled");
    co_await boost::asio::this_coro::throw_if_cancelled(throws);
    co_return Result<void>();
  }
  // Wakes everyone who waits now.
  void notify() { timer_.cancel(); }

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace atl::os
