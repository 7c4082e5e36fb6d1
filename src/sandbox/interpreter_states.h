#pragma once

#include <array>

#include "guest/runner_protocol.h"

namespace atl::sandbox {

using guest::InterpreterState;

// Which state may follow which, and what makes it so. Everything that GuestInterpreter does goes along these;
// what a runner may say in each is in guest/runner_protocol.h.
struct InterpreterStep {
  InterpreterState from, to;
};
inline constexpr auto kInterpreterSteps = [] {
  using enum InterpreterState;
  return std::array{
      InterpreterStep{absent, starting},  // start(), or a copy of another interpreter
      InterpreterStep{absent, dead},      // shut down before it was started
      InterpreterStep{starting, idle},    // it said that it is ready
      InterpreterStep{starting, dead},    // its process ended, did not become ready, or could not be started
      InterpreterStep{idle, busy},        // the next execution begins
      InterpreterStep{idle, parked},      // park()
      InterpreterStep{idle, continuing},  // it died between executions, and its spare goes on
      InterpreterStep{idle, dead},        // it died and has no spare, or is shut down
      InterpreterStep{busy, idle},        // the execution is over
      InterpreterStep{busy, continuing},  // it died while it executed, and its spare goes on
      InterpreterStep{busy, dead},        // the same without a spare
      InterpreterStep{continuing, idle},  // the spare is ready
      InterpreterStep{continuing,
                      busy},  // the spare is ready, and what its execution left behind is being ended
      InterpreterStep{continuing, dead},  // the spare ended too
      InterpreterStep{parked, idle},      // unpark()
      InterpreterStep{parked, dead},      // it ended while it was parked
      InterpreterStep{dead, starting},    // restart(), or another way to start it
  };
}();

constexpr bool can_follow(InterpreterState from, InterpreterState to) {
  if (from == to) return true;
  for (const InterpreterStep& step : kInterpreterSteps)
    if (step.from == from && step.to == to) return true;
  return false;
}

}  // namespace atl::sandbox
