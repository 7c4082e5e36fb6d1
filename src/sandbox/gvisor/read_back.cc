#include "sandbox/gvisor/read_back.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "os/file.h"
#include "sandbox/container/group_reader.h"
#include "sandbox/gvisor/bundle.h"

namespace atl::sandbox::gvisor {
namespace {

// Directories at which this machine shows control groups, each with what it counts.
std::vector<std::string> hierarchies(std::istream& mounts) {
  std::vector<std::string> found;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, where, kind;
    if (words >> device >> where >> kind && (kind == "cgroup" || kind == "cgroup2")) found.push_back(where);
  }
  return found;
}

std::string namespace_of(const std::string& process, const char* kind) {
  std::array<char, 64> name{};
  const std::string path = fmt::format("/proc/{}/ns/{}", process, kind);
  const ssize_t size = ::readlink(path.c_str(), name.data(), name.size());
  return size > 0 ? std::string(name.data(), static_cast<std::size_t>(size)) : std::string();
}

bool has_filter(pid_t pid) {
  std::ifstream lines(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("Seccomp:")) return line.ends_with('2');
  return false;
}

void tell_namespaces(pid_t pid, Isolation& isolation) {
  static constexpr std::pair<const char*, const char*> kinds[] = {
      {"user", "user_namespace"},   {"pid", "pid_namespace"}, {"mnt", "mount_namespace"},
      {"net", "network_namespace"}, {"ipc", "ipc_namespace"}, {"uts", "uts_namespace"}};
  for (const auto& [kind, name] : kinds) {
    const std::string theirs = namespace_of(std::to_string(pid), kind);
    if (!theirs.empty() && theirs != namespace_of("self", kind))
      isolation.walls.push_back({name, "own, around gVisor's kernel"});
    else
      isolation.missing.push_back({name, "runsc did not make one around its kernel"});
  }
}

void tell_limits(const Watched& watched, const container::GroupReader& groups, Isolation& isolation) {
  const Limits& limits = watched.spec.limits;
  const char* const remedy = "needs control groups that this machine lets runsc make";
  const auto memory = groups.memory_limit();
  if (memory && *memory <= limits.memory_bytes)
    isolation.walls.push_back({"memory_limit", fmt::format("{} bytes, gVisor's own among them", *memory)});
  else
    isolation.missing.push_back({"memory_limit", remedy});
  const auto cpu = groups.cpu_limit();
  if (cpu)
    isolation.walls.push_back({"cpu_limit", fmt::format("{:.2f} cores", *cpu)});
  else
    isolation.missing.push_back({"cpu_limit", remedy});
  const auto tasks = groups.task_limit();
  if (tasks)
    isolation.walls.push_back(
        {"process_limit",
         fmt::format("{} tasks of the host, by the kernel: a bomb ends its sandbox; how many "
                     "processes are inside nobody counts",
                     *tasks)});
  else
    isolation.missing.push_back({"process_limit", remedy});
  if (limits.io_bytes_per_second > 0)
    isolation.missing.push_back({"io_limit", "the provider gvisor does not limit it; native does"});
}

}  // namespace

void read_back(const Watched& watched, Started& started) {
  Isolation& isolation = started.isolation;
  isolation.walls.push_back(
      {"user_space_kernel",
       fmt::format("gVisor, runsc {}, platform {}", watched.runsc.version, watched.runsc.platform)});
  tell_namespaces(watched.pid, isolation);
  // Not a wall, but whoever wonders why `ls` says "Invalid argument" looks here.
  if (!watched.runsc.leaves_running)
    isolation.missing.push_back({"system_calls",
                                 "this runsc is so old that it refuses statx as coreutils 9 calls it: ls and "
                                 "stat fail; name a current one in provider.gvisor.runsc"});
  if (has_filter(watched.pid))
    isolation.walls.push_back({"seccomp", "runsc's own filter around gVisor's kernel"});
  else
    isolation.missing.push_back({"seccomp", "runsc put no filter around its kernel"});
  isolation.walls.push_back({"root_filesystem", "overlay, own writable layer"});
  isolation.walls.push_back({"proc", "gVisor's own, nothing of the host"});
  isolation.walls.push_back({"open_files_limit", std::to_string(watched.spec.limits.open_files_max)});
  isolation.walls.push_back(
      {"shared_memory", fmt::format("{} bytes", shared_memory_max(watched.spec.limits))});
  isolation.walls.push_back({"core_dumps", "off"});
  isolation.walls.push_back({"capabilities", "none over the host; root inside has 12 of gVisor's"});
  if (!watched.spec.sudo) isolation.walls.push_back({"no_new_privileges", "on"});
  auto groups = container::GroupReader::of_process(watched.pid, watched.container);
  if (groups) {
    isolation.walls.push_back({"cgroup", "own, made by runsc"});
    started.groups = groups->paths();
  }
  tell_limits(watched, groups ? *groups : container::GroupReader(), isolation);
}

bool can_make_groups() {
  std::ifstream mounts("/proc/self/mounts");
  return can_make_groups(mounts);
}

bool can_make_groups(std::istream& mounts) {
  const auto limits_memory = [](const std::string& where) {
    if (where.ends_with("/memory")) return true;
    // Version 2's: beside version 1 it has other controllers, or none.
    std::istringstream words(os::read_file(where + "/cgroup.controllers").value_or(""));
    for (std::string word; words >> word;)
      if (word == "memory") return true;
    return false;
  };
  for (const std::string& where : hierarchies(mounts))
    if (limits_memory(where) && ::access(where.c_str(), W_OK) == 0) return true;
  return false;
}

std::vector<pid_t> group_processes(const std::vector<std::string>& groups) {
  std::vector<pid_t> all;
  for (const std::string& group : groups) {
    std::ifstream lines(group.substr(group.find('=') + 1) + "/cgroup.procs");
    for (pid_t pid = 0; lines >> pid;) all.push_back(pid);
  }
  return all;
}

void remove_groups(const std::string& path) {
  std::ifstream mounts("/proc/self/mounts");
  for (const std::string& where : hierarchies(mounts)) ::rmdir((where + path).c_str());
}

std::vector<std::string> mounts_below(const std::string& directory) {
  std::vector<std::string> found;
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, where;
    if (words >> device >> where && where.starts_with(directory + "/")) found.push_back(where);
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace atl::sandbox::gvisor
