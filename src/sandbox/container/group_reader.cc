#include "sandbox/container/group_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace atl::sandbox::container {
namespace {

// Version 1 says "no limit" with the largest number of pages.
constexpr std::uint64_t kNoLimit = 1ULL << 60;

std::optional<std::string> text_of(const std::string& directory, const char* file) {
  if (directory.empty()) return std::nullopt;
  std::ifstream in(directory + "/" + file);
  if (!in) return std::nullopt;
  std::ostringstream all;
  all << in.rdbuf();
  return all.str();
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::uint64_t count_of(const std::string& directory, const char* file) {
  const auto text = text_of(directory, file);
  return text ? number_of(*text).value_or(0) : 0;
}

// The number after `key` at the beginning of a line.
std::uint64_t keyed(const std::string& directory, const char* file, std::string_view key) {
  std::istringstream lines(text_of(directory, file).value_or(""));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
      return number_of(std::string_view(line).substr(key.size() + 1)).value_or(0);
  return 0;
}

// Sums the words "name=NUMBER" of all lines (version 2's io.stat).
std::uint64_t summed(const std::string& text, const std::string& name) {
  std::uint64_t sum = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;)
    if (word.starts_with(name)) sum += number_of(std::string_view(word).substr(name.size())).value_or(0);
  return sum;
}

// Version 1: "8:0 Read 4096".
std::uint64_t summed_v1(const std::string& text, std::string_view what) {
  std::uint64_t sum = 0;
  std::istringstream lines(text);
  for (std::string disk, name, value; lines >> disk;) {
    if (disk.starts_with("Total")) break;
    if (!(lines >> name >> value)) break;
    if (name == what) sum += number_of(value).value_or(0);
  }
  return sum;
}

std::optional<std::uint64_t> limit_of(const std::string& directory, const char* file) {
  const auto text = text_of(directory, file);
  if (!text) return std::nullopt;
  const auto value = number_of(*text);
  if (!value || *value >= kNoLimit) return std::nullopt;
  return value;
}

bool has(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (list.substr(0, comma) == word) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

struct Hierarchy {
  std::string where;
  bool is_unified = false;
  std::string options;
};

std::vector<Hierarchy> hierarchies_in(std::istream& mounts) {
  std::vector<Hierarchy> found;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, where, kind, options;
    if (words >> device >> where >> kind >> options && (kind == "cgroup" || kind == "cgroup2"))
      found.push_back({where, kind == "cgroup2", options});
  }
  return found;
}

// Where the hierarchy of that controller is mounted; nothing if it is not. "" is version 2's.
std::optional<std::string> mount_of(const std::vector<Hierarchy>& all, std::string_view controller) {
  for (const Hierarchy& one : all)
    if (controller.empty() ? one.is_unified : !one.is_unified && has(one.options, controller))
      return one.where;
  return std::nullopt;
}

// The group that has the container's name. Some engines put the processes into a group inside it (crun:
// "libpod-ID.scope/container"), while limits and counters are its own.
std::string named_part(const std::string& path, const std::string& name) {
  const std::size_t at = name.empty() ? std::string::npos : path.find(name);
  if (at == std::string::npos) return path;
  return path.substr(0, path.find('/', at + name.size()));
}

std::uint32_t processes_in(const std::string& directory) {
  const std::string text = text_of(directory, "cgroup.procs").value_or("");
  auto count = static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
  std::error_code error;
  for (std::filesystem::directory_iterator each(directory, error), end; !error && each != end;
       each.increment(error))
    if (std::error_code ignored; each->is_directory(ignored)) count += processes_in(each->path());
  return count;
}

}  // namespace

Result<GroupReader> GroupReader::of_process(pid_t pid, const std::string& name) {
  std::ifstream groups(fmt::format("/proc/{}/cgroup", pid));
  if (!groups) return fail(Code::not_found, "no such process on this machine");
  std::ifstream mounts("/proc/self/mounts");
  return of_lines(groups, mounts, name);
}

Result<GroupReader> GroupReader::of_lines(std::istream& lines, std::istream& mounts,
                                          const std::string& name) {
  const std::vector<Hierarchy> hierarchies = hierarchies_in(mounts);
  GroupReader reader;
  bool is_named = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = named_part(line.substr(second + 1), name);
    is_named |= path.find(name) != std::string::npos;
    // The root group of a hierarchy is the whole machine and nobody's limit.
    if (path == "/") continue;
    const auto take = [&](std::string_view controller, std::string& into) {
      const auto mounted = mount_of(hierarchies, controller);
      if (mounted && (controller.empty() ? controllers.empty() : has(controllers, controller)))
        into = *mounted + path;
    };
    take("memory", reader.memory_), take("pids", reader.pids_), take("cpu", reader.cpu_);
    take("cpuacct", reader.cpu_time_), take("blkio", reader.io_);
    take("", reader.unified_);
  }
  if (!is_named) return fail(Code::not_found, "the process is another's");
  // Beside version 1 there may be a version 2 hierarchy without any of these controllers.
  if (!reader.memory_.empty()) reader.unified_.clear();
  return reader;
}

GroupReader GroupReader::of_paths(const std::vector<std::string>& paths) {
  GroupReader reader;
  const std::pair<std::string_view, std::string*> places[] = {
      {"memory=", &reader.memory_},    {"pids=", &reader.pids_}, {"cpu=", &reader.cpu_},
      {"cpuacct=", &reader.cpu_time_}, {"blkio=", &reader.io_},  {"unified=", &reader.unified_}};
  for (const std::string& path : paths)
    for (const auto& [name, place] : places)
      if (path.starts_with(name)) *place = path.substr(name.size());
  return reader;
}

std::vector<std::string> GroupReader::paths() const {
  std::vector<std::string> paths;
  const std::pair<const char*, const std::string*> places[] = {
      {"memory=", &memory_},    {"pids=", &pids_}, {"cpu=", &cpu_},
      {"cpuacct=", &cpu_time_}, {"blkio=", &io_},  {"unified=", &unified_}};
  for (const auto& [name, place] : places)
    if (!place->empty()) paths.push_back(name + *place);
  return paths;
}

const std::string& GroupReader::process_directory() const {
  for (const std::string* each : {&pids_, &memory_, &cpu_, &unified_})
    if (!each->empty()) return *each;
  return unified_;
}

std::optional<std::chrono::microseconds> GroupReader::cpu_time() const {
  if (!unified_.empty()) return std::chrono::microseconds(keyed(unified_, "cpu.stat", "usage_usec"));
  if (cpu_time_.empty()) return std::nullopt;
  return std::chrono::microseconds(count_of(cpu_time_, "cpuacct.usage") / 1000);
}

Usage GroupReader::usage() const {
  Usage usage;
  usage.cpu_time = cpu_time().value_or(usage.cpu_time);
  if (!unified_.empty()) {
    usage.memory_bytes = count_of(unified_, "memory.current");
    usage.memory_peak_bytes = count_of(unified_, "memory.peak");
    usage.memory_cache_bytes = keyed(unified_, "memory.stat", "file");
    const std::string io = text_of(unified_, "io.stat").value_or("");
    usage.read_bytes = summed(io, "rbytes=");
    usage.written_bytes = summed(io, "wbytes=");
    return usage;
  }
  usage.memory_bytes = count_of(memory_, "memory.usage_in_bytes");
  usage.memory_peak_bytes = count_of(memory_, "memory.max_usage_in_bytes");
  usage.memory_cache_bytes = keyed(memory_, "memory.stat", "total_cache");
  const std::string io = text_of(io_, "blkio.throttle.io_service_bytes").value_or("");
  usage.read_bytes = summed_v1(io, "Read");
  usage.written_bytes = summed_v1(io, "Write");
  return usage;
}

std::uint64_t GroupReader::oom_kills() const {
  return unified_.empty() ? keyed(memory_, "memory.oom_control", "oom_kill")
                          : keyed(unified_, "memory.events", "oom_kill");
}

std::uint32_t GroupReader::processes() const {
  return process_directory().empty() ? 0 : processes_in(process_directory());
}

std::optional<std::uint64_t> GroupReader::memory_limit() const {
  return unified_.empty() ? limit_of(memory_, "memory.limit_in_bytes") : limit_of(unified_, "memory.max");
}

std::optional<std::uint64_t> GroupReader::memory_and_swap_limit() const {
  if (unified_.empty()) return limit_of(memory_, "memory.memsw.limit_in_bytes");
  const auto memory = limit_of(unified_, "memory.max"), swap = limit_of(unified_, "memory.swap.max");
  if (!memory || !swap) return std::nullopt;
  return *memory + *swap;
}

std::optional<double> GroupReader::cpu_limit() const {
  if (unified_.empty()) {
    const std::uint64_t period = count_of(cpu_, "cpu.cfs_period_us");
    const auto quota = limit_of(cpu_, "cpu.cfs_quota_us");  // -1 is no number here: no limit
    if (!quota || period == 0) return std::nullopt;
    return static_cast<double>(*quota) / static_cast<double>(period);
  }
  std::istringstream words(text_of(unified_, "cpu.max").value_or("max"));
  std::string quota, period;
  words >> quota >> period;
  const auto allowed = number_of(quota), of = number_of(period);
  if (!allowed || !of || *of == 0) return std::nullopt;
  return static_cast<double>(*allowed) / static_cast<double>(*of);
}

std::optional<std::uint64_t> GroupReader::task_limit() const {
  return limit_of(unified_.empty() ? pids_ : unified_, "pids.max");
}

}  // namespace atl::sandbox::container
