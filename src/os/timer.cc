#include "os/timer.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace atl::os {

Task<void> sleep_for(boost::asio::any_io_executor executor, std::chrono::nanoseconds time) {
  const bool throws = co_await boost::asio::this_coro::throw_if_cancelled();
  co_await boost::asio::this_coro::throw_if_cancelled(false);
  boost::asio::steady_timer timer(executor,
                                  std::chrono::duration_cast<boost::asio::steady_timer::duration>(time));
  auto [error] = co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  if (error) co_return fail(Code::canceled, "canceled");
  co_await boost::asio::this_coro::throw_if_cancelled(throws);
  co_return Result<void>();
}

}  // namespace atl::os
