#pragma once

#include <sys/types.h>

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/limits.h"

namespace atl::sandbox::container {

// The control groups that an engine of this machine has put a container into, for reading: what is counted,
// and which limits the kernel has. A plain value; may be used on any thread. Numbers of a group that is gone
// are 0.
class GroupReader {
 public:
  // The groups of a process of this machine. Code::not_found if there is no such process, or if one of
  // `name`'s words is in no path of its groups: then the number is another machine's or another process's.
  static Result<GroupReader> of_process(pid_t pid, const std::string& name);
  // The same from what the kernel says: /proc/PID/cgroup and /proc/self/mounts.
  static Result<GroupReader> of_lines(std::istream& groups, std::istream& mounts, const std::string& name);
  // Paths of groups, for another process of this machine; see paths().
  static GroupReader of_paths(const std::vector<std::string>& paths);
  // "controller=directory" each.
  std::vector<std::string> paths() const;

  bool counts_memory() const { return !memory_.empty() || !unified_.empty(); }
  bool counts_processes() const { return !process_directory().empty(); }
  // CPU time, memory now and at its highest, cache, bytes read and written.
  Usage usage() const;
  // The processor time alone; nothing where nobody counts it.
  std::optional<std::chrono::microseconds> cpu_time() const;
  std::uint64_t oom_kills() const;
  // Threads not counted. Those of groups inside the group are counted.
  std::uint32_t processes() const;

  // What the kernel enforces; nothing where it enforces none.
  std::optional<std::uint64_t> memory_limit() const;
  // Memory and swap together.
  std::optional<std::uint64_t> memory_and_swap_limit() const;
  std::optional<double> cpu_limit() const;
  std::optional<std::uint64_t> task_limit() const;

 private:
  const std::string& process_directory() const;

  // Directories; empty: none. `unified_` is version 2's and is used only if the controllers are there.
  std::string memory_, pids_, cpu_, cpu_time_, io_, unified_;
};

}  // namespace atl::sandbox::container
