#pragma once

#include <memory>
#include <variant>

#include "base/error.h"
#include "os/task.h"
#include "sandbox/interpreter.h"
#include "sandbox/process.h"
#include "session/types.h"

namespace atl::session {

// Finished is last and comes exactly once; its record is complete and stored when it comes.
struct Finished {
  ExecutionRecord record;
};
using Event = std::variant<sandbox::Output, sandbox::ResultBundle, sandbox::ExecutionError, Finished>;

// One running execution as its caller sees it. Whoever does not call next() holds the guest back.
// Destroying it before Finished interrupts the execution; the record then says killed.
class Execution {
 public:
  virtual ~Execution() = default;
  virtual const std::string& record_id() const = 0;
  // As in its record: known from the beginning.
  virtual const std::string& interpreter_restarted() const = 0;
  virtual Task<Event> next() = 0;
};

// A started command. The stream is attached from the first byte on; what passes through it is also kept for
// the record, up to the record's limit. The command outlives this handle; its end is recorded either way.
struct Command {
  std::shared_ptr<sandbox::Process> process;
  std::unique_ptr<sandbox::ProcessStream> stream;
  ExecutionRecord record;
  std::shared_ptr<class KeptOutput> kept;  // what passed the stream

  // Kills it because whoever waited for it left; its record then says so.
  Task<void> abandon();
};

// The policy refused it: nothing ran. The record is complete and stored, and holds the verdict.
struct Denied {
  ExecutionRecord record;
  std::string policy;

  // In one line: the first finding with its rule, and how many more there are.
  const std::string& summary() const { return record.error_value; }
};
// Its session ended before it began: nothing ran. The record is complete and stored.
struct Ended {
  ExecutionRecord record;
};

// What became of something that was asked for: it started, it was denied, or its session ended first.
template <class Started>
using Start = std::variant<Started, Denied, Ended>;
using CommandStart = Start<Command>;
using ExecutionStart = Start<std::unique_ptr<Execution>>;

// As an Error, for callers that have no other way to tell: Code::policy_denied with the policy's name and its
// summary, Code::conflict with the reason.
Error to_error(const Denied& denied);
Error to_error(const Ended& ended);

// What started; otherwise why it did not, as an Error.
template <class Started>
Result<Started> started_or_error(Result<Start<Started>> start) {
  if (!start) return fail(std::move(start).error());
  if (const auto* denied = std::get_if<Denied>(&*start)) return fail(to_error(*denied));
  if (const auto* ended = std::get_if<Ended>(&*start)) return fail(to_error(*ended));
  return std::get<Started>(std::move(*start));
}

}  // namespace atl::session
