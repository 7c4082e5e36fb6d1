// Calls that a process outside answers: nobody, somebody else, too late, too many; then the good ones.
#include "tools/served_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace atl::tools {
namespace {

namespace asio = boost::asio;
namespace bj = boost::json;
using namespace std::chrono_literals;
using testing::ElementsAre;

class ServedCallsTest : public testing::Test {
 protected:
  ServedCalls::Question question(std::string tool = "t", std::chrono::milliseconds timeout = 20s,
                                 std::string tenant = "one") {
    return {std::move(tenant), std::move(tool), "ses_1", bj::object{{"a", 1}}, timeout};
  }
  // Begins; the result is there once it has ended.
  template <class T>
  std::shared_ptr<std::optional<Result<T>>> begin(Task<T> task) {
    auto ended = std::make_shared<std::optional<Result<T>>>();
    asio::co_spawn(loop_, std::move(task), [ended](std::exception_ptr thrown, Result<T> value) {
      EXPECT_EQ(thrown, nullptr);
      ended->emplace(std::move(value));
    });
    turn();
    return ended;
  }
  void turn() {
    loop_.restart();
    loop_.poll();
  }
  template <class T>
  Result<T> end(const std::shared_ptr<std::optional<Result<T>>>& of) {
    loop_.restart();
    while (!*of && loop_.run_one_for(20s) > 0) {
    }
    if (!*of) return fail(Code::internal, "it never ended");
    return std::move(**of);
  }
  template <class T>
  Result<T> wait(Task<T> task) {
    return end(begin(std::move(task)));
  }
  static ToolEvent progress(double number) {
    return {.kind = ToolEvent::Kind::progress, .text = "", .progress = number, .total = {}};
  }

  asio::io_context loop_;
  ServedCalls calls_{loop_.get_executor(), &Clock::machine(), {.untaken_max = 60ms, .takers_max = 2}};
};

TEST_F(ServedCallsTest, ACallThatNobodyTakesIsOver) {
  const auto answer = wait(calls_.ask(question(), {}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::unavailable);
  EXPECT_THAT(answer.error().message(), testing::HasSubstr("no process serves the tool 't'"));
  EXPECT_FALSE(*wait(calls_.take("one", {"t"}, 0ms))) << "nothing of it is left to take";
}

TEST_F(ServedCallsTest, ACallThatIsNotAnsweredInTimeIsOver) {
  const auto asked = begin(calls_.ask(question("t", 50ms), {}));
  const auto taken = wait(calls_.take("one", {"t"}, 1s)).value();
  ASSERT_TRUE(taken);
  EXPECT_EQ(end(asked).error().code(), Code::deadline_exceeded);
  EXPECT_EQ(
      calls_.finish("one", taken->call_id, {.output = 1, .error = "", .error_value = ""}).error().code(),
      Code::not_found);
  EXPECT_EQ(calls_.tell("one", taken->call_id, progress(1)).error().code(), Code::not_found);
}

TEST_F(ServedCallsTest, OfAnotherTenantOrToolNothingIsSeen) {
  const auto asked = begin(calls_.ask(question(), {}));
  EXPECT_FALSE(*wait(calls_.take("two", {"t"}, 0ms)));
  EXPECT_FALSE(*wait(calls_.take("one", {"other"}, 0ms)));
  const auto taken = wait(calls_.take("one", {"other", "t"}, 0ms)).value();
  ASSERT_TRUE(taken);
  EXPECT_FALSE(*wait(calls_.take("one", {"t"}, 0ms))) << "it is taken";
  EXPECT_EQ(calls_.tell("two", taken->call_id, progress(1)).error().code(), Code::not_found);
  EXPECT_EQ(calls_.finish("two", taken->call_id, {}).error().code(), Code::not_found);
  ASSERT_TRUE(calls_.finish("one", taken->call_id, {.output = 2, .error = "", .error_value = ""}));
  EXPECT_EQ(calls_.finish("one", taken->call_id, {}).error().code(), Code::not_found) << "answered already";
  EXPECT_EQ(end(asked)->output, 2);
}

TEST_F(ServedCallsTest, OneThatNobodyHasTakenCannotBeAnswered) {
  const auto asked = begin(calls_.ask(question(), {}));
  EXPECT_EQ(calls_.finish("one", "call_guessed", {}).error().code(), Code::not_found);
  EXPECT_EQ(end(asked).error().code(), Code::unavailable);
}

TEST_F(ServedCallsTest, ProcessesThatWaitHaveABound) {
  const auto first = begin(calls_.take("one", {"t"}, 20s)), second = begin(calls_.take("one", {"t"}, 20s));
  EXPECT_EQ(wait(calls_.take("one", {"t"}, 20s)).error().code(), Code::resource_exhausted);
  EXPECT_FALSE(*wait(calls_.take("two", {"t"}, 1ms))) << "of each tenant";
  // Each call goes to one of them; a wake-up for another tool is none.
  const auto other = begin(calls_.ask(question("other", 100ms), {}));
  EXPECT_FALSE(*first || *second);
  const auto one = begin(calls_.ask(question(), {})), two = begin(calls_.ask(question(), {}));
  const auto taken = end(first).value(), taken_too = end(second).value();
  ASSERT_TRUE(taken && taken_too);
  EXPECT_NE(taken->call_id, taken_too->call_id);
  for (const auto& each : {taken, taken_too})
    EXPECT_TRUE(calls_.finish("one", each->call_id, {.output = 1, .error = "", .error_value = ""}));
  EXPECT_TRUE(end(one) && end(two));
  EXPECT_FALSE(end(other));
  EXPECT_FALSE(*wait(calls_.take("one", {"t"}, 1ms))) << "their places are free again";
}

TEST_F(ServedCallsTest, TheOldestIsTakenFirstWithEverythingItNeeds) {
  const auto first = begin(calls_.ask(question("t", 5s), {})), second = begin(calls_.ask(question("u"), {}));
  const auto taken = wait(calls_.take("one", {"u", "t"}, 0ms)).value();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->tool, "t");
  EXPECT_EQ(taken->session_id, "ses_1");
  EXPECT_EQ(taken->input, (bj::object{{"a", 1}}));
  EXPECT_GT(taken->deadline, Clock::machine().now());
  EXPECT_LT(taken->deadline, Clock::machine().now() + 6s);
  EXPECT_EQ(wait(calls_.take("one", {"u"}, 0ms)).value()->tool, "u");
}

// Those that wait when the service ends are destroyed with the loop, after it.
TEST_F(ServedCallsTest, WhoeverStillWaitsAtTheEndDoesNoHarm) {
  auto calls = std::make_unique<ServedCalls>(loop_.get_executor(), &Clock::machine(), ServedCalls::Options());
  const auto asked = begin(calls->ask(question("t", 20s), {}));
  const auto waiting = begin(calls->take("two", {"t"}, 20s));
  calls.reset();
  EXPECT_FALSE(*asked || *waiting);
}

TEST_F(ServedCallsTest, ReportsReachTheCallerInOrderAndTheLatestAreKept) {
  std::vector<double> told;
  const auto asked = begin(calls_.ask(question(), [&](ToolEvent event) -> Task<void> {
    told.push_back(*event.progress);
    co_return Result<void>();
  }));
  const std::string id = wait(calls_.take("one", {"t"}, 1s)).value()->call_id;
  ASSERT_TRUE(calls_.tell("one", id, progress(1)));
  ASSERT_TRUE(calls_.tell("one", id, progress(2)));
  turn();
  EXPECT_THAT(told, ElementsAre(1, 2));
  told.clear();
  // Nobody has read meanwhile: the oldest are dropped.
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(calls_.tell("one", id, progress(i)));
  ASSERT_TRUE(calls_.finish("one", id, {.output = nullptr, .error = "KeyError", .error_value = "a"}));
  const auto answer = end(asked);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error, "KeyError");
  ASSERT_EQ(told.size(), 256U);
  EXPECT_EQ(told.front(), 44);
  EXPECT_EQ(told.back(), 299);
}

TEST_F(ServedCallsTest, ACallerThatCannotBeToldHasLeft) {
  const auto asked = begin(calls_.ask(
      question(), [](ToolEvent) -> Task<void> { co_return fail(Code::canceled, "the caller has left"); }));
  const std::string id = wait(calls_.take("one", {"t"}, 1s)).value()->call_id;
  ASSERT_TRUE(calls_.tell("one", id, progress(1)));
  EXPECT_EQ(end(asked).error().code(), Code::canceled);
  EXPECT_EQ(calls_.tell("one", id, progress(2)).error().code(), Code::not_found);
}

TEST_F(ServedCallsTest, WhoeverIsCanceledLeavesNothingBehind) {
  asio::cancellation_signal signal;
  std::optional<Code> ended;
  asio::co_spawn(loop_, calls_.ask(question("t", 20s), {}),
                 asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr thrown, auto answer) {
                   ended = thrown == nullptr && !answer ? answer.error().code() : Code::internal;
                 }));
  turn();
  const std::string id = wait(calls_.take("one", {"t"}, 0ms)).value()->call_id;
  signal.emit(asio::cancellation_type::terminal);
  turn();
  EXPECT_TRUE(ended);
  EXPECT_EQ(calls_.finish("one", id, {}).error().code(), Code::not_found);
}

}  // namespace
}  // namespace atl::tools
