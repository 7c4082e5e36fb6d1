#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "sandbox/limits.h"

// Files of /proc that tell about the whole machine, as a sandbox sees them: with its own limits. They are
// made once for each pair of limits and mounted over the kernel's.
namespace atl::sandbox::native {

inline constexpr const char* kViewFiles[] = {"meminfo", "cpuinfo", "stat", "loadavg"};

// The texts. A limit that is no whole number of cores shows as the next one; more than the machine has are
// not shown.
std::string meminfo_view(std::uint64_t memory_bytes);
std::string cpuinfo_view(const std::string& host, std::uint32_t cores);
std::string stat_view(const std::string& host, std::uint32_t cores);
std::uint32_t cores_shown(double cpu_cores, const std::string& host_cpuinfo);

class ProcViews {
 public:
  ProcViews() = default;
  // `proc` is the host's. Files are made below `directory`.
  ProcViews(int proc, std::string directory);

  // A directory with kViewFiles for these limits, to be mounted before the next call: later it may be gone.
  // What is mounted stays.
  Result<std::string> at(const Limits& limits);

 private:
  // More pairs of limits than this are in use at few places; the files of the others are made again.
  static constexpr std::size_t kKept = 256;
  using Key = std::pair<std::uint64_t, std::uint32_t>;

  std::string directory_, cpuinfo_, stat_;
  std::map<Key, std::string> made_;
  std::uint64_t serial_ = 0;
};

}  // namespace atl::sandbox::native
