#include "os/offload.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace atl::os {
namespace {

namespace asio = boost::asio;

class OffloadTest : public testing::Test {
 protected:
  // Runs the loop until the task has ended, on this thread.
  template <class T>
  Result<T> wait(Task<T> task) {
    std::optional<Result<T>> result;
    asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr thrown, Result<T> value) {
      EXPECT_EQ(thrown, nullptr);
      result.emplace(std::move(value));
      ended_on_ = std::this_thread::get_id();
    });
    loop_.run();
    loop_.restart();
    if (!result) return fail(Code::internal, "the loop ended before the task");
    return std::move(*result);
  }

  asio::thread_pool pool_{1};
  asio::io_context loop_;
  std::thread::id ended_on_;
};

TEST_F(OffloadTest, WorkRunsOnThePoolAndItsResultComesBackToTheLoop) {
  std::thread::id worked_on;
  const auto result = wait(offload<int>(pool_, [&]() -> Result<int> {
    worked_on = std::this_thread::get_id();
    return 42;
  }));
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 42);
  EXPECT_NE(worked_on, std::this_thread::get_id());
  EXPECT_EQ(ended_on_, std::this_thread::get_id());
}

TEST_F(OffloadTest, AnErrorComesBackAsOne) {
  const auto result = wait(offload<void>(pool_, [] { return Result<void>(fail(Code::no_space, "full")); }));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), Code::no_space);
  EXPECT_EQ(result.error().message(), "full");
}

TEST_F(OffloadTest, WorkAndResultNeedNotBeCopied) {
  auto given = std::make_unique<std::string>("moved in");
  auto work = [given = std::move(given)]() mutable -> Result<std::unique_ptr<std::string>> {
    return std::move(given);
  };
  const auto result = wait(offload<std::unique_ptr<std::string>>(pool_, std::move(work)));
  ASSERT_TRUE(result);
  EXPECT_EQ(**result, "moved in");
}

TEST_F(OffloadTest, ACompletionMayBeCalledBeforeTheTaskWaits) {
  auto at_once = [](Completion<int> done) { done(7); };
  const auto result = wait(completed_elsewhere<int>(at_once));
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 7);
}

}  // namespace
}  // namespace atl::os
