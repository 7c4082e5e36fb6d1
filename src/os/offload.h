#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "os/task.h"

namespace atl::os {

// Hands `start` a one-shot function that takes the result from any thread and brings it back to the waiting
// coroutine's own executor. The loop stays alive meanwhile.
template <class T, class Start>
// The function must be called exactly once: a coroutine whose result never comes waits for ever.
Task<T> completed_elsewhere(Start start) {
  auto initiate = [](auto handler, Start begin) {
    auto executor = boost::asio::get_associated_executor(handler);
    auto guard = boost::asio::make_work_guard(executor);
    auto shared =
        std::make_shared<std::pair<decltype(handler), decltype(guard)>>(std::move(handler), std::move(guard));
    begin([shared](Result<T> result) {
      auto at = shared->second.get_executor();
      boost::asio::post(at, [shared, result = std::move(result)]() mutable {
        auto resume = std::move(shared->first);
        shared->second.reset();
        std::move(resume)(std::move(result));
      });
    });
  };
  Result<T> result =
      co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(Result<T>)>(
          initiate, boost::asio::use_awaitable, std::move(start));
  co_return result;
}

// Runs `work` (Result<T>()) on `pool` and brings its result back.
template <class T, class Pool, class Work>
// `work` must not throw, and must own what it uses: a canceled coroutine may be gone before it runs.
Task<T> offload(Pool& pool, Work work) {
  auto start = [&pool, work = std::move(work)](auto done) mutable {
    boost::asio::post(pool, [work = std::move(work), done = std::move(done)]() mutable { done(work()); });
  };
  co_return co_await completed_elsewhere<T>(std::move(start));
}

}  // namespace atl::os
