#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "sandbox/kernel.h"
#include "sandbox/native/native.h"

// For tests: a native provider on a loop of the test's own.
namespace atl::sandbox::native {

class NativeHarness : public testing::Test {
 protected:
  void begin(NativeOptions options) {
    auto provider = start(loop_.get_executor(), std::move(options));
    ASSERT_TRUE(provider) << provider.error().message() << " " << provider.error().detail();
    provider_ = std::move(*provider);
  }
  void TearDown() override {
    if (provider_) {
      const auto done = run(provider_->shut_down());
      EXPECT_TRUE(done) << done.error().message();
    }
  }
  template <class T>
  Result<T> run(Task<T> task) {
    std::optional<Result<T>> result;
    boost::asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr error, Result<T> value) {
      if (error) std::rethrow_exception(error);
      result.emplace(std::move(value));
    });
    while (!result) {
      loop_.restart();
      loop_.run_one();
    }
    return std::move(*result);
  }
  // Lets the loop work for a moment.
  void turn(std::chrono::milliseconds time) {
    loop_.restart();
    loop_.run_for(time);
  }
  std::unique_ptr<Sandbox> sandbox(Spec spec = {}) {
    spec.id = new_sandbox_id();
    auto made = run(provider_->create(std::move(spec)));
    EXPECT_TRUE(made) << made.error().message();
    return made ? std::move(*made) : nullptr;
  }

  struct Executed {
    std::string text;  // output, the text of results, tracebacks
    Outcome outcome;
  };
  static Task<Executed> follow(std::shared_ptr<Kernel> kernel, std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    CO_TRY(const auto stream, co_await kernel->execute(std::move(spec)));
    Executed all;
    for (;;) {
      CO_TRY(ExecutionEvent event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event)) all.text += output->bytes;
      if (auto* result = std::get_if<ResultBundle>(&event)) all.text += result->data.at("text/plain");
      if (auto* error = std::get_if<ExecutionError>(&event)) all.text += error->traceback;
      if (auto* done = std::get_if<ExecutionDone>(&event)) {
        all.outcome = done->outcome;
        co_return all;
      }
    }
  }
  Executed execute(const std::shared_ptr<Kernel>& kernel, std::string code) {
    auto done = run(follow(kernel, std::move(code)));
    EXPECT_TRUE(done) << done.error().message();
    return done ? std::move(*done) : Executed{};
  }
  std::string said(const std::shared_ptr<Kernel>& kernel, std::string code) {
    return execute(kernel, std::move(code)).text;
  }

  boost::asio::io_context loop_;
  std::unique_ptr<Provider> provider_;
};

}  // namespace atl::sandbox::native
