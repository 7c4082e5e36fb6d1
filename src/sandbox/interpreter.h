#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "os/task.h"
#include "sandbox/outcome.h"
#include "sandbox/process.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

enum class Language : std::uint8_t { python, javascript, typescript, shell, r, java, deno };

std::string_view to_string(Language language);
// Accepts the usual spellings: python, python3, py; javascript, js, node; typescript, ts; shell, bash, sh; r;
// java; deno, which is TypeScript and JavaScript in Deno, while those two are executed by Node.
std::optional<Language> parse_language(std::string_view word);
// The language whose interpreters execute it: TypeScript is JavaScript once its types are gone.
Language interpreter_language(Language language);

// How an interpreter came to be. Both behave the same; one is ready sooner and shares its memory.
enum class InterpreterOrigin : std::uint8_t {
  started,  // as any program
  forked,   // from a zygote that had imported the usual modules
};

struct InterpreterInfo {
  std::string id;
  Language language;
  std::string cwd;
  InterpreterOrigin origin = InterpreterOrigin::started;
};

// One displayed value in all its representations: MIME type to text (binary types in base64).
struct ResultBundle {
  std::map<std::string, std::string> data;
  bool is_main = false;  // the value of the last expression, as against something displayed on the way
};

// An exception that the code did not catch, in the words of its language.
struct ExecutionError {
  std::string name, value, traceback;
};

// The end of an execution. The count is the runner's own and starts anew with a new interpreter; 0 if the
// interpreter died.
struct ExecutionDone {
  Outcome outcome;
  std::uint64_t execution_count = 0;
};

// Done is last and comes exactly once. An uncaught exception gives ExecutionError, then Done with exit
// code 1. An interpreter that died gives Done with how it died.
using ExecutionEvent = std::variant<Output, ResultBundle, ExecutionError, ExecutionDone>;

struct ExecutionSpec {
  std::string code;
  std::optional<Language> language;                    // of the code; unset: the interpreter's
  Variables env;                                       // for this execution, restored afterwards
  std::optional<std::chrono::milliseconds> wall_time;  // then interrupted, and killed if that does not help
  std::optional<std::uint64_t> output_bytes;
};

// What one execution tells, owned by whoever asked for it. A listener that does not call next() holds the
// program back once its output fills the window. Destroying it interrupts the execution, or takes it out of
// the queue.
class ExecutionStream {
 public:
  virtual ~ExecutionStream() = default;
  // Waits for the next event. Code::conflict after ExecutionDone.
  virtual Task<ExecutionEvent> next() = 0;
};

// The field of the error of an execution that was refused because its interpreter is dead and waits for
// restart().
inline constexpr std::string_view kDeadInterpreter = "kernel";

// A stateful interpreter inside a sandbox: what an execution defines, the next one sees. Executions queue;
// destroying the stream of a running one interrupts it. Belongs to the loop thread, as its sandbox does.
class Interpreter {
 public:
  virtual ~Interpreter() = default;
  virtual const InterpreterInfo& info() const = 0;
  // Success: it is queued; how it went is in the stream. Code::conflict with the field kDeadInterpreter if
  // the interpreter is dead, Code::resource_exhausted if too many wait, Code::invalid_argument for a language
  // or a variable that it cannot take. Nothing is executed then.
  virtual Task<std::unique_ptr<ExecutionStream>> execute(ExecutionSpec spec) = 0;
  // Of what is being executed; success if there is nothing. Does not wait for its end. Code that does not
  // react is interrupted again and killed in the end, and the interpreter with it. Code::conflict if dead.
  virtual Task<void> interrupt() = 0;
  // A fresh interpreter under the same id; variables are gone, and what was queued ends with Ending::killed.
  // On failure it is dead, and restart() may be tried again.
  virtual Task<void> restart() = 0;
  // Why its interpreter is dead and waits for restart(); empty while it lives.
  virtual std::string death() const { return {}; }
};

}  // namespace atl::sandbox
