#pragma once

#include "sandbox/interpreter_harness.h"

namespace atl::sandbox {

// Cells that attack the program that executes them.
class HostileInterpreterTest : public GuestInterpreterTest {
 protected:
  // The cell is answered in time one way or the other; if the interpreter died of it, it says so, and a
  // restart helps.
  Cell attack(std::string code) {
    ExecutionSpec spec;
    spec.code = std::move(code);
    spec.wall_time = std::chrono::seconds(20);
    return execute(std::move(spec));
  }
  bool is_dead() {
    ExecutionSpec spec;
    spec.code = "1";
    spec.wall_time = std::chrono::seconds(20);
    auto cell = run(cell_of(interpreter(), std::move(spec)));
    return !cell && cell.error().code() == Code::conflict && cell.error().field() == kDeadInterpreter;
  }
  bool answers() {
    ExecutionSpec spec;
    spec.code = "1";
    spec.wall_time = std::chrono::seconds(20);
    auto cell = run(cell_of(interpreter(), std::move(spec)));
    return cell && cell->outcome.succeeded();
  }
  void expect_restart(const std::string& code, const std::string& out) {
    EXPECT_TRUE(is_dead());
    auto restarted = run(interpreter()->restart());
    ASSERT_TRUE(restarted) << restarted.error().message();
    EXPECT_EQ(execute(code).out, out);
  }
};

}  // namespace atl::sandbox
