#include "sandbox/native/process_tree.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <sstream>
#include <thread>

#include "os/file.h"

namespace atl::sandbox::native {
namespace {

// Fields of /proc/<pid>/stat after the name, which may hold anything; the state is the first.
std::vector<std::string> stat_fields(int proc, pid_t pid) {
  const auto text = os::read_file_at(proc, fmt::format("{}/stat", pid).c_str());
  if (!text) return {};
  std::istringstream words(text->substr(text->rfind(')') + 1));
  std::vector<std::string> fields;
  for (std::string word; words >> word;) fields.push_back(word);
  return fields.size() < 22 ? std::vector<std::string>{} : fields;
}

std::uint64_t to_number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::uint64_t status_kilobytes(const std::string& status, std::string_view key) {
  const std::size_t at = status.find(key);
  if (at == std::string::npos) return 0;
  const std::size_t digits = status.find_first_of("0123456789", at + key.size());
  return digits == std::string::npos ? 0 : to_number(std::string_view(status).substr(digits));
}

// Children of every thread: each may have forked.
void append_children(int proc, pid_t pid, std::vector<pid_t>& out) {
  std::vector<pid_t> threads{pid};
  const auto status = os::read_file_at(proc, fmt::format("{}/status", pid).c_str());
  if (status && status_kilobytes(*status, "\nThreads:") > 1) {
    threads.clear();
    const auto names = os::list_directory_at(proc, fmt::format("{}/task", pid).c_str());
    for (const std::string& name : names) threads.push_back(static_cast<pid_t>(to_number(name)));
  }
  for (const pid_t thread : threads) {
    const auto text = os::read_file_at(proc, fmt::format("{}/task/{}/children", pid, thread).c_str());
    if (!text) continue;
    std::istringstream words(*text);
    for (pid_t child = 0; words >> child;) out.push_back(child);
  }
}

enum class Motion { still, waits, runs };

Motion motion_of(int proc, pid_t pid) {
  const std::vector<std::string> fields = stat_fields(proc, pid);
  if (fields.empty() || fields[0] == "T" || fields[0] == "t" || fields[0] == "Z" || fields[0] == "X")
    return Motion::still;
  // In the kernel, and stopped before it gets out: a disk, or a child that was stopped on its way to exec.
  return fields[0] == "D" ? Motion::waits : Motion::runs;
}

}  // namespace

std::vector<pid_t> tree_processes(int proc, pid_t root) {
  std::vector<pid_t> found;
  if (stat_fields(proc, root).empty()) return found;
  found.push_back(root);
  for (std::size_t i = 0; i < found.size(); ++i) append_children(proc, found[i], found);
  return found;
}

std::vector<TreeProcess> describe_processes(int proc, const std::vector<pid_t>& pids) {
  const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  // The last number of a line is the one in the innermost namespace.
  const auto innermost = [](const std::string& status, std::string_view key) -> pid_t {
    const std::size_t at = status.find(key);
    if (at == std::string::npos) return 0;
    const std::string line = status.substr(at + key.size(), status.find('\n', at + 1) - at - key.size());
    std::istringstream words(line);
    pid_t last = 0;
    for (pid_t number = 0; words >> number;) last = number;
    return last;
  };
  std::vector<TreeProcess> found;
  for (const pid_t pid : pids) {
    const std::vector<std::string> fields = stat_fields(proc, pid);
    const auto status = os::read_file_at(proc, fmt::format("{}/status", pid).c_str());
    if (fields.empty() || !status) continue;
    found.push_back({.pid = pid,
                     .parent = static_cast<pid_t>(to_number(fields[1])),
                     .inside = innermost(*status, "\nNSpid:"),
                     .session_inside = innermost(*status, "\nNSsid:"),
                     .started_us = to_number(fields[19]) * (1'000'000 / ticks)});
  }
  return found;
}

GroupUsage tree_usage(int proc, pid_t root) {
  GroupUsage usage;
  std::uint64_t ticks = 0;
  for (const pid_t pid : tree_processes(proc, root)) {
    const std::vector<std::string> fields = stat_fields(proc, pid);
    if (fields.empty()) continue;
    for (const std::size_t index : {11, 12, 13, 14}) ticks += to_number(fields[index]);
    const std::string status = os::read_file_at(proc, fmt::format("{}/status", pid).c_str()).value_or("");
    usage.memory_bytes +=
        (status_kilobytes(status, "\nRssAnon:") + status_kilobytes(status, "\nRssShmem:")) * 1024;
  }
  usage.memory_peak_bytes = usage.memory_bytes;
  usage.cpu_micros = ticks * 1'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return usage;
}

Result<void> stop_tree(int proc, pid_t root) {
  constexpr int kWaitsLong = 50;
  int waited = 0;
  for (int round = 0; round < 2000; ++round) {
    Motion most = Motion::still;
    for (const pid_t pid : tree_processes(proc, root)) {
      const Motion motion = motion_of(proc, pid);
      most = std::max(most, motion);
      if (motion != Motion::still) ::kill(pid, SIGSTOP);
    }
    // Found so after the last signal: what was forked in between has been seen.
    if (most == Motion::still) return {};
    waited = most == Motion::waits ? waited + 1 : 0;
    if (waited > kWaitsLong) return {};
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  (void)continue_tree(proc, root);
  return fail(Code::deadline_exceeded, "the sandbox did not come to a standstill");
}

Result<void> continue_tree(int proc, pid_t root) {
  const std::vector<pid_t> all = tree_processes(proc, root);
  for (auto pid = all.rbegin(); pid != all.rend(); ++pid) ::kill(*pid, SIGCONT);
  return {};
}

}  // namespace atl::sandbox::native
