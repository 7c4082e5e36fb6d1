#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <set>

namespace atl::api::mcp {

// Wakes whoever waits for it, all of them. Belongs to the loop thread; must outlive those who wait.
class Bell {
 public:
  explicit Bell(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring() {
    for (boost::asio::steady_timer* waiting : waiting_) waiting->cancel();
  }
  // Returns when it rings or the time has passed, without saying which: the caller looks at what it waited
  // for. If the coroutine is canceled meanwhile, the wait throws and so ends it.
  boost::asio::awaitable<void> wait(std::chrono::milliseconds time) {
    co_await boost::asio::this_coro::throw_if_cancelled(true);
    boost::asio::steady_timer timer(executor_, time);
    const Place place{waiting_, &timer};
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  }

 private:
  struct Place {
    Place(std::set<boost::asio::steady_timer*>& all, boost::asio::steady_timer* own) : all_(all), own_(own) {
      all_.insert(own_);
    }
    ~Place() { all_.erase(own_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    std::set<boost::asio::steady_timer*>& all_;
    boost::asio::steady_timer* own_;
  };

  boost::asio::any_io_executor executor_;
  std::set<boost::asio::steady_timer*> waiting_;
};

}  // namespace atl::api::mcp
