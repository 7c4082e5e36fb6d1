#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/isolation.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/filter.h"
#include "sandbox/native/proc_view.h"
#include "sandbox/native/rootless.h"
#include "sandbox/native/slot.h"
#include "sandbox/spec.h"

// Building the walls of one sandbox: the ordered recipe that the new process 1 follows, from a copy of the
// spawner to the guest's first instruction.
namespace atl::sandbox::native {

// Descriptors that the guest starts with (guest/protocol.h), and where the spawner keeps the program. The
// spawner keeps all three numbers reserved, because parent and child share one descriptor table until the
// exec.
inline constexpr int kStreamFd = 3;
inline constexpr int kHandoverFd = 4;
inline constexpr int kProgramFd = 5;

// Paths in the spawner's own tiny root, which holds nothing of the host but /usr.
namespace tiny {
inline constexpr const char* kSkeleton = "/skel";  // the made-up part of the host view
inline constexpr const char* kCover = "/cover";    // hides parts of /usr
inline constexpr const char* kDevices = "/devices";
inline constexpr const char* kNullFile = "/devices/null";
inline constexpr const char* kEmpty = "/empty";
inline constexpr const char* kUpper = "/upper";  // where each sandbox mounts its writable layer
inline constexpr const char* kRoot = "/root";    // where each sandbox builds its root
inline constexpr const char* kProc = "/proc";    // shows nothing; only for ordinary users
inline constexpr const char* kView = "/view";    // files of /proc, by limits
inline constexpr const char* kLower = "/lower";  // numbered mount points for layers
inline constexpr int kLowerMax = 24;
}  // namespace tiny

// What of a fresh /proc is covered where it exists, as paths from the new root.
struct ProcCover {
  std::vector<std::string> files, directories;
  int closed = 0;  // that nobody but the host's root may open, who is nobody inside
};
// `proc` is the host's.
ProcCover choose_cover(int proc);

// A detached mount and its place inside. Where `cleared_below` is set, no link on the way below it is
// followed (mount_point.h).
struct Bind {
  os::Fd mount;
  std::string path;
  std::string cleared_below = {};
};

// Everything that is ready before the process exists. Borrowed until the child has executed the guest.
struct WallPlan {
  const Spec& spec;
  const Slot& slot;
  const Filter& filter;
  CgroupTree& cgroups;
  const Privileges& privileges;
  const ProcCover& cover;
  const std::vector<int>& ignored_signals;  // by the spawner
  std::string group;
  std::string view;  // a directory with kViewFiles (proc_view.h)
  std::string machine_id;
  std::string boot_id;
  int stream_fd = -1;
  int handover_fd = -1;
  bool host_view = true;
  // Detached mounts of layers, lowest first: the spec's, then the snapshot's.
  std::vector<os::Fd> layer_mounts;
  os::Fd snapshot_usr;
  // Parts of the host that are mounted as they are (not /usr), and the spec's mounts.
  std::vector<Bind> binds;
  // A mounted disk image as the writable layer; closed: a tmpfs of the spec's size.
  os::Fd image_mount;
  bool realtime = false;
  // The kernel put the process into its version 2 group when it made it.
  bool starts_in_group = false;
};

// Written by the child into the parent's memory.
// Complete when the child has executed the guest or has ended; the parent sleeps until then.
struct WallReport {
  Isolation isolation;
  std::optional<Error> error;
  os::Fd upper;  // the writable layer, seen from the host
};

// Every step either takes effect or ends the child with an error: a sandbox with fewer walls than its
// Isolation says never runs. Runs in the child, which shares memory and descriptors with the suspended
// parent. Executes the guest, or leaves the reason in report.error and ends.
[[noreturn]] void build_walls(WallPlan& plan, WallReport& report);

}  // namespace atl::sandbox::native
