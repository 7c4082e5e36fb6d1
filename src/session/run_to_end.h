#pragma once

#include "session/execution.h"

namespace atl::session {

// Waits for the end and gives the record; `watch` (may be empty) sees output as it comes.
Task<ExecutionRecord> run_to_end(ExecutionStart start, OutputWatcher watch);

}  // namespace atl::session
