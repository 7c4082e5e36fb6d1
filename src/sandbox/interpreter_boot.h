#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guest/runner_protocol.h"
#include "sandbox/interpreter.h"
#include "sandbox/process.h"

namespace atl::sandbox {

// The process that becomes an interpreter, and the first messages to it: their kinds and payloads.
ProcessSpec runner_process(const InterpreterInfo& info);
std::vector<std::pair<guest::ToRunner, std::string_view>> first_messages(const InterpreterInfo& info);

// A variable with the bytes of memory that the sandbox has, for interpreters that must be told: see
// wants_memory().
inline constexpr const char* kMemoryVariable = "ATOLL_MEMORY_BYTES";
bool wants_memory(Language language);

// Why there is no interpreter, for whoever asked for one, and what to do: `problem` is the guest's or the
// boot's own word.
std::string lacks_interpreter(Language language, std::string_view problem);

}  // namespace atl::sandbox
