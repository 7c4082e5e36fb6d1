#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "sandbox/kernel.h"
#include "sandbox/limits.h"

namespace atl::registry {

// Some limits, over others: what is set replaces.
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

void apply(const LimitsPatch& patch, sandbox::Limits& limits);

}  // namespace atl::registry
