#include "sandbox/native/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "os/file.h"
#include "sandbox/native/live_process.h"

namespace atl::sandbox::native {
namespace {

constexpr Controller kAll[] = {Controller::memory, Controller::pids, Controller::cpu, Controller::io,
                               Controller::unified};

struct GroupPlace {
  std::string path;  // of this process's own group in that hierarchy
  std::string root;  // of the hierarchy
};

const char* v1_name(Controller controller) {
  switch (controller) {
    case Controller::memory: return "memory";
    case Controller::pids: return "pids";
    case Controller::cpu: return "cpu";
    case Controller::io: return "blkio";
    case Controller::unified: return "";
  }
  return "";
}

const char* v2_name(Controller controller) {
  return controller == Controller::io ? "io" : v1_name(controller);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);)
    if (!word.empty()) words.push_back(word);
  return words;
}

std::uint64_t to_number(std::string_view text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "key value" lines.
std::uint64_t keyed(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ')
      return to_number(std::string_view(line).substr(key.size() + 1));
  return 0;
}

// Version 1 controller (or "" for version 2) to where this process is in that hierarchy.
std::map<std::string, GroupPlace> own_places() {
  std::map<std::string, std::string> mounts;
  const std::string mountinfo = os::read_file("/proc/self/mountinfo").value_or("");
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    // The number of optional fields varies; the dash ends them (proc_pid_mountinfo(5)).
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const std::vector<std::string> left = split(line.substr(0, dash), ' ');
    const std::vector<std::string> right = split(line.substr(dash + 3), ' ');
    if (left.size() < 5 || right.size() < 3) continue;
    if (right[0] == "cgroup2") mounts.emplace("", left[4]);
    if (right[0] == "cgroup")
      for (const std::string& option : split(right[2], ',')) mounts.emplace(option, left[4]);
  }
  std::map<std::string, GroupPlace> places;
  std::istringstream own(os::read_file("/proc/self/cgroup").value_or(""));
  for (std::string line; std::getline(own, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string path = line.substr(second + 1);
    // "/.." shows in a control group namespace whose root is not an ancestor: then the mount is all there is.
    if (path == "/" || path.starts_with("/..")) path.clear();
    const std::string names = line.substr(first + 1, second - first - 1);
    for (const std::string& name : names.empty() ? std::vector<std::string>{""} : split(names, ','))
      if (const auto mount = mounts.find(name); mount != mounts.end())
        places[name] = GroupPlace{mount->second + path, mount->second};
  }
  return places;
}

// Version 2 allows no group with both processes and controlled children, except the root.
Result<std::string> v2_base(const GroupPlace& own, bool make) {
  // Only the root group has no cgroup.type.
  if (::access((own.root + "/cgroup.procs").c_str(), W_OK) == 0 && !os::exists(own.root + "/cgroup.type"))
    return own.root;
  // This process may be in the leaf already, moved there by an earlier tree.
  constexpr std::string_view leaf_name = "/atoll-host";
  GroupPlace place = own;
  if (place.path.ends_with(leaf_name)) place.path.resize(place.path.size() - leaf_name.size());
  if (!make) return place.path;
  const std::string leaf = place.path + std::string(leaf_name);
  TRY(os::make_directory(leaf));
  // So all processes of our group move to a leaf, and its controllers can be given to children.
  for (const std::string& pid : split(os::read_file(place.path + "/cgroup.procs").value_or(""), '\n'))
    (void)os::write_control(leaf + "/cgroup.procs", pid);
  return place.path;
}

std::vector<std::string> directories_of(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(path, error))
    if (entry.is_directory(error)) names.push_back(entry.path().filename().string());
  return names;
}

constexpr std::string_view kSpawnerPrefix = "atoll-";

// What names of spawners end with in this process's PID namespace; nothing in the machine's first one.
// Control groups are often shared across PID namespaces (a service in a container, another beside it), and a
// number means another process in each of them.
std::string namespace_suffix() {
  constexpr ino_t kFirst = 0xEFFFFFFC;  // the kernel's own number for it, the same on every machine
  struct stat own {};
  if (::stat("/proc/self/ns/pid", &own) != 0 || own.st_ino == kFirst) return "";
  return fmt::format("-{}", own.st_ino);
}

// When a process started, in the kernel's ticks since the machine did; nothing if there is no such process.
Result<std::uint64_t> start_of(const std::string& pid) {
  const os::Fd proc = TRY(os::open("/proc", O_PATH | O_DIRECTORY));
  return LiveProcess::started_at(proc.get(), static_cast<pid_t>(to_number(pid)));
}

bool is_all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Only a process that is not there is dead: one that cannot be looked at now (no descriptor is left) may
// live.
bool is_dead_spawner(const std::string& name, const std::string& suffix) {
  if (!name.starts_with(kSpawnerPrefix) || !name.ends_with(suffix)) return false;
  const std::string process =
      name.substr(kSpawnerPrefix.size(), name.size() - kSpawnerPrefix.size() - suffix.size());
  const std::size_t dot = process.find('.');
  const std::string number = process.substr(0, dot);
  if (!is_all_digits(number)) return false;
  if (dot == std::string::npos) {
    // Of a version that named spawners by their number alone.
    const auto comm = os::read_file("/proc/" + number + "/comm");
    if (!comm) return comm.error().code() == Code::not_found;
    return *comm != "atoll-spawner\n";
  }
  const std::string start = process.substr(dot + 1);
  if (!is_all_digits(start)) return false;
  const auto now = start_of(number);
  if (!now) return now.error().code() == Code::not_found;
  return *now != to_number(start);
}

// Loop devices are left out: what they read and write they do on one of the others.
std::vector<std::string> disks() {
  std::vector<std::string> numbers;
  for (const std::string& name : directories_of("/sys/block")) {
    if (name.starts_with("loop") || name.starts_with("ram") || name.starts_with("zram")) continue;
    std::string number = os::read_file("/sys/block/" + name + "/dev").value_or("");
    while (!number.empty() && number.back() == '\n') number.pop_back();
    if (!number.empty()) numbers.push_back(number);
  }
  return numbers;
}

void enable_controllers(const std::string& group) {
  for (const char* name : {"+memory", "+pids", "+cpu", "+io"})
    (void)os::write_control(group + "/cgroup.subtree_control", name);
}

}  // namespace

Result<CgroupTree> CgroupTree::create(const std::string& parent) {
  return locate(parent, true);
}
Result<CgroupTree> CgroupTree::open(const std::string& parent) {
  return locate(parent, false);
}

Result<CgroupTree> CgroupTree::locate(const std::string& parent, bool make) {
  CgroupTree tree;
  tree.parent_ = parent;
  if (make) tree.disks_ = disks();
  const std::map<std::string, GroupPlace> places = own_places();
  std::set<std::string> v2_controllers;
  std::string unified;
  if (const auto place = places.find(""); place != places.end()) {
    if (auto base = v2_base(place->second, make)) {
      unified = *base + "/" + parent;
      if (make) {
        enable_controllers(*base);
        if (os::make_directory(unified)) enable_controllers(unified);
      }
      for (const std::string& name :
           split(os::read_file(unified + "/cgroup.subtree_control").value_or(""), ' '))
        v2_controllers.insert(name.substr(0, name.find('\n')));
    }
  }
  std::set<std::string> seen;
  for (const Controller controller : kAll) {
    Hierarchy& hierarchy = tree.controllers_[index(controller)];
    const auto v1 = places.find(v1_name(controller));
    // A controller is in one hierarchy at a time: version 2 if it was enabled there, else version 1.
    if (controller == Controller::unified || v2_controllers.contains(v2_name(controller))) {
      hierarchy.path = unified;
      hierarchy.v2 = true;
    } else if (v1 != places.end() && *v1_name(controller) != '\0') {
      hierarchy.path = v1->second.path + "/" + parent;
      if (make) (void)os::make_directory(hierarchy.path);
    }
    if (hierarchy.path.empty()) continue;
    const int flags = O_RDONLY | O_DIRECTORY;
    if (auto dir = os::open(hierarchy.path.c_str(), flags)) {
      if (make && ::faccessat(dir->get(), ".", W_OK, AT_EACCESS) < 0) continue;
      hierarchy.dir = std::move(*dir);
      // All controllers of version 2 share one directory: it is made, joined and removed once.
      hierarchy.duplicate = !seen.insert(hierarchy.path).second;
    }
  }
  return tree;
}

std::string_view CgroupTree::version() const {
  bool v1 = false, v2 = false;
  for (const Controller controller : kAll)
    if (has(controller)) (is_v2(controller) ? v2 : v1) = true;
  if (v1 && v2) return "hybrid";
  return v1 ? "v1" : v2 ? "v2" : "none";
}

std::vector<Wall> CgroupTree::missing() const {
  std::vector<Wall> walls;
  const char* remedy = "run as root, or delegate the cgroup controller to this user (systemd: Delegate=yes)";
  if (!has(Controller::memory)) walls.push_back({"memory_limit", remedy});
  if (!has(Controller::pids)) walls.push_back({"process_limit", remedy});
  if (!has(Controller::cpu)) walls.push_back({"cpu_limit", remedy});
  if (!has(Controller::io)) walls.push_back({"io_limit", remedy});
  return walls;
}

Result<void> CgroupTree::set(Controller controller, const std::string& name, const char* file,
                             const std::string& value) {
  return os::write_control_at(at(controller).dir.get(), (name + "/" + file).c_str(), value);
}

std::optional<std::string> CgroupTree::get(Controller controller, const std::string& name,
                                           const char* file) const {
  if (!has(controller)) return std::nullopt;
  auto text = os::read_file_at(at(controller).dir.get(), (name + "/" + file).c_str());
  if (!text) return std::nullopt;
  return std::move(*text);
}

std::uint64_t CgroupTree::number(Controller controller, const std::string& name, const char* file) const {
  return to_number(get(controller, name, file).value_or(""));
}

Result<void> CgroupTree::make_group(const std::string& name) {
  for (const Controller controller : kAll) {
    if (!has(controller) || at(controller).duplicate) continue;
    if (::mkdirat(at(controller).dir.get(), name.c_str(), 0755) < 0 && errno != EEXIST)
      return fail(errno_error(errno, "make control group"));
  }
  return {};
}

Result<void> CgroupTree::apply(const std::string& name, const Limits& limits, std::vector<Wall>& walls) {
  const std::string memory = std::to_string(limits.memory_bytes);
  if (has(Controller::memory)) {
    if (is_v2(Controller::memory)) {
      TRY(set(Controller::memory, name, "memory.max", memory));
      (void)set(Controller::memory, name, "memory.swap.max", "0");
    } else {
      // The second is refused while it would be below the first, and the first while it would be above the
      // second.
      const auto first = set(Controller::memory, name, "memory.limit_in_bytes", memory);
      (void)set(Controller::memory, name, "memory.memsw.limit_in_bytes", memory);
      if (!first) TRY(set(Controller::memory, name, "memory.limit_in_bytes", memory));
      (void)set(Controller::memory, name, "memory.swappiness", "0");
    }
    limit_socket_buffers(name, limits.memory_bytes, walls);
    const char* file = is_v2(Controller::memory) ? "memory.max" : "memory.limit_in_bytes";
    walls.push_back({"memory_limit", fmt::format("{} bytes", number(Controller::memory, name, file))});
  }
  if (has(Controller::pids)) {
    // The kernel counts threads, users mean processes: its bound is a far one, the host counts.
    const std::uint64_t ceiling = std::uint64_t{limits.processes_max} * 16 + 16;
    TRY(set(Controller::pids, name, "pids.max", std::to_string(ceiling)));
    walls.push_back(
        {"process_limit", fmt::format("{} processes, counted by the host; {} tasks, by the kernel",
                                      limits.processes_max, ceiling)});
  }
  if (has(Controller::cpu)) {
    // A short period keeps the wait of a throttled program short.
    constexpr std::uint64_t period = 20'000;
    const auto quota = static_cast<std::uint64_t>(limits.cpu_cores * static_cast<double>(period));
    if (is_v2(Controller::cpu)) {
      TRY(set(Controller::cpu, name, "cpu.max", fmt::format("{} {}", quota, period)));
    } else {
      TRY(set(Controller::cpu, name, "cpu.cfs_period_us", std::to_string(period)));
      TRY(set(Controller::cpu, name, "cpu.cfs_quota_us", std::to_string(quota)));
    }
    walls.push_back({"cpu_limit", fmt::format("{} of {} microseconds", quota, period)});
  }
  if (has(Controller::io)) TRY(limit_io(name, limits.io_bytes_per_second, walls));
  return {};
}

// What programs inside send each other through sockets and do not read waits in memory of which the machine
// has one allowance (net.ipv4.tcp_mem). Version 2 counts it as the group's memory; version 1 does not unless
// a limit is set.
void CgroupTree::limit_socket_buffers(const std::string& name, std::uint64_t memory_bytes,
                                      std::vector<Wall>& walls) {
  if (is_v2(Controller::memory)) {
    walls.push_back({"socket_buffers", "count as memory"});
    return;
  }
  constexpr std::uint64_t kLeast = 8ULL << 20;
  const std::string bytes = std::to_string(std::max(memory_bytes / 8, kLeast));
  if (set(Controller::memory, name, "memory.kmem.tcp.limit_in_bytes", bytes))
    walls.push_back({"socket_buffers", fmt::format("{} bytes", bytes)});
}

Result<void> CgroupTree::limit_io(const std::string& name, std::uint64_t bytes_per_second,
                                  std::vector<Wall>& walls) {
  if (bytes_per_second == 0) return {};
  for (const std::string& disk : disks_) {
    if (is_v2(Controller::io)) {
      TRY(set(Controller::io, name, "io.max", fmt::format("{0} rbps={1} wbps={1}", disk, bytes_per_second)));
      continue;
    }
    const std::string line = fmt::format("{} {}", disk, bytes_per_second);
    TRY(set(Controller::io, name, "blkio.throttle.read_bps_device", line));
    TRY(set(Controller::io, name, "blkio.throttle.write_bps_device", line));
  }
  walls.push_back(
      {"io_limit",
       fmt::format("{} bytes a second each way, on each of {} disks{}", bytes_per_second, disks_.size(),
                   is_v2(Controller::io) ? "" : "; writes only when they are not cached")});
  return {};
}

Result<void> CgroupTree::join(const std::string& name, Part part, bool forked) {
  for (const Controller controller : kAll) {
    if (!has(controller) || at(controller).duplicate || (forked && is_v2(controller))) continue;
    // The kernel may refuse a real-time process in a version 1 cpu group, which has no real-time budget.
    const bool separate = controller == Controller::cpu && !is_v2(controller);
    if (part == Part::all_but_cpu && separate) continue;
    if (part == Part::only_cpu && !separate) continue;
    // A delegated group may let itself be joined in one way only.
    if (is_v2(controller) || !set(controller, name, "tasks", "0"))
      TRY(set(controller, name, "cgroup.procs", "0"));
  }
  return {};
}

Result<os::Fd> CgroupTree::open_v2(const std::string& name) {
  if (!has(Controller::unified)) return os::Fd();
  auto group = os::open_at(at(Controller::unified).dir.get(), name.c_str(), O_RDONLY | O_DIRECTORY);
  if (!group)
    return fail(Error(Code::provider_failed, "the sandbox's control group: " + group.error().message()));
  return group;
}

bool CgroupTree::exists(const std::string& name) const {
  return std::ranges::all_of(kAll, [&](Controller controller) {
    return !has(controller) || ::faccessat(at(controller).dir.get(), name.c_str(), F_OK, 0) == 0;
  });
}

Result<GroupDescriptors> CgroupTree::open_group(const std::string& name) {
  GroupDescriptors group;
  group.unified = TRY(open_v2(name));
  for (const Controller controller : kAll) {
    if (!has(controller) || is_v2(controller) || at(controller).duplicate) continue;
    group.tasks.push_back(
        TRY_CONTEXT("the sandbox's control group",
                    os::open_at(at(controller).dir.get(), (name + "/tasks").c_str(), O_WRONLY)));
  }
  return group;
}

Result<void> CgroupTree::begin_freeze(const std::string& name) {
  if (!has(Controller::unified)) return fail(Code::unsupported, "pausing needs cgroup version 2");
  return set(Controller::unified, name, "cgroup.freeze", "1");
}

bool CgroupTree::is_frozen(const std::string& name) const {
  return keyed(get(Controller::unified, name, "cgroup.events").value_or(""), "frozen") == 1;
}

Result<void> CgroupTree::thaw(const std::string& name) {
  if (!has(Controller::unified)) return fail(Code::unsupported, "pausing needs cgroup version 2");
  return set(Controller::unified, name, "cgroup.freeze", "0");
}

void CgroupTree::kill(const std::string& name) {
  if (has(Controller::unified)) (void)set(Controller::unified, name, "cgroup.kill", "1");
}

bool CgroupTree::is_empty(const std::string& name) const {
  return processes(name).empty();
}

Result<void> CgroupTree::remove_group(const std::string& name) {
  for (const Controller controller : kAll) {
    if (!has(controller) || at(controller).duplicate) continue;
    if (::unlinkat(at(controller).dir.get(), name.c_str(), AT_REMOVEDIR) < 0 && errno != ENOENT)
      return fail(Code::conflict, "the control group is not empty");
  }
  return {};
}

void CgroupTree::remove_parent() {
  for (Hierarchy& hierarchy : controllers_) {
    if (!hierarchy.dir.is_open() || hierarchy.duplicate) continue;
    // Through the descriptor: the path may not exist in this mount namespace.
    const os::Fd up(::openat(hierarchy.dir.get(), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    hierarchy.dir.reset();
    if (up.is_open()) ::unlinkat(up.get(), parent_.c_str(), AT_REMOVEDIR);
  }
}

std::string CgroupTree::spawner_parent(pid_t pid) {
  // The start as well, because numbers come again: whoever clears away a dead spawner's groups must not meet
  // a new spawner that has just taken over their name.
  const auto start = start_of(std::to_string(pid));
  return fmt::format("{}{}.{}{}", kSpawnerPrefix, pid, start.value_or(0), namespace_suffix());
}

void CgroupTree::clear_leftovers() {
  for (const std::string& name : groups()) {
    // A group can be removed only when its last process is gone, which takes a moment after the kill.
    for (int round = 0; round < 100 && !remove_group(name); ++round) {
      kill(name);
      for (const pid_t pid : processes(name)) ::kill(pid, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  std::set<std::string> dead;
  const std::string suffix = namespace_suffix();
  for (const Hierarchy& hierarchy : controllers_) {
    if (!hierarchy.dir.is_open()) continue;
    for (const std::string& name : directories_of(hierarchy.path + "/.."))
      if (name != parent_ && is_dead_spawner(name, suffix)) dead.insert(name);
  }
  for (const std::string& name : dead) {
    auto other = locate(name, true);
    if (!other) continue;
    for (const std::string& group : other->groups())
      if (other->is_empty(group)) (void)other->remove_group(group);
    other->remove_parent();
  }
}

std::uint64_t CgroupTree::oom_kills(const std::string& name) const {
  const char* file = is_v2(Controller::memory) ? "memory.events" : "memory.oom_control";
  return keyed(get(Controller::memory, name, file).value_or(""), "oom_kill");
}

std::uint64_t CgroupTree::tasks(const std::string& name) const {
  return number(Controller::pids, name, "pids.current");
}

std::optional<std::uint64_t> CgroupTree::all_tasks() const {
  const auto text = get(Controller::pids, ".", "pids.current");
  if (!text) return std::nullopt;
  return to_number(*text);
}

std::vector<pid_t> CgroupTree::processes(const std::string& name) const {
  for (const Controller controller : {Controller::unified, Controller::pids, Controller::memory}) {
    const auto text = get(controller, name, "cgroup.procs");
    if (!text) continue;
    std::vector<pid_t> pids;
    for (const std::string& line : split(*text, '\n')) pids.push_back(static_cast<pid_t>(to_number(line)));
    return pids;
  }
  return {};
}

std::uint64_t CgroupTree::cpu_micros(const std::string& name) const {
  return keyed(get(Controller::unified, name, "cpu.stat").value_or(""), "usage_usec");
}

Result<GroupUsage> CgroupTree::usage(const std::string& name) const {
  GroupUsage usage;
  usage.cpu_micros = cpu_micros(name);
  if (is_v2(Controller::memory)) {
    usage.memory_bytes = number(Controller::memory, name, "memory.current");
    usage.memory_peak_bytes = number(Controller::memory, name, "memory.peak");
    usage.memory_cache_bytes = keyed(get(Controller::memory, name, "memory.stat").value_or(""), "file");
  } else if (has(Controller::memory)) {
    usage.memory_bytes = number(Controller::memory, name, "memory.usage_in_bytes");
    usage.memory_peak_bytes = number(Controller::memory, name, "memory.max_usage_in_bytes");
    usage.memory_cache_bytes = keyed(get(Controller::memory, name, "memory.stat").value_or(""), "cache");
  }
  const char* io_file = is_v2(Controller::io) ? "io.stat" : "blkio.throttle.io_service_bytes";
  std::istringstream lines(get(Controller::io, name, io_file).value_or(""));
  // "8:0 rbytes=1 wbytes=2" in version 2, "8:0 Read 1" in version 1.
  for (std::string line; std::getline(lines, line);) {
    for (const std::string& word : split(line, ' ')) {
      if (word.starts_with("rbytes=")) usage.read_bytes += to_number(std::string_view(word).substr(7));
      if (word.starts_with("wbytes=")) usage.written_bytes += to_number(std::string_view(word).substr(7));
    }
    if (const std::size_t at = line.find(" Read "); at != std::string::npos)
      usage.read_bytes += to_number(std::string_view(line).substr(at + 6));
    if (const std::size_t at = line.find(" Write "); at != std::string::npos)
      usage.written_bytes += to_number(std::string_view(line).substr(at + 7));
  }
  return usage;
}

os::Fd CgroupTree::watch_memory(const std::string& name) const {
  if (!has(Controller::memory)) return os::Fd();
  const int dir = at(Controller::memory).dir.get();
  if (is_v2(Controller::memory)) {
    auto events = os::open_at(dir, (name + "/memory.events").c_str(), O_RDONLY);
    return events ? std::move(*events) : os::Fd();
  }
  auto control = os::open_at(dir, (name + "/memory.oom_control").c_str(), O_RDONLY);
  // Version 1 tells through an eventfd that is registered with the file; version 2 makes the file itself
  // pollable.
  os::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!control || !event.is_open()) return os::Fd();
  const std::string line = fmt::format("{} {}", event.get(), control->get());
  if (!os::write_control_at(dir, (name + "/cgroup.event_control").c_str(), line)) return os::Fd();
  return event;
}

os::Fd CgroupTree::watch_memory_levels(const std::string& name, std::span<const std::uint64_t> levels) const {
  if (!has(Controller::memory) || is_v2(Controller::memory) || levels.empty()) return os::Fd();
  const int dir = at(Controller::memory).dir.get();
  auto usage = os::open_at(dir, (name + "/memory.usage_in_bytes").c_str(), O_RDONLY);
  os::Fd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!usage || !event.is_open()) return os::Fd();
  for (const std::uint64_t level : levels) {
    const std::string line = fmt::format("{} {} {}", event.get(), usage->get(), level);
    if (!os::write_control_at(dir, (name + "/cgroup.event_control").c_str(), line)) return os::Fd();
  }
  return event;
}

std::vector<std::string> CgroupTree::groups() const {
  std::set<std::string> names;
  for (const Hierarchy& hierarchy : controllers_) {
    if (!hierarchy.dir.is_open()) continue;
    // Through the descriptor: the path may not exist in this mount namespace.
    DIR* stream = ::fdopendir(::openat(hierarchy.dir.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (stream == nullptr) continue;
    while (const dirent* entry = ::readdir(stream))
      if (entry->d_type == DT_DIR && entry->d_name[0] != '.') names.insert(entry->d_name);
    ::closedir(stream);
  }
  return {names.begin(), names.end()};
}

}  // namespace atl::sandbox::native
