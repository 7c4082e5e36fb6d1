#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace atl::shell {

// What one execute() of a shell may use. Reaching one ends the script with limit_status and "limit reached:
// ..." on its standard error, and Executed::limit says which; the shell itself stays usable.
struct Limits {
  std::uint64_t script_bytes = 8U << 20;       // one text: a script, a sourced file, an eval
  std::uint64_t tokens = 100'000'000;          // words read by the parser, evals included
  std::uint32_t nesting = 1000;                // constructs inside constructs, as parsed
  std::uint64_t commands = 50'000'000;         // simple commands, builtins included
  std::uint64_t iterations = 50'000'000;       // passes of for, while, until and select
  std::uint64_t work = 200'000'000'000;        // bytes looked at and steps taken, as commands charge them
  std::uint64_t output_bytes = 256U << 20;     // to the caller, both streams together
  std::uint64_t expansion_bytes = 32U << 20;   // one word, one substitution, one variable
  std::uint64_t expansion_fields = 2'000'000;  // fields of one command line, elements read into an array
  std::uint64_t brace_items = 1'000'000;
  std::uint64_t glob_entries = 5'000'000;  // names looked at by one pattern
  std::uint64_t memory_bytes = 1U << 30;   // variables, and what commands hold beyond streams
  std::uint32_t call_depth = 4000;         // functions, sourced files, evals
  std::uint32_t subshell_depth = 200;
  std::uint32_t processes = 1024;  // alive at once: pipeline stages, jobs, process substitutions
  std::uint32_t descriptors = 1024;
  std::uint64_t regex_bytes = 32U << 20;   // memory of one compiled expression
  std::uint32_t regex_steps = 2'000'000;   // of one match that needs backtracking
  std::uint64_t archive_entries = 200'000;  // of one archive that is read
  std::uint64_t archive_bytes = 1U << 30;   // one archive or compressed file, unpacked
  std::uint32_t archive_ratio = 2000;       // unpacked to packed, from archive_free_bytes on
  std::uint64_t archive_free_bytes = 16U << 20;
  Duration wall_time = std::chrono::hours(1);
  Duration cpu_time = std::chrono::minutes(30);
};

// Which limit ended a script.
enum class Limit : std::uint8_t {
  none,
  script_bytes,
  tokens,
  nesting,
  commands,
  iterations,
  work,
  output_bytes,
  expansion_bytes,
  expansion_fields,
  brace_items,
  glob_entries,
  memory_bytes,
  call_depth,
  subshell_depth,
  processes,
  descriptors,
  regex,
  archive_entries,
  archive_bytes,
  archive_ratio,
  wall_time,
  cpu_time,
  deadlock,  // every process of the script waits for another
};

// "commands (50000000)": what the message says after "limit reached: ".
std::string describe(Limit limit, const Limits& limits);

inline constexpr int limit_status = 125;
inline constexpr int canceled_status = 130;

}  // namespace atl::shell
