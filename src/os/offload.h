#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "os/task.h"

namespace atl::os {

// Takes the result, from any thread, once.
template <class T>
using Completion = std::move_only_function<void(Result<T>)>;

// Calls `start` with a function that makes the waiting coroutine go on, on its own executor. That function
// may be called from any thread and must be called exactly once. The loop stays alive meanwhile.
boost::asio::awaitable<void> resumed_elsewhere(
    std::move_only_function<void(std::move_only_function<void()> resume)> start);
// Runs `work` on a thread of the pool, once; it must not throw.
void run_on(boost::asio::thread_pool& pool, std::move_only_function<void()> work);

// Gives `start` a Completion<T>, and brings the result that it is called with back to the waiting coroutine's
// own executor. The completion must be called exactly once: a coroutine whose result never comes waits for
// ever.
template <class T>
Task<T> completed_elsewhere(std::move_only_function<void(Completion<T>)> start) {
  // Shared with the other thread: the coroutine may be gone before the result comes.
  const auto result = std::make_shared<std::optional<Result<T>>>();
  std::move_only_function<void(std::move_only_function<void()>)> begin =
      [result, start = std::move(start)](std::move_only_function<void()> resume) mutable {
        start([result, resume = std::move(resume)](Result<T> value) mutable {
          result->emplace(std::move(value));
          resume();
        });
      };
  co_await resumed_elsewhere(std::move(begin));
  co_return std::move(**result);
}

// Runs `work` (Result<T>()) on `pool` and brings its result back. `work` must not throw, and must own what it
// uses: a canceled coroutine may be gone before it runs.
//
// No coroutine of its own, and no lambda's type in the ones it calls: each is compiled once for a type of
// result and not once for a call.
template <class T, class Work>
Task<T> offload(boost::asio::thread_pool& pool, Work work) {
  std::move_only_function<void(Completion<T>)> start = [&pool,
                                                        work = std::move(work)](Completion<T> done) mutable {
    run_on(pool, [work = std::move(work), done = std::move(done)]() mutable { done(work()); });
  };
  return completed_elsewhere<T>(std::move(start));
}

}  // namespace atl::os
