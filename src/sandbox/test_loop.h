#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/ids.h"
#include "sandbox/provider.h"

// For tests of providers: a loop, and short words for what tests do all the time.
namespace atl::sandbox {

struct Ran {
  std::string out, err;
  Outcome outcome;
};

class TestLoop {
 public:
  // Emulated machines say how much more time things take there.
  static int slowness() {
    const char* told = std::getenv("ATOLL_TEST_SLOW");
    return told == nullptr ? 1 : std::max(1, std::atoi(told));
  }

  boost::asio::io_context& context() { return loop_; }

  // Runs a coroutine to its end.
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

  std::unique_ptr<Sandbox> create(Provider& provider, Spec spec = {}) {
    if (spec.id.empty()) spec.id = new_sandbox_id();
    auto sandbox = run(provider.create(spec));
    EXPECT_TRUE(sandbox) << sandbox.error().message() << " | " << sandbox.error().detail();
    return sandbox ? std::move(*sandbox) : nullptr;
  }

  // A script to its end. A start that failed is Ending::lost with the message as output.
  Ran shell(Sandbox& sandbox, std::string script, std::string user = "") {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", "-c", std::move(script)};
    spec.user = std::move(user);
    spec.wall_time = std::chrono::seconds(30) * slowness();
    return finish(sandbox, std::move(spec));
  }

  Ran finish(Sandbox& sandbox, ProcessSpec spec, std::string input = {}) {
    auto ran = run(collect(sandbox, std::move(spec), std::move(input)));
    EXPECT_TRUE(ran) << ran.error().message();
    return ran ? std::move(*ran) : Ran{};
  }

  // Code in an interpreter to its end; results and tracebacks count as output.
  Ran execute(Interpreter& interpreter, std::string code) {
    auto ran = run(follow(interpreter, std::move(code)));
    EXPECT_TRUE(ran) << ran.error().message();
    return ran ? std::move(*ran) : Ran{};
  }

  Result<std::string> read(Sandbox& sandbox, std::string path) {
    return run(read_all(sandbox, std::move(path)));
  }
  Result<FileInfo> write(Sandbox& sandbox, std::string path, std::string bytes) {
    return run(write_all(sandbox, std::move(path), std::move(bytes)));
  }

 private:
  static Task<Ran> collect(Sandbox& sandbox, ProcessSpec spec, std::string input) {
    Ran ran;
    if (!input.empty()) spec.stdin_mode = Stdin::pipe;
    auto started = co_await sandbox.start(std::move(spec));
    if (!started) {
      ran.out = started.error().message();
      ran.outcome.ending = Ending::lost;
      co_return ran;
    }
    auto stream = (*started)->attach(Replay::recent);
    if (!input.empty()) {
      CO_CHECK(co_await (*started)->write_stdin(std::move(input)));
      CO_CHECK(co_await (*started)->close_stdin());
    }
    for (;;) {
      CO_TRY(ProcessEvent event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event))
        (output->stream == Stream::err ? ran.err : ran.out) += output->bytes;
      if (auto* outcome = std::get_if<Outcome>(&event)) {
        ran.outcome = *outcome;
        co_return ran;
      }
    }
  }

  static Task<Ran> follow(Interpreter& interpreter, std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    CO_TRY(const auto stream, co_await interpreter.execute(std::move(spec)));
    Ran ran;
    for (;;) {
      CO_TRY(ExecutionEvent event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event))
        (output->stream == Stream::err ? ran.err : ran.out) += output->bytes;
      if (auto* result = std::get_if<ResultBundle>(&event)) ran.out += result->data.at("text/plain");
      if (auto* error = std::get_if<ExecutionError>(&event)) ran.out += error->traceback;
      if (auto* done = std::get_if<ExecutionDone>(&event)) {
        ran.outcome = done->outcome;
        co_return ran;
      }
    }
  }

  static Task<std::string> read_all(Sandbox& sandbox, std::string path) {
    CO_TRY(auto reader, co_await sandbox.files().open_read(std::move(path), 0, std::nullopt, ""));
    std::string all;
    for (;;) {
      CO_TRY(std::string part, co_await reader->next());
      if (part.empty()) co_return all;
      all += part;
    }
  }

  static Task<FileInfo> write_all(Sandbox& sandbox, std::string path, std::string bytes) {
    WriteOptions options;
    CO_TRY(auto writer, co_await sandbox.files().open_write(std::move(path), std::move(options)));
    CO_CHECK(co_await writer->write(std::move(bytes)));
    co_return co_await writer->finish();
  }

  boost::asio::io_context loop_;
};

}  // namespace atl::sandbox
