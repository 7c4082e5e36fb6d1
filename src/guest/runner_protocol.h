#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// What the host and a runner (runners/) say to each other on the runner's control stream. A message is a line
// of its letter and the size of its payload, and then the payload:
//
//   X 5\n          host to runner: letter, size
//   1 + 1
//   R 31 1f0c\n    runner to host: letter, size, and the mark of the execution that it is about, if it is
//   about one
//
// Fields inside a payload are a size, a line's end, and as many bytes. The runner runs in the sandbox
// together with the user's code: whatever it sends is untrusted. The host bounds every size and ends a runner
// that sends what this table does not allow in its state. Included by host and tests; the runners are held to
// it by runner_protocol_test.cc.
namespace atl::guest {

// The interpreter's states as the host sees them.
enum class InterpreterState : std::uint8_t {
  absent,      // no process yet
  starting,    // a process, which has not said that it is ready
  idle,        // waits for the next execution
  busy,        // executes
  continuing,  // the interpreter died and its spare was told to go on
  parked,      // stands still to be copied
  dead,        // until it is started again
};
using InterpreterStates = std::uint8_t;
constexpr InterpreterStates states() {
  return 0;
}
template <class... More>
constexpr InterpreterStates states(InterpreterState first, More... more) {
  return static_cast<InterpreterStates>((1U << static_cast<unsigned>(first)) | states(more...));
}

enum class ToRunner : char {
  source = 'S',         // read by the line that starts the interpreter, never by the runner itself
  rest = 'C',           // Python: what most cells never need
  spare_module = 'L',   // Python that was started as a program: the extension that makes spares
  mark = 'A',           // names the next execution
  variable_once = 'V',  // for the next execution only
  variable = 'P',       // for good
  execute = 'X',
  execute_types = 'Y',     // JavaScript: TypeScript
  type_stripper = 'T',     // JavaScript: the module that turns TypeScript into JavaScript
  make_spare = 'Q',        // answered by FromRunner::spare
  park = 'B',              // answered by FromRunner::parked
  unpark = 'U',            // read where it parked (zygote/park.cc)
  change_directory = 'W',  // answered by FromRunner::directory
  reseed = 'G',            // Python that was restored with its whole sandbox: runners/python_chance.py
  interrupt = 'I',         // JavaScript, Deno, Java: ends the execution of that mark, unless it is over
};

enum class FromRunner : char {
  ready = 'K',        // started, restored, or the spare that goes on
  lacking = 'N',      // said by what starts an interpreter that is not installed
  start_error = 'E',  // said by a child of a zygote that could not become an interpreter
  result = 'R',
  failure = 'F',
  done = 'D',
  spare = 'Q',
  parked = 'B',
  directory = 'W',
};

enum class Direction : std::uint8_t { to_runner, from_runner };
// every: each runner sends or handles it. some: those of the languages that the row names.
enum class Spoken : std::uint8_t { every, some };

struct RunnerMessage {
  char letter;
  Direction direction;
  Spoken spoken;
  bool has_mark;  // it is about one execution: the host ignores it if that is not the one that runs
  // to_runner: the host sends it then. from_runner: the host takes it then; in other states it is a breach of
  // the protocol, but for late words about an execution that is over.
  InterpreterStates in;
  std::string_view payload;
};

namespace rows {
using enum InterpreterState;
using enum Direction;
using enum Spoken;
constexpr RunnerMessage to(ToRunner letter, Spoken spoken, InterpreterStates in, std::string_view payload) {
  return {static_cast<char>(letter), to_runner, spoken, false, in, payload};
}
constexpr RunnerMessage from(FromRunner letter, Spoken spoken, bool has_mark, InterpreterStates in,
                             std::string_view payload) {
  return {static_cast<char>(letter), from_runner, spoken, has_mark, in, payload};
}
}  // namespace rows

inline constexpr auto kRunnerMessages = [] {
  using namespace rows;
  return std::array{
      to(ToRunner::source, some, states(starting), "the runner's program"),
      to(ToRunner::rest, some, states(starting), "a program"),
      to(ToRunner::spare_module, some, states(idle), "a shared object"),
      to(ToRunner::mark, every, states(busy), "hexadecimal digits"),
      to(ToRunner::variable_once, every, states(busy), "NAME=value"),
      to(ToRunner::variable, every, states(starting, idle, busy, continuing), "NAME=value"),
      to(ToRunner::execute, every, states(busy), "the code"),
      to(ToRunner::execute_types, some, states(busy), "the code"),
      to(ToRunner::type_stripper, some, states(busy), "a module"),
      to(ToRunner::make_spare, some, states(idle),
         "the most bytes it may hold, a space, the word it answers to"),
      to(ToRunner::park, some, states(parked), ""),
      to(ToRunner::unpark, some, states(idle), ""),
      to(ToRunner::change_directory, some, states(idle), "a path"),
      to(ToRunner::reseed, some, states(idle), "a program that has it draw other random numbers"),
      to(ToRunner::interrupt, some, states(busy), "the mark of the execution that is meant"),
      from(FromRunner::ready, every, false, states(starting, continuing),
           "its working directory, or nothing"),
      from(FromRunner::lacking, some, false, states(starting), "what is not there"),
      from(FromRunner::start_error, some, false, states(starting), "why"),
      from(FromRunner::result, some, true, states(busy),
           "1 for the cell's value, 0 for what was shown; fields: MIME type, form, ..."),
      from(FromRunner::failure, every, true, states(busy), "fields: name, value, traceback"),
      from(FromRunner::done, every, true, states(busy), "exit code, a space, how many were executed"),
      from(FromRunner::spare, some, false, states(idle, busy, parked),
           "its process number, or why there is none"),
      from(FromRunner::parked, some, false, states(parked), "what of it cannot be copied, or nothing"),
      from(FromRunner::directory, some, false, states(idle), "nothing, or why it cannot be entered"),
  };
}();

// Its row; null if there is no such message in that direction.
constexpr const RunnerMessage* find_message(Direction direction, char letter) {
  for (const RunnerMessage& row : kRunnerMessages)
    if (row.direction == direction && row.letter == letter) return &row;
  return nullptr;
}

constexpr bool is_in(InterpreterState state, InterpreterStates among) {
  return (among & states(state)) != 0;
}

}  // namespace atl::guest
