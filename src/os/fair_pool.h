#pragma once

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "os/offload.h"
#include "os/turn.h"

namespace atl::os {

// Threads for work that blocks or computes, shared by many: nobody has more than half of them at once,
// whatever they ask for. What else is theirs waits on the loop, in its order, and takes no thread from
// others. Belongs to the loop thread.
class FairPool {
 public:
  explicit FairPool(std::size_t threads)
      : share_(static_cast<std::uint32_t>(std::max<std::size_t>(1, threads / 2))), pool_(threads) {}

  // As offload(): `work` (Result<T>()) must not throw and must own what it uses. `who`: whose share it is.
  template <class T, class Work>
  Task<T> run(const std::string& who, Work work) {
    std::move_only_function<Result<T>()> job = std::move(work);
    return run_in_turn<T>(who, std::move(job));
  }
  // Waits for what has begun. Nothing may be run afterwards.
  void join() { pool_.join(); }

 private:
  std::shared_ptr<Turn> turn_of(const std::string& who, boost::asio::any_io_executor executor) {
    std::erase_if(turns_, [](const auto& one) { return one.second.expired(); });
    std::weak_ptr<Turn>& known = turns_[who];
    auto turn = known.lock();
    if (!turn) known = turn = std::make_shared<Turn>(std::move(executor), share_);
    return turn;
  }
  // Held until the work is done: whoever goes away meanwhile still has their share.
  template <class T>
  Task<T> run_in_turn(std::string who, std::move_only_function<Result<T>()> job) {
    const auto turn = turn_of(who, co_await boost::asio::this_coro::executor);
    CO_TRY(const Turn::Hold hold, co_await turn->take());
    co_return co_await offload<T>(pool_, std::move(job));
  }

  std::uint32_t share_;
  std::map<std::string, std::weak_ptr<Turn>> turns_;  // of those who have or want a thread
  boost::asio::thread_pool pool_;
};

}  // namespace atl::os
