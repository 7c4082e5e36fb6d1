#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "layer/host_view.h"
#include "os/fd.h"
#include "sandbox/native/roots.h"
#include "sandbox/native/zygote.h"

// The small privileged process that builds native sandboxes. It is forked off before the program has threads,
// keeps to one thread and a mount namespace of its own with almost nothing in it, and answers requests
// (spawner_protocol.h) one after the other. It is the parent of every guest: when it dies, the kernel ends
// them.
namespace atl::sandbox::native {

struct SpawnerOptions {
  // The static program that becomes process 1 of each sandbox.
  std::string_view guest_program;
  // Where a restarted daemon finds the spawner again ("<run_directory>/spawner.sock"). Empty: the spawner
  // ends with its daemon.
  std::string run_directory;
  // How long sandboxes live on without a daemon.
  std::chrono::seconds orphan_time{60};
  // The same for paused ones, which use no processor, and whose owners were promised that they are kept.
  std::chrono::seconds paused_orphan_time{std::chrono::hours(24)};
  // Parts that are kept ready for sandboxes not yet asked for.
  std::uint32_t slots_ready = 4;
  // Real-time priority for the spawner while it works.
  bool realtime = true;
  // Make joining a control group fast by a mount option that concerns the whole machine.
  bool favor_dynmods = false;
  // Name of the parent control group; empty: CgroupTree::spawner_parent().
  std::string cgroup_parent;
  // Where writable layers live that are too large for memory. They have no names there.
  std::string image_directory = "/var/tmp";
  // What of the host it may touch for its daemon, beside the host's view. Nothing that is not named.
  RootPaths roots;
  layer::HostViewOptions host_view;
  // Interpreters that are forked ready, for sandboxes on the host's view.
  ZygoteOptions zygote;
};

// Starts the spawner and gives the socket to it. Call it before the first thread. The spawner closes every
// other descriptor it inherited. Fails without leaving a process when walls cannot be prepared at all; the
// reason says what is missing.
Result<os::Fd> start_spawner(const SpawnerOptions& options);

// A spawner of an earlier daemon, if one still lives; Code::not_found if not.
Result<os::Fd> find_spawner(const std::string& run_directory);

}  // namespace atl::sandbox::native
