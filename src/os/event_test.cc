#include "os/event.h"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <string>

#include "os/timer.h"

namespace atl::os {
namespace {

using namespace std::chrono_literals;

class EventTest : public testing::Test {
 public:
  void note(const char* word) { said_ += word; }
  // Runs it as far as it goes; what it came to is in `ended_`.
  void start(boost::asio::awaitable<void> work) {
    boost::asio::co_spawn(loop_, std::move(work),
                          boost::asio::bind_cancellation_slot(signal_.slot(), [this](std::exception_ptr why) {
                            ended_ = why ? "thrown" : "returned";
                          }));
    turn();
  }
  void cancel() {
    signal_.emit(boost::asio::cancellation_type::terminal);
    turn();
  }
  void turn() {
    loop_.poll();
    loop_.restart();
  }
  // Something that cannot be canceled while it lasts: it goes on when go_on_ is called.
  boost::asio::awaitable<void> stubborn() {
    co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
        [this](auto handler) {
          go_on_ = [this, kept = std::make_shared<decltype(handler)>(std::move(handler))] {
            boost::asio::post(loop_, [kept] { (*kept)(); });
          };
        },
        boost::asio::use_awaitable);
  }

 protected:
  boost::asio::io_context loop_;
  boost::asio::cancellation_signal signal_;
  std::function<void()> go_on_;
  std::string ended_, said_;
};

TEST_F(EventTest, EndsAtTheNextNotice) {
  Event event(loop_.get_executor());
  start([](Event& on, std::string& said) -> boost::asio::awaitable<void> {
    said = co_await on.wait() ? "noticed" : "canceled";
  }(event, said_));
  EXPECT_EQ(ended_, "");
  event.notify();
  turn();
  EXPECT_EQ(said_, "noticed");
}

TEST_F(EventTest, WhoIsCanceledIsToldAndMayStillClearUp) {
  Event event(loop_.get_executor());
  start([](EventTest* test, Event& on, boost::asio::io_context& loop) -> boost::asio::awaitable<void> {
    if (auto waited = co_await on.wait(); !waited && waited.error().code() == Code::canceled)
      test->note("told ");
    boost::asio::steady_timer timer(loop, 0ms);
    co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    test->note("cleared");
  }(this, event, loop_));
  cancel();
  loop_.run_for(100ms);
  EXPECT_EQ(said_, "told cleared");
  EXPECT_EQ(ended_, "returned");
}

// A wait that ended well leaves the coroutine as it was: canceled later, where nothing can be canceled, it
// does not come back from there.
TEST_F(EventTest, LeavesCancellationAsItWas) {
  Event event(loop_.get_executor());
  start([](EventTest* test, Event& on, boost::asio::io_context& loop) -> boost::asio::awaitable<void> {
    (void)co_await on.wait();
    (void)co_await sleep_for(loop.get_executor(), 0ms);
    test->note("waited ");
    co_await test->stubborn();
    boost::asio::steady_timer hour(loop, 1h);
    co_await hour.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    test->note("an hour later");
  }(this, event, loop_));
  event.notify();
  loop_.run_for(100ms);
  loop_.restart();
  EXPECT_EQ(said_, "waited ");
  cancel();
  ASSERT_TRUE(go_on_);
  go_on_();
  loop_.run_for(100ms);
  EXPECT_EQ(ended_, "thrown");
  EXPECT_EQ(said_, "waited ");
}

}  // namespace
}  // namespace atl::os
