#include "api/http/client_presence.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace atl::api::http {

// The work runs as a coroutine of its own so that it can be canceled.
Task<void> until_disconnect(boost::asio::any_io_executor executor, net::Exchange& exchange, Task<void> work) {
  boost::asio::cancellation_signal gone;
  boost::asio::steady_timer done(executor, boost::asio::steady_timer::time_point::max());
  std::optional<Result<void>> result;
  auto finish = [&](std::exception_ptr thrown, Result<void> value) {
    // Cancellation unwinds the coroutine by an exception of Asio's.
    if (thrown) {
      result.emplace(fail(Code::canceled, "the client went away"));
    } else {
      result.emplace(std::move(value));
    }
    done.cancel();
  };
  boost::asio::co_spawn(executor, std::move(work), boost::asio::bind_cancellation_slot(gone.slot(), finish));
  auto cancel = [&gone] { gone.emit(boost::asio::cancellation_type::terminal); };
  if (!result) exchange.on_disconnect(cancel);
  boost::system::error_code ignored;
  while (!result) {
    co_await done.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
  exchange.on_disconnect({});
  co_return std::move(*result);
}

}  // namespace atl::api::http
