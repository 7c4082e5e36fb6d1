#include "os/offload.h"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace atl::os {

namespace asio = boost::asio;

asio::awaitable<void> resumed_elsewhere(
    std::move_only_function<void(std::move_only_function<void()> resume)> start) {
  auto initiate = [](auto handler,
                     std::move_only_function<void(std::move_only_function<void()> resume)> begin) {
    auto executor = asio::get_associated_executor(handler);
    auto guard = asio::make_work_guard(executor);
    begin([handler = std::move(handler), guard = std::move(guard)]() mutable {
      auto at = guard.get_executor();
      asio::post(at, [handler = std::move(handler), guard = std::move(guard)]() mutable {
        guard.reset();
        std::move(handler)();
      });
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiate, asio::use_awaitable,
                                                                       std::move(start));
}

void run_on(asio::thread_pool& pool, std::move_only_function<void()> work) {
  asio::post(pool, std::move(work));
}

}  // namespace atl::os
