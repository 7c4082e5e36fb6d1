#include "sandbox/native/proc_view.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>
#include <vector>

#include "os/file.h"

namespace atl::sandbox::native {
namespace {

// Entries of meminfo that programs look for, all of them 0 here.
constexpr const char* kNothing[] = {
    "Buffers",      "Cached", "SwapCached",   "Active",     "Inactive",     "SwapTotal",
    "SwapFree",     "Dirty",  "Writeback",    "AnonPages",  "Mapped",       "Shmem",
    "KReclaimable", "Slab",   "SReclaimable", "SUnreclaim", "Committed_AS", "HugePages_Total"};

std::string_view name_of(std::string_view line) {
  line = line.substr(0, line.find(':'));
  while (!line.empty() && (line.back() == '\t' || line.back() == ' ')) line.remove_suffix(1);
  return line;
}

// The paragraphs of cpuinfo that describe one processor each.
std::vector<std::vector<std::string>> processors(const std::string& cpuinfo) {
  std::vector<std::vector<std::string>> found;
  std::istringstream lines(cpuinfo);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (name_of(line) == "processor") found.emplace_back(), inside = true;
    if (line.empty()) inside = false;
    if (inside) found.back().push_back(line);
  }
  return found;
}

std::string line_starting_with(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key)) return line + "\n";
  return {};
}

}  // namespace

std::string meminfo_view(std::uint64_t memory_bytes) {
  std::string text;
  const auto add = [&](std::string_view name, std::uint64_t kibibytes) {
    text += fmt::format("{:<15} {:>8} kB\n", fmt::format("{}:", name), kibibytes);
  };
  const std::uint64_t all = memory_bytes / 1024;
  for (const char* name : {"MemTotal", "MemFree", "MemAvailable"}) add(name, all);
  for (const char* name : kNothing) add(name, 0);
  add("CommitLimit", all);
  return text;
}

std::uint32_t cores_shown(double cpu_cores, const std::string& host_cpuinfo) {
  const auto there = std::max<std::size_t>(processors(host_cpuinfo).size(), 1);
  const double wanted = std::clamp(std::ceil(cpu_cores), 1.0, static_cast<double>(there));
  return static_cast<std::uint32_t>(wanted);
}

std::string cpuinfo_view(const std::string& host, std::uint32_t cores) {
  std::string text;
  const auto all = processors(host);
  for (std::uint32_t i = 0; i < cores && i < all.size(); ++i) {
    for (const std::string& line : all[i]) {
      const std::string_view name = name_of(line);
      const bool counts = name == "siblings" || name == "cpu cores";
      const bool numbers = name == "core id" || name == "apicid" || name == "initial apicid";
      if (name == "physical id")
        text += "physical id\t: 0\n";
      else if (counts || numbers)
        text += fmt::format("{}\t: {}\n", name, counts ? cores : i);
      else
        text += line + "\n";
    }
    text += "\n";
  }
  return text;
}

std::string stat_view(const std::string& host, std::uint32_t cores) {
  constexpr const char* nothing = "0 0 0 0 0 0 0 0 0 0\n";
  std::string text = fmt::format("cpu  {}", nothing);
  for (std::uint32_t i = 0; i < cores; ++i) text += fmt::format("cpu{} {}", i, nothing);
  // Start times of processes are told from the machine's start.
  return text + "intr 0\nctxt 0\n" + line_starting_with(host, "btime ") +
         "processes 1\nprocs_running 1\nprocs_blocked 0\n";
}

ProcViews::ProcViews(int proc, std::string directory)
    : directory_(std::move(directory)),
      cpuinfo_(os::read_file_at(proc, "cpuinfo").value_or("")),
      stat_(os::read_file_at(proc, "stat").value_or("")) {}

Result<std::string> ProcViews::at(const Limits& limits) {
  const Key key{limits.memory_bytes, cores_shown(limits.cpu_cores, cpuinfo_)};
  if (const auto found = made_.find(key); found != made_.end()) return found->second;
  if (made_.size() >= kKept) {
    // Sandboxes keep what they have mounted.
    for (const auto& [old, path] : made_) {
      for (const char* name : kViewFiles) ::unlink((path + "/" + name).c_str());
      ::rmdir(path.c_str());
    }
    made_.clear();
  }
  const std::string path = fmt::format("{}/{}", directory_, serial_++);
  TRY(os::make_directory(path));
  const std::pair<const char*, std::string> files[] = {{"meminfo", meminfo_view(key.first)},
                                                       {"cpuinfo", cpuinfo_view(cpuinfo_, key.second)},
                                                       {"stat", stat_view(stat_, key.second)},
                                                       {"loadavg", "0.00 0.00 0.00 1/1 1\n"}};
  for (const auto& [name, text] : files) TRY(os::write_file(path + "/" + name, text, 0444));
  made_.emplace(key, path);
  return path;
}

}  // namespace atl::sandbox::native
