#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "sandbox/interpreter.h"
#include "sandbox/native/native.h"
#include "sandbox/native/scratch_roots_test.h"

// For tests: a native provider on a loop of the test's own.
namespace atl::sandbox::native {

class NativeHarness : public testing::Test {
 protected:
  void begin(NativeOptions options) {
    if (options.spawner.roots.snapshots.empty()) options.spawner.roots = scratch_roots();
    // A root filesystem that a test was told of may be anywhere.
    if (const char* const newer = std::getenv("ATOLL_NEWER_DEBIAN"))
      options.spawner.roots.layers.emplace_back(newer);
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
  static Task<Executed> follow(std::shared_ptr<Interpreter> interpreter, std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    CO_TRY(const auto stream, co_await interpreter->execute(std::move(spec)));
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
  Executed execute(const std::shared_ptr<Interpreter>& interpreter, std::string code) {
    auto done = run(follow(interpreter, std::move(code)));
    EXPECT_TRUE(done) << done.error().message();
    return done ? std::move(*done) : Executed{};
  }
  std::string said(const std::shared_ptr<Interpreter>& interpreter, std::string code) {
    return execute(interpreter, std::move(code)).text;
  }

  boost::asio::io_context loop_;
  std::unique_ptr<Provider> provider_;
};

// Sandboxes of a pool whose interpreters wait for a zygote, so each interpreter here was forked.
class WarmHarness : public NativeHarness {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    begin_warm({});
  }
  void begin_warm(Spec spec) {
    NativeOptions options;
    options.pools.push_back(
        {.environment = "host", .spec = std::move(spec), .ready = 1, .warm = {Language::python}});
    begin(std::move(options));
  }
  // From the pool, once its interpreter is there.
  std::unique_ptr<Sandbox> warm_sandbox(Spec spec = {}) {
    await_full_pool();
    return sandbox(std::move(spec));
  }
  // A pool that is full asks the zygote for nothing.
  void await_full_pool() {
    for (int i = 0; i < 2000 && provider_->pools().front().ready == 0; ++i)
      turn(std::chrono::milliseconds(10));
    EXPECT_EQ(provider_->pools().front().ready, 1U);
  }
  std::shared_ptr<Interpreter> python_interpreter(Sandbox& sandbox, InterpreterOrigin origin) {
    auto interpreter = run(sandbox.create_interpreter(Language::python, ""));
    EXPECT_TRUE(interpreter) << interpreter.error().message();
    if (!interpreter) return nullptr;
    EXPECT_EQ((*interpreter)->info().origin, origin);
    return *interpreter;
  }
  std::shared_ptr<Interpreter> forked_interpreter(Sandbox& sandbox) {
    return python_interpreter(sandbox, InterpreterOrigin::forked);
  }
};

// The same, and copies of them in a directory that goes with the test.
class CheckpointHarness : public WarmHarness {
 protected:
  // What the spawner writes goes into a directory that is there.
  CheckpointHarness() { std::filesystem::create_directory(directory_); }
  void TearDown() override {
    NativeHarness::TearDown();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  std::string new_target() { return directory_ + "/" + random_word(8); }
  Carried checkpoint(Sandbox& sandbox, const std::string& target, CheckpointOptions options = {}) {
    auto carried = run(sandbox.checkpoint(target, options));
    EXPECT_TRUE(carried) << carried.error().message() << " " << carried.error().detail();
    return carried ? *carried : Carried{};
  }
  std::unique_ptr<Sandbox> go_on(const std::string& target, Spec spec = {}) {
    spec.snapshot = target, spec.with_interpreters = true;
    return sandbox(std::move(spec));
  }
  std::shared_ptr<Interpreter> only_interpreter(Sandbox& sandbox) {
    const auto interpreters = sandbox.interpreters();
    EXPECT_EQ(interpreters.size(), 1U);
    return interpreters.empty() ? nullptr : interpreters.front();
  }

  std::string directory_ = "/var/tmp/atoll-capture-test-" + random_word(12);
};

}  // namespace atl::sandbox::native
