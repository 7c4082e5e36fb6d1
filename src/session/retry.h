#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "base/log_subject.h"
#include "os/task.h"

namespace atl::session {

inline constexpr int kAttempts = 4;
inline constexpr std::chrono::milliseconds kFirstDelay{50};  // doubles each time
// Whoever waited so long already, because the failure itself took its time, is told of it.
inline constexpr std::chrono::milliseconds kRetryTime{2000};

// Calls a provider again after failures that may pass, each time later and logged, and never later than
// kRetryTime after the first call; gives the last answer.
// Only for what may safely be asked twice: whatever runs a user's code is asked once. `call` is Task<T>() and
// outlives each of its tasks; `still_wanted` is bool() and ends it early: a sandbox that was ended meanwhile
// says unavailable, too, and nobody should wait for it. `about` is log::Subject(): whom the lines are about.
template <class T, class About, class Call, class Wanted>
Task<T> with_retries(boost::asio::any_io_executor executor, std::string what, About about, Call call,
                     Wanted still_wanted) {
  const auto until = std::chrono::steady_clock::now() + kRetryTime;
  std::chrono::milliseconds delay = kFirstDelay;
  for (int attempt = 1;; ++attempt) {
    Result<T> answer = co_await call();
    if (answer || !row(answer.error().code()).retryable) co_return answer;
    const bool is_late = std::chrono::steady_clock::now() + delay > until;
    if (attempt == kAttempts || is_late || !still_wanted()) co_return answer;
    log::warn(about(), "a provider failed in passing, trying again",
              {{"call", what}, {"attempt", std::to_string(attempt)}, {"error", answer.error().message()}});
    boost::asio::steady_timer timer(executor, delay);
    boost::system::error_code ignored;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    if (!still_wanted()) co_return answer;
    delay *= 2;
  }
}

}  // namespace atl::session
