#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace atl::shell {

// What one execute() of a shell may use. Reaching one ends the script with the limit's own status and "limit
// reached:
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
  std::uint64_t regex_bytes = 32U << 20;    // memory of one compiled expression
  std::uint32_t regex_steps = 2'000'000;    // of one match that needs backtracking
  std::uint64_t archive_entries = 200'000;  // of one archive that is read
  std::uint64_t archive_bytes = 1U << 30;   // one archive or compressed file, unpacked
  std::uint32_t archive_ratio = 2000;       // unpacked to packed, from archive_free_bytes on
  std::uint64_t archive_free_bytes = 16U << 20;
  Duration wall_time = std::chrono::hours(1);
  Duration cpu_time = std::chrono::minutes(30);
};

// Which limit ended a script. The numbers are part of the exit status: they never change.
enum class Limit : std::uint8_t {
  none = 0,
  script_bytes = 1,
  tokens = 2,
  nesting = 3,
  commands = 4,
  iterations = 5,
  work = 6,
  output_bytes = 7,
  expansion_bytes = 8,
  expansion_fields = 9,
  brace_items = 10,
  glob_entries = 11,
  memory_bytes = 12,
  call_depth = 13,
  subshell_depth = 14,
  processes = 15,
  descriptors = 16,
  regex_bytes = 17,
  regex_steps = 18,
  archive_entries = 19,
  archive_bytes = 20,
  archive_ratio = 21,
  wall_time = 22,
  cpu_time = 23,
  deadlock = 24,  // every process of the script waits for another
  defect = 25,    // not a limit: something of ours, or a command of the embedder, threw what nobody expects
};

// For every limit but none, deadlock and defect there is a member of Limits of the same name.
// "commands": as the member of Limits is called.
std::string_view name_of(Limit limit);
// "loop iterations (50000000)".
std::string describe(Limit limit, const Limits& limits);
// What standard error says: the limit, its value, and the name under which it can be raised.
std::string message_of(Limit limit, const Limits& limits);
// Sets a member by name: a number, for times seconds. The error names what is wrong.
Result<void> set_limit(Limits& limits, std::string_view name, std::string_view value);

// 201 and up, one for each limit: beyond the statuses of signals (129 to 192) and those that programs use.
constexpr int status_of(Limit limit) {
  return 200 + static_cast<int>(limit);
}
inline constexpr int canceled_status = 130;

}  // namespace atl::shell
