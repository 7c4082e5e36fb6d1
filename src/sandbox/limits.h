#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace atl::sandbox {

// What a sandbox, or one execution in it, may consume. The shipped defaults of registry/limits.
// Wall and CPU time and output bind one execution or one foreground command; the rest bind the sandbox.
struct Limits {
  std::uint64_t memory_bytes = 512ULL << 20;
  double cpu_cores = 1.0;
  std::chrono::milliseconds wall_time{30'000};
  // Unset: only the wall time binds.
  std::optional<std::chrono::milliseconds> cpu_time;
  // Processes of the workload, threads and the guest not counted. The kernel's task limit is 16 times this.
  std::uint32_t processes_max = 5;
  std::uint64_t disk_bytes = 100ULL << 20;
  std::uint64_t inodes_max = 100'000;
  std::uint32_t open_files_max = 1024;
  std::uint64_t output_bytes = 10ULL << 20;
  // Bytes a second read from, and as many written to, each disk of the machine; 0: as fast as it goes.
  std::uint64_t io_bytes_per_second = 0;

  bool operator==(const Limits&) const = default;
};

// What it did consume. Read from the host's side (cgroups, filesystem), never asked of the guest.
struct Usage {
  std::chrono::microseconds cpu_time{0};
  std::chrono::microseconds wall_time{0};
  std::uint64_t memory_bytes = 0;  // now
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t memory_cache_bytes = 0;
  std::uint64_t disk_bytes = 0;
  std::uint64_t disk_limit_bytes = 0;
  std::uint64_t inodes = 0;
  std::uint32_t processes = 0;
  std::uint32_t processes_peak = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t output_bytes = 0;
};

}  // namespace atl::sandbox
