#pragma once

#include <memory>
#include <variant>

#include "os/task.h"
#include "sandbox/kernel.h"
#include "sandbox/process.h"
#include "session/types.h"

namespace atl::session {

// Finished is last and comes exactly once; its record is complete and stored when it comes. A denied
// execution gives Finished (status denied) alone.
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
  virtual Task<Event> next() = 0;
};

// A started command. The stream is attached from the first byte on; what passes through it is also kept for
// the record, up to the record's limit. The command outlives this handle; its end is recorded either way.
// `process` is empty for a command that never began (denied, or its session ended first): `record` then says why.
struct Command {
  std::shared_ptr<sandbox::Process> process;
  std::unique_ptr<sandbox::ProcessStream> stream;
  ExecutionRecord record;
  std::shared_ptr<class KeptOutput> kept;  // what passed the stream

  // Kills it because whoever waited for it left; its record then says so.
  Task<void> abandon();
};

}  // namespace atl::session
