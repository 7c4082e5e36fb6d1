#pragma once

#include <gtest/gtest.h>

#include "sandbox/guest_harness.h"

namespace atl::sandbox {

// An interpreter of language_ on this machine, and what its cells say.
class GuestInterpreterTest : public GuestTest {
 protected:
  struct Cell {
    std::string out, err;
    std::vector<ResultBundle> results;
    std::vector<ExecutionError> errors;
    Outcome outcome;
    std::uint64_t count = 0;

    std::string text() const { return results.empty() ? "" : results.back().data.at("text/plain"); }
    std::string error() const { return errors.empty() ? "" : errors.back().name; }
  };

  static Task<Cell> hear(std::unique_ptr<ExecutionStream> stream) {
    Cell cell;
    for (;;) {
      CO_TRY(ExecutionEvent event, co_await stream->next());
      if (auto* output = std::get_if<Output>(&event)) {
        (output->stream == Stream::err ? cell.err : cell.out) += output->bytes;
      } else if (auto* result = std::get_if<ResultBundle>(&event)) {
        cell.results.push_back(*result);
      } else if (auto* error = std::get_if<ExecutionError>(&event)) {
        cell.errors.push_back(*error);
      } else {
        cell.outcome = std::get<ExecutionDone>(event).outcome;
        cell.count = std::get<ExecutionDone>(event).execution_count;
        co_return cell;
      }
    }
  }
  static Task<Cell> cell_of(std::shared_ptr<Interpreter> interpreter, ExecutionSpec spec) {
    CO_TRY(auto stream, co_await interpreter->execute(std::move(spec)));
    co_return co_await hear(std::move(stream));
  }
  Cell execute(ExecutionSpec spec) {
    auto cell = run(cell_of(interpreter(), std::move(spec)));
    EXPECT_TRUE(cell) << cell.error().message();
    return cell ? *cell : Cell{};
  }
  Cell execute(std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    return execute(std::move(spec));
  }

  std::shared_ptr<Interpreter> interpreter() {
    if (interpreter_) return interpreter_;
    auto made = run(connection()->create_interpreter(language_, "/tmp"));
    EXPECT_TRUE(made) << made.error().message();
    if (made) interpreter_ = *made;
    return interpreter_;
  }

  Language language_ = Language::python;
  std::shared_ptr<Interpreter> interpreter_;
};

}  // namespace atl::sandbox
