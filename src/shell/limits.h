#pragma once

#include <cstdint>

#include "base/clock.h"

namespace atl::shell {

// What one execute() of a shell may use. Reaching one ends the script with status 125 and "limit reached:
// ..." on its standard error; the shell itself stays usable.
struct Limits {
  std::uint64_t script_bytes = 8U << 20;
  std::uint64_t commands = 50'000'000;         // simple commands, builtins included
  std::uint64_t work = 200'000'000'000;        // bytes looked at and iterations, as commands charge them
  std::uint64_t output_bytes = 256U << 20;     // to the caller, both streams together
  std::uint64_t expansion_bytes = 32U << 20;   // one word, one substitution, one array element
  std::uint64_t expansion_fields = 2'000'000;  // fields of one command line
  std::uint64_t brace_items = 1'000'000;
  std::uint64_t glob_entries = 5'000'000;  // names looked at by one pattern
  std::uint64_t memory_bytes = 1U << 30;   // held by commands beyond streams
  std::uint32_t call_depth = 4000;         // functions, sourced files, evals
  std::uint32_t subshell_depth = 200;
  std::uint32_t fibers = 1024;  // alive at once: pipeline stages, jobs, process substitutions
  std::uint32_t descriptors = 1024;
  std::uint64_t regex_bytes = 8U << 20;  // memory of one compiled expression
  Duration wall_time = std::chrono::hours(1);
  Duration cpu_time = std::chrono::minutes(30);
};

inline constexpr int limit_status = 125;
inline constexpr int canceled_status = 130;

}  // namespace atl::shell
