// Who belongs to a process: its session, and the descendants that left it while their parents still live.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "guest/program/process.h"

namespace atl::guest {
namespace {

struct Task {
  pid_t pid, parent, session;
  uint64_t born;
  bool hit;
};

// Fields 4 (parent), 6 (session) and 22 (start) of /proc/PID/stat, behind the name that may contain anything.
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
  task->parent = static_cast<pid_t>(strtol(at + 4, &rest, 10));
  strtol(rest, &rest, 10);
  task->session = static_cast<pid_t>(strtol(rest, &rest, 10));
  for (int field = 7; field < 22; ++field) strtol(rest, &rest, 10);
  task->born = strtoull(rest, &rest, 10);
  task->hit = false;
  return true;
}

size_t read_tasks(Bytes* out) {
  DIR* const directory = opendir("/proc");
  if (directory == nullptr) return 0;
  size_t count = 0;
  while (const dirent* entry = readdir(directory)) {
    Task task;
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || !read_task(entry->d_name, &task)) continue;
    out->append(reinterpret_cast<const char*>(&task), sizeof task);
    ++count;
  }
  closedir(directory);
  return count;
}

// Marks the members among `tasks`; true if any is new.
bool mark(Task* tasks, size_t count, pid_t leader, bool reaped, pid_t except) {
  bool any = false;
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < count; ++i) {
      if (tasks[i].hit || tasks[i].pid == 1 || tasks[i].pid == except) continue;
      bool member = tasks[i].session == leader || (!reaped && tasks[i].pid == leader);
      for (size_t j = 0; j < count && !member; ++j) member = tasks[j].hit && tasks[j].pid == tasks[i].parent;
      if (member) tasks[i].hit = again = any = true;
    }
  }
  return any;
}

}  // namespace

bool find_parentage(pid_t pid, Parentage* found) {
  Bytes name;
  append_number(name, static_cast<uint64_t>(pid));
  Task task;
  if (pid <= 0 || !read_task(name.c_str(), &task)) return false;
  *found = {task.parent, task.born};
  return true;
}

void signal_tree(pid_t leader, bool reaped, int number, pid_t except) {
  // A member may fork while we look: stop what was found, look again, and only then signal. What is stopped
  // cannot fork; a few rounds catch the rest.
  const bool kills = number == SIGKILL;
  for (int round = 0; round < (kills ? 8 : 1); ++round) {
    Bytes found(0);
    const size_t count = read_tasks(&found);
    auto* const tasks = reinterpret_cast<Task*>(found.data());
    if (!mark(tasks, count, leader, reaped, except)) return;
    if (kills && round == 0) {
      for (size_t i = 0; i < count; ++i)
        if (tasks[i].hit) kill(tasks[i].pid, SIGSTOP);
      continue;
    }
    for (size_t i = 0; i < count; ++i)
      if (tasks[i].hit) kill(tasks[i].pid, number);
  }
}

}  // namespace atl::guest
