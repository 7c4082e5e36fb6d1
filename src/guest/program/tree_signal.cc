// Which processes belong to a process: its session, and descendants that left the session while their parents
// still live. Those that left it and whose parents have ended belong to none; they are children of this
// process.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "guest/program/process.h"

namespace atl::guest {
namespace {

struct Task {
  pid_t pid, parent, session;
  uint64_t start_time;
  bool is_stopped;
  bool hit;
};

// Fields 3 (state), 4 (parent), 6 (session) and 22 (start) of /proc/PID/stat, behind the name that may
// contain anything.
bool read_task(const char* name, Task* task) {
  char path[32] = "/proc/";
  if (strlen(name) > 12) return false;
  strcat(path, name), strcat(path, "/stat");
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[512];
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  if (size <= 0) return false;
  text[size] = 0;
  const char* at = strrchr(text, ')');
  if (at == nullptr || strlen(at) < 5 || at[2] == 'Z' || at[2] == 'X') return false;
  char* rest = nullptr;
  task->pid = atoi(name);
  task->is_stopped = at[2] == 'T';
  task->parent = static_cast<pid_t>(strtol(at + 4, &rest, 10));
  strtol(rest, &rest, 10);
  task->session = static_cast<pid_t>(strtol(rest, &rest, 10));
  for (int field = 7; field < 22; ++field) strtol(rest, &rest, 10);
  task->start_time = strtoull(rest, &rest, 10);
  task->hit = false;
  return true;
}

// Everything that runs, in the order of its numbers.
struct Tasks {
  Bytes bytes;
  Task* all = nullptr;
  size_t count = 0;

  void read() {
    bytes.clear(), count = 0;
    DIR* const directory = opendir("/proc");
    if (directory == nullptr) return;
    while (const dirent* entry = readdir(directory)) {
      Task task;
      if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !read_task(entry->d_name, &task)) continue;
      bytes.append(reinterpret_cast<const char*>(&task), sizeof task);
      ++count;
    }
    closedir(directory);
    // JUSTIFICATION: memory of our own, made for objects of this type.
    all = reinterpret_cast<Task*>(bytes.data());
  }

  const Task* find(pid_t pid) const {
    size_t low = 0, high = count;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (all[middle].pid == pid) return &all[middle];
      (all[middle].pid < pid ? low : high) = all[middle].pid < pid ? middle + 1 : middle;
    }
    return nullptr;
  }
};

// A choice marks the processes that are to get the signal; true if there are any.
class TreeOf {
 public:
  TreeOf(pid_t leader, bool reaped, pid_t except) : leader_(leader), reaped_(reaped), except_(except) {}

  bool mark(Tasks* tasks) const {
    bool any = false;
    for (bool again = true; again;) {
      again = false;
      for (size_t i = 0; i < tasks->count; ++i) {
        Task& task = tasks->all[i];
        if (task.hit || task.pid == getpid() || task.pid == 1 || task.pid == except_) continue;
        const Task* const parent = tasks->find(task.parent);
        task.hit = task.session == leader_ || (!reaped_ && task.pid == leader_) ||
                   (parent != nullptr && parent->hit);
        if (task.hit) again = any = true;
      }
    }
    return any;
  }

 private:
  pid_t leader_;
  bool reaped_;
  pid_t except_;
};

// A time in which something began, in ticks.
struct StartTimes {
  uint64_t since = 0, until = 0;
  bool holds(const Task& task) const { return task.start_time >= since && task.start_time <= until; }
};

uint64_t ticks_of(uint64_t micros) {
  const auto per_second = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  return micros / 1'000'000 * per_second + micros % 1'000'000 * per_second / 1'000'000;
}

class Background {
 public:
  // `interpreters` are `count` entries, as they came.
  Background(StartTimes start_times, const char* interpreters, size_t count)
      : start_times_(start_times), interpreters_(interpreters), count_(count) {}
  static constexpr size_t kEntry = sizeof(uint32_t) + sizeof(uint64_t);

  bool mark(Tasks* tasks) const {
    bool any = false;
    for (size_t i = 0; i < tasks->count; ++i) {
      Task& task = tasks->all[i];
      task.hit = task.start_time >= start_times_.since && is_background(*tasks, task);
      any = any || task.hit;
    }
    return any;
  }

 private:
  bool is_left_by(const Process& process, const Task& task) const {
    if (!process.interpreter || task.pid == process.pid) return false;
    for (size_t i = 0; i < count_; ++i) {
      Reader entry(interpreters_ + i * kEntry, kEntry);
      const uint32_t channel = entry.u32();
      const uint64_t until = ticks_of(entry.u64());
      if (channel == process.id) return StartTimes{start_times_.since, until}.holds(task);
    }
    return false;
  }

  // The process that it belongs to: itself, or the one whose session it is in.
  static const Process* owner(const Task& task) {
    for (const Process* process = first_process(); process != nullptr; process = process->next_process)
      if (!process->over && process->pid > 1 && (task.pid == process->pid || task.session == process->pid))
        return process;
    return nullptr;
  }

  static bool is_spare(const Task& task) {
    for (const Process* process = first_process(); process != nullptr; process = process->next_process)
      if (process->spare == task.pid && process->spare_start_time == task.start_time) return true;
    return false;
  }

  // Goes up to the first known ancestor. What is no descendant of this process is not looked at.
  bool is_background(const Tasks& tasks, const Task& task) const {
    const pid_t self = getpid();
    const Task* at = &task;
    for (size_t steps = 0; at != nullptr && steps <= tasks.count; ++steps) {
      if (at->pid == self || is_spare(*at)) return false;
      if (const Process* const process = owner(*at)) return is_left_by(*process, task);
      if (at->parent == self) return start_times_.holds(*at);
      at = tasks.find(at->parent);
    }
    return false;
  }

  StartTimes start_times_;
  const char* interpreters_;
  size_t count_;
};

// The dying need the processor, of which a sandbox may have little and a busy machine less: they are waited
// for as long as they become fewer, but one that is deep in the kernel may never end.
constexpr int64_t kPatienceMicros = 3'000'000;
// Well before the host takes this process for dead, which hears nothing else meanwhile.
constexpr int64_t kLongestMicros = 12'000'000;

int64_t monotonic_micros() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

// Holds everything inside still, in one step of the kernel's: what is being forked at that moment is held as
// well. Only where this process is the first of its own process namespace; elsewhere it would reach the whole
// machine.
void stop_everything(Tasks* before) {
  before->read();
  if (getpid() == 1) kill(-1, SIGSTOP);
}

// Continues the processes that are not to be killed and that only we had stopped.
void continue_others(const Tasks& before, const Tasks& now) {
  if (getpid() != 1) return;
  for (size_t i = 0; i < now.count; ++i) {
    const Task* const earlier = before.find(now.all[i].pid);
    const bool was_stopped =
        earlier != nullptr && earlier->start_time == now.all[i].start_time && earlier->is_stopped;
    if (!now.all[i].hit && !was_stopped && now.all[i].pid != 1) kill(now.all[i].pid, SIGCONT);
  }
}

// Kills them, and what they start meanwhile, until none is left. Many processes, or ones that fork faster
// than they can be looked at, are killed while everything stands still: killing parents first would make
// orphans of their children, and a fork bomb leaves little of the processor for a second look. Returns how
// many there were at first.
template <class Choice>
uint32_t end_all(const Choice& choice) {
  constexpr uint32_t kMany = 4;
  constexpr int kRoundsOnTheMove = 2;
  const int64_t began = monotonic_micros();
  int64_t until = began + kPatienceMicros;
  uint32_t at_first = 0, fewest = ~uint32_t{0};
  Tasks before, tasks;
  for (int round = 0;; ++round) {
    const bool stops = round >= kRoundsOnTheMove || (round > 0 && at_first > kMany);
    if (stops) stop_everything(&before);
    tasks.read();
    choice.mark(&tasks);
    uint32_t count = 0;
    for (size_t i = 0; i < tasks.count; ++i) count += tasks.all[i].hit ? 1 : 0;
    if (round == 0) at_first = count;
    const bool kills = stops || count <= kMany;
    for (size_t i = 0; kills && i < tasks.count; ++i)
      if (tasks.all[i].hit) kill(tasks.all[i].pid, SIGKILL);
    if (stops) continue_others(before, tasks);
    const int64_t now = monotonic_micros();
    if (count < fewest) fewest = count, until = now + kPatienceMicros;
    if (count == 0 || (stops && (now > until || now > began + kLongestMicros))) return at_first;
    if (kills) usleep(round < 8 ? 200U << round : 50'000U);
  }
}

}  // namespace

bool find_parentage(pid_t pid, Parentage* found) {
  Bytes name;
  append_number(name, static_cast<uint64_t>(pid));
  Task task;
  if (pid <= 0 || !read_task(name.c_str(), &task)) return false;
  *found = {task.parent, task.start_time};
  return true;
}

void signal_tree(pid_t leader, bool reaped, int number, pid_t except) {
  const TreeOf tree(leader, reaped, except);
  if (number == SIGKILL) {
    end_all(tree);
    return;
  }
  Tasks tasks;
  tasks.read();
  tree.mark(&tasks);
  for (size_t i = 0; i < tasks.count; ++i)
    if (tasks.all[i].hit) kill(tasks.all[i].pid, number);
}

void request_sweep(uint32_t channel, Reader in) {
  const uint64_t since = in.u64(), until = in.u64();
  const uint32_t count = in.u32();
  const Text interpreters = in.rest();
  if (!in.ok() || interpreters.size != uint64_t{count} * Background::kEntry)
    return send_failed(channel, EINVAL, "this is no sweep");
  const uint32_t killed = end_all(Background({ticks_of(since), ticks_of(until)}, interpreters.data, count));
  send_frame(channel, Type::reply, 0, &killed, sizeof killed);
}

}  // namespace atl::guest
