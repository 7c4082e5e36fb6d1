#include "os/fair_pool.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace atl::os {
namespace {

// Work that begins, is seen, and ends when it is let go.
class Gate {
 public:
  Result<int> pass(int number) {
    std::unique_lock lock(mutex_);
    begun_.push_back(number);
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_ > 0; });
    --open_;
    return number;
  }
  void let_go(int count) {
    const std::lock_guard lock(mutex_);
    open_ += count;
    changed_.notify_all();
  }
  // Waits until so many have begun; in the order in which they did.
  std::vector<int> begun(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(30), [&] { return begun_.size() >= count; });
    return begun_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> begun_;
  int open_ = 0;
};

class FairPoolTest : public testing::Test {
 protected:
  void ask(const std::string& who, int number) {
    boost::asio::co_spawn(loop_, one(who, number), boost::asio::detached);
    loop_.poll();
    loop_.restart();
  }
  boost::asio::awaitable<void> one(std::string who, int number) {
    auto work = [this, number] { return gate_.pass(number); };
    const auto done = co_await pool_.run<int>(who, std::move(work));
    if (done) done_.push_back(*done);
  }

  Gate gate_;
  boost::asio::io_context loop_;
  FairPool pool_{2};
  std::vector<int> done_;
};

TEST_F(FairPoolTest, WhoAsksForMuchLeavesThreadsToOthers) {
  for (int number = 1; number <= 5; ++number) ask("busy", number);
  EXPECT_EQ(gate_.begun(1), std::vector{1});
  // Asked last and begun at once: the four that wait have no thread.
  ask("other", 100);
  EXPECT_EQ(gate_.begun(2), (std::vector{1, 100}));
  gate_.let_go(6);
  loop_.run();
  EXPECT_EQ(gate_.begun(6), (std::vector{1, 100, 2, 3, 4, 5}));
  EXPECT_EQ(done_.size(), 6U);
}

TEST_F(FairPoolTest, AnErrorPassesTheTurnOn) {
  gate_.let_go(1);
  const auto fails = [](FairPool& pool) -> boost::asio::awaitable<void> {
    auto work = [] { return Result<int>(fail(Code::no_space, "full")); };
    const auto done = co_await pool.run<int>("busy", std::move(work));
    EXPECT_EQ(done.error().code(), Code::no_space);
  };
  boost::asio::co_spawn(loop_, fails(pool_), boost::asio::detached);
  ask("busy", 1);
  loop_.run();
  EXPECT_EQ(done_, std::vector{1});
}

TEST(FairPool, OneThreadIsSharedInTurn) {
  boost::asio::io_context loop;
  FairPool pool(1);
  std::vector<int> done;
  const auto one = [&](std::string who, int number) -> boost::asio::awaitable<void> {
    auto work = [number]() -> Result<int> { return number; };
    done.push_back((co_await pool.run<int>(who, std::move(work))).value_or(0));
  };
  for (int number = 1; number <= 3; ++number)
    boost::asio::co_spawn(loop, one("a", number), boost::asio::detached);
  boost::asio::co_spawn(loop, one("b", 4), boost::asio::detached);
  loop.run();
  EXPECT_EQ(done.size(), 4U);
  pool.join();
}

}  // namespace
}  // namespace atl::os
