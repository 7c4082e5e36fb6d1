#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"

// Control groups of sandboxes, version 1, 2 and both at once behind one type. A sandbox has one group, which
// is a directory of the same name in every hierarchy that serves it, below one parent that belongs to one
// spawner.
namespace atl::sandbox::native {

enum class Controller : std::uint8_t { memory, pids, cpu, io, unified };
inline constexpr std::size_t kControllers = 5;

// Descriptors by which a process joins one group itself: it is started in `unified` (CLONE_INTO_CGROUP), then
// writes "0" to each of `tasks`. Takes no lock that makes the whole machine wait.
struct GroupDescriptors {
  os::Fd unified;  // closed where nothing is version 2
  std::vector<os::Fd> tasks;
};

// What the kernel counted for one group.
struct GroupUsage {
  std::uint64_t cpu_micros = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_peak_bytes = 0;
  std::uint64_t memory_cache_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
};

// The hierarchies of this machine and the parent directory in each. The spawner makes it; the daemon opens
// the same one only to read. Owns the descriptors of the parent's directories; groups belong to whoever made
// them and stay until remove_group(). Calls that read may be made on any thread; those that make, move or
// remove are the spawner's. Descriptors stay valid in a mount namespace that shows no cgroup filesystem.
class CgroupTree {
 public:
  // `parent` is one path component. Makes the parent in every hierarchy that can be written, below the group
  // this process is in (version 1) or below the root or the delegated group (version 2). A machine without
  // any usable hierarchy gives an empty tree, not an error: see missing().
  static Result<CgroupTree> create(const std::string& parent);
  // For reading, in another process.
  static Result<CgroupTree> open(const std::string& parent);

  // "v1", "v2", "hybrid" or "none".
  std::string_view version() const;
  bool has(Controller controller) const { return controllers_[index(controller)].dir.is_open(); }
  bool is_v2(Controller controller) const { return controllers_[index(controller)].v2; }
  // What cannot be limited here, with the remedy.
  std::vector<Wall> missing() const;

  // On failure the group may exist in some hierarchies: remove_group() removes what is there.
  Result<void> make_group(const std::string& name);
  // Sets the limits and appends what the kernel accepted to `walls`.
  Result<void> apply(const std::string& name, const Limits& limits, std::vector<Wall>& walls);
  // Moves the caller, whose process has no other thread, into the group, everywhere or without (then only)
  // the CPU controller: a version 1 CPU group does not take a process with real-time priority. `forked`: the
  // kernel put it into the version 2 group when it made it. Takes no lock that makes the whole machine wait,
  // as moving another does: its first use after some quiet costs 10 ms.
  enum class Part { all, all_but_cpu, only_cpu };
  Result<void> join(const std::string& name, Part part, bool forked);
  // Everywhere where this tree has groups.
  bool exists(const std::string& name) const;
  // A descriptor for CLONE_INTO_CGROUP; closed where nothing is version 2.
  Result<os::Fd> open_v2(const std::string& name);
  // For a process that is forked elsewhere and then joins by itself. The caller's to close.
  Result<GroupDescriptors> open_group(const std::string& name);

  // Returns at once; everything stands still when is_frozen() says so, which what is inside can hold up for
  // as long as it likes.
  Result<void> begin_freeze(const std::string& name);
  bool is_frozen(const std::string& name) const;
  // Also ends a freeze that is under way. A group that runs stays so.
  Result<void> thaw(const std::string& name);
  // SIGKILL to everything inside where the kernel can do it in one step; else does nothing.
  void kill(const std::string& name);
  bool is_empty(const std::string& name) const;
  // Code::conflict while something is inside.
  Result<void> remove_group(const std::string& name);
  // The parent, once it has no groups.
  void remove_parent();
  // The name of a spawner's parent: "atoll-<pid>.<start of the process>", and outside of the machine's first
  // PID namespace the number of the namespace behind it. No two processes of a machine ever have the same.
  static std::string spawner_parent(pid_t pid);
  // Ends and removes what spawners left that were killed: groups below this parent, and parents beside it
  // that are named by spawner_parent() in this PID namespace and whose process is gone. Those of other
  // namespaces cannot be judged from here and stay. Only for a parent that was just made and is not in use.
  void clear_leftovers();

  // What the kernel does not count is 0. Numbers of a group that is gone are 0, too.
  Result<GroupUsage> usage(const std::string& name) const;
  std::uint64_t cpu_micros(const std::string& name) const;
  std::uint64_t oom_kills(const std::string& name) const;
  std::uint64_t tasks(const std::string& name) const;
  // Of all groups below the parent together; nothing where the kernel does not count.
  std::optional<std::uint64_t> all_tasks() const;
  // Some hierarchy knows which processes a group has.
  bool counts_processes() const {
    return has(Controller::unified) || has(Controller::pids) || has(Controller::memory);
  }
  // Processes, threads not counted.
  std::vector<pid_t> processes(const std::string& name) const;
  // Tells when the group runs out of memory: an eventfd that becomes readable (version 1), or a file with an
  // exceptional condition when it changes (version 2). Closed where there is neither.
  os::Fd watch_memory(const std::string& name) const;
  // Tells when the group's memory passes one of these numbers of bytes, in either direction: an eventfd.
  // Version 1 only; closed elsewhere.
  os::Fd watch_memory_levels(const std::string& name, std::span<const std::uint64_t> levels) const;
  // Names of groups below the parent.
  std::vector<std::string> groups() const;
  const std::string& parent() const { return parent_; }

 private:
  struct Hierarchy {
    os::Fd dir;        // of the parent
    std::string path;  // of the parent, as mounted
    bool v2 = false;
    bool duplicate = false;  // another controller's directory is the same one
  };
  static std::size_t index(Controller controller) { return static_cast<std::size_t>(controller); }
  const Hierarchy& at(Controller controller) const { return controllers_[index(controller)]; }
  static Result<CgroupTree> locate(const std::string& parent, bool make);
  Result<void> set(Controller controller, const std::string& name, const char* file,
                   const std::string& value);
  std::optional<std::string> get(Controller controller, const std::string& name, const char* file) const;
  std::uint64_t number(Controller controller, const std::string& name, const char* file) const;

  void limit_socket_buffers(const std::string& name, std::uint64_t memory_bytes, std::vector<Wall>& walls);
  Result<void> limit_io(const std::string& name, std::uint64_t bytes_per_second, std::vector<Wall>& walls);

  std::array<Hierarchy, kControllers> controllers_;
  std::vector<std::string> disks_;  // "major:minor" of whole disks, as they were when the tree was made
  std::string parent_;
};

}  // namespace atl::sandbox::native
