#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "sandbox/limits.h"

// Every limit, once. Requests, YAML, answers, the store and the spawner's protocol go through this table; to
// add a limit, add a member to Limits (limits.h), and here a member to LimitsPatch and a row to kLimits.
namespace atl::sandbox {

// Some of the limits; a member that is set replaces the one beneath.
struct LimitsPatch {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<double> cpu_cores;
  std::optional<std::chrono::milliseconds> wall_time;
  std::optional<std::chrono::milliseconds> cpu_time;
  std::optional<std::uint32_t> processes_max;
  std::optional<std::uint64_t> disk_bytes;
  std::optional<std::uint64_t> inodes_max;
  std::optional<std::uint32_t> open_files_max;
  std::optional<std::uint64_t> output_bytes;
  std::optional<std::uint64_t> io_bytes_per_second;

  bool operator==(const LimitsPatch&) const = default;
};

// How a client writes a limit. We keep bytes and milliseconds.
enum class LimitUnit : std::uint8_t { count, cores, megabytes, seconds };
// What a limit binds: the whole sandbox, or each execution and each foreground command in it.
enum class LimitScope : std::uint8_t { sandbox, execution };
// Who may set it and see it: clients in their requests, or only the operator in the registry.
enum class LimitSetter : std::uint8_t { client, operator_only };
// What a value of zero means.
enum class LimitZero : std::uint8_t { is_zero, is_unlimited };

using LimitMember =
    std::variant<std::uint64_t Limits::*, std::uint32_t Limits::*, double Limits::*,
                 std::chrono::milliseconds Limits::*, std::optional<std::chrono::milliseconds> Limits::*>;
using PatchMember =
    std::variant<std::optional<std::uint64_t> LimitsPatch::*, std::optional<std::uint32_t> LimitsPatch::*,
                 std::optional<double> LimitsPatch::*,
                 std::optional<std::chrono::milliseconds> LimitsPatch::*>;

struct LimitRow {
  std::string_view name;         // in requests, answers and YAML
  std::string_view stored_name;  // in the store
  LimitUnit unit;
  double least, most;  // what a client may ask for, in its unit
  LimitMember member;
  PatchMember patch_member;
  LimitScope scope;
  LimitSetter setter = LimitSetter::client;
  LimitZero zero = LimitZero::is_zero;
};

inline constexpr std::array kLimits = {
    LimitRow{"memory_mb", "memory_bytes", LimitUnit::megabytes, 4, 1 << 24, &Limits::memory_bytes,
             &LimitsPatch::memory_bytes, LimitScope::sandbox},
    LimitRow{"cpu_cores", "cpu_cores", LimitUnit::cores, 0.01, 1024, &Limits::cpu_cores,
             &LimitsPatch::cpu_cores, LimitScope::sandbox},
    LimitRow{"execution_time_seconds", "wall_time_ms", LimitUnit::seconds, 0.01, 86400, &Limits::wall_time,
             &LimitsPatch::wall_time, LimitScope::execution},
    LimitRow{"cpu_time_seconds", "cpu_time_ms", LimitUnit::seconds, 0.01, 86400, &Limits::cpu_time,
             &LimitsPatch::cpu_time, LimitScope::execution},
    LimitRow{"max_processes", "processes_max", LimitUnit::count, 1, 100'000, &Limits::processes_max,
             &LimitsPatch::processes_max, LimitScope::sandbox},
    LimitRow{"disk_mb", "disk_bytes", LimitUnit::megabytes, 1, 1 << 24, &Limits::disk_bytes,
             &LimitsPatch::disk_bytes, LimitScope::sandbox},
    LimitRow{"max_inodes", "inodes_max", LimitUnit::count, 100, 1'000'000'000, &Limits::inodes_max,
             &LimitsPatch::inodes_max, LimitScope::sandbox},
    LimitRow{"max_open_files", "open_files_max", LimitUnit::count, 16, 1 << 20, &Limits::open_files_max,
             &LimitsPatch::open_files_max, LimitScope::sandbox},
    LimitRow{"output_mb", "output_bytes", LimitUnit::megabytes, 0.001, 1 << 16, &Limits::output_bytes,
             &LimitsPatch::output_bytes, LimitScope::execution},
    LimitRow{"io_mb_per_second", "io_bytes_per_second", LimitUnit::megabytes, 1, 1 << 24,
             &Limits::io_bytes_per_second, &LimitsPatch::io_bytes_per_second, LimitScope::sandbox,
             LimitSetter::operator_only, LimitZero::is_unlimited},
};

// In the client's unit; unset where the limit is not set.
std::optional<double> amount(const Limits& limits, const LimitRow& row);
std::optional<double> amount(const LimitsPatch& patch, const LimitRow& row);
// From the client's unit, rounded to what we keep; the caller has checked the range.
void set_amount(LimitsPatch& patch, const LimitRow& row, double value);
// Lowers the limit to `most`, in the client's unit, if it is higher; rounds down. An unset limit stays unset.
void lower(Limits& limits, const LimitRow& row, double most);

// Every member that is set in the patch replaces that of the limits, or of the other patch.
void apply(const LimitsPatch& patch, Limits& limits);
void merge(const LimitsPatch& patch, LimitsPatch& into);

// Whether the limits that bind the whole sandbox are the same.
bool bind_sandbox_alike(const Limits& a, const Limits& b);

}  // namespace atl::sandbox
