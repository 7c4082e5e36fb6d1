#include "os/turn.h"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <vector>

namespace atl::os {
namespace {

class TurnTest : public testing::Test {
 protected:
  // Notes who got in, and holds its place until it is let go.
  void come(Turn& turn, int who) {
    boost::asio::co_spawn(loop_, enter(turn, who), boost::asio::detached);
    loop_.poll();
    loop_.restart();
  }
  void leave(int who) {
    std::erase_if(inside_, [&](const auto& one) { return one.first == who; });
    loop_.poll();
    loop_.restart();
  }
  std::vector<int> inside() const {
    std::vector<int> numbers;
    for (const auto& [who, hold] : inside_) numbers.push_back(who);
    return numbers;
  }
  boost::asio::awaitable<void> enter(Turn& turn, int who) {
    auto hold = co_await turn.take();
    if (hold) inside_.emplace_back(who, std::move(*hold));
    if (!hold) refused_.push_back(who);
  }

  boost::asio::io_context loop_;
  std::vector<std::pair<int, Turn::Hold>> inside_;
  std::vector<int> refused_;
};

TEST_F(TurnTest, OneAtATimeInTheOrderTheyCame) {
  Turn turn(loop_.get_executor());
  for (int who = 1; who <= 3; ++who) come(turn, who);
  EXPECT_EQ(inside(), std::vector{1});
  leave(1);
  EXPECT_EQ(inside(), std::vector{2});
  leave(2);
  EXPECT_EQ(inside(), std::vector{3});
  leave(3);
  come(turn, 4);
  EXPECT_EQ(inside(), std::vector{4});
}

TEST_F(TurnTest, SoManyAtOnce) {
  Turn turn(loop_.get_executor(), 2);
  for (int who = 1; who <= 4; ++who) come(turn, who);
  EXPECT_EQ(inside(), (std::vector{1, 2}));
  leave(2);
  EXPECT_EQ(inside(), (std::vector{1, 3}));
  leave(1), leave(3);
  EXPECT_EQ(inside(), std::vector{4});
  come(turn, 5);
  EXPECT_EQ(inside(), (std::vector{4, 5}));
}

TEST_F(TurnTest, WhoeverGivesUpLeavesTheLine) {
  Turn turn(loop_.get_executor());
  come(turn, 1);
  boost::asio::cancellation_signal signal;
  boost::asio::co_spawn(loop_, enter(turn, 2),
                        boost::asio::bind_cancellation_slot(signal.slot(), [](const std::exception_ptr&) {}));
  come(turn, 3);
  signal.emit(boost::asio::cancellation_type::terminal);
  loop_.poll();
  loop_.restart();
  leave(1);
  EXPECT_EQ(inside(), std::vector{3});
}

}  // namespace
}  // namespace atl::os
