#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "layer/overlay.h"
#include "os/fd.h"
#include "sandbox/gvisor/roots.h"
#include "sandbox/gvisor/runsc.h"
#include "sandbox/isolation.h"
#include "sandbox/rootless.h"
#include "sandbox/spec.h"

namespace atl::sandbox::gvisor {

struct EngineOptions {
  Runsc runsc;
  // Holds everything that the engine makes, and nothing else. Made if it is missing.
  std::string directory;
  RootPaths roots;
  std::string_view guest_program;
};

// yes: the call returns only after everything it wrote has reached the disk (fsync).
enum class Durable : std::uint8_t { no, yes };

// A sandbox that runs.
struct Started {
  pid_t pid = 0;  // of gVisor's kernel
  Isolation isolation;
  std::vector<std::string> groups;  // container::GroupReader::paths()
};

// What can be said of all sandboxes of that runsc: `limits` where no control groups can be made, what is old.
Isolation probed(const Runsc& runsc, bool has_groups);
// For a process of an ordinary user, which has one thread: it becomes root of a user namespace with a range
// of ids. Code::unsupported with the remedy where that is not to be had; runsc can restore nothing in a
// namespace of one id.
Result<Privileges> enter_namespace();

// What the broker does for its daemon with runsc: root filesystems, bundles, containers, snapshots. Needs
// root, or a range of ids for a user namespace, and a process with one thread. Calls wait for programs and
// disks, so the broker makes each in a child of its own; the children share the broker's mount namespace, and
// what they mount stays when they end.
class Engine {
 public:
  // Moves this process into a mount namespace of its own (and, if it is not root's, into a user namespace
  // first), removes what an earlier engine left in the directory, and prepares what all sandboxes share.
  static Result<Engine> open(EngineOptions options);

  const Runsc& runsc() const { return options_.runsc; }
  // What is known before there is a sandbox.
  Isolation probed() const { return gvisor::probed(options_.runsc, limits_by_groups_); }

  // A container of that name, whose guest speaks on `stream` (a socket; it stays the caller's). With `memory`
  // it goes on from the checkpoint that spec.snapshot is. On failure nothing is left.
  Result<Started> create(const std::string& container, const Spec& spec, bool memory, int stream) const;
  // Whether containers can be made ahead of the memory that they go on from.
  bool can_prepare() const { return options_.runsc.leaves_running; }
  // A container of that kind, without files and memory of its own, that fill() makes a copy. On failure
  // nothing is left.
  Result<Started> prepare(const std::string& container, const Spec& spec, int stream) const;
  // It goes on from the checkpoint that spec.snapshot is. After a failure, Code::unsupported if create() may
  // succeed, the caller kills and removes it.
  Result<Started> fill(const std::string& container, const Spec& spec) const;
  Result<void> pause(const std::string& container) const;
  Result<void> resume(const std::string& container) const;
  // To the guest: another host takes its stream over.
  Result<void> announce_host(const std::string& container) const;
  // What changed, as directories "root" and "usr" in a new directory: there whole or not at all.
  // The sandbox must stand still.
  Result<void> snapshot(const std::string& box, const std::string& target) const;
  // The same with its memory and `notes`, a file of the caller's. The guest must be held. Where runsc cannot
  // leave the sandbox running, it ends here and goes on as the container `next` on `stream`. After a success
  // the caller calls finish_checkpoint(), once it has told its daemon: until then a sandbox that was left
  // running stays paused, and one that was replaced keeps its old container's name.
  struct Saved {
    bool replaced = false;
    pid_t pid = 0;  // of the new one
    std::vector<std::string> groups;
  };
  Result<Saved> checkpoint(const std::string& box, const std::string& container, const std::string& next,
                           const std::string& target, const std::string& notes, Durable durable,
                           int stream) const;
  void finish_checkpoint(const std::string& container, const Saved& saved) const;
  // The caller's file of a checkpoint.
  Result<std::string> notes(const std::string& snapshot) const;
  // Kills everything in it: no process of it is left when this returns. `pid` is gVisor's kernel, as a
  // descriptor.
  Result<void> kill(int pid, const std::vector<std::string>& groups) const;
  // Removes what is left of a container that was killed: names, groups, mounts, files.
  void remove(const std::string& box, const std::string& container) const;

  Result<void> discard(const std::string& snapshot) const;
  Result<void> forget_memory(const std::string& snapshot) const;
  Result<std::uint64_t> measure(const std::string& snapshot) const;
  // Unmounts and removes what all sandboxes share. No sandbox may run any more.
  void close() const;

  // The directory of a sandbox: the same through all containers that it becomes.
  std::string box(const std::string& name) const { return options_.directory + "/boxes/" + name; }

 private:
  explicit Engine(EngineOptions options) : options_(std::move(options)) {}
  Result<void> set_up();
  void clear_leftovers() const;
  Result<void> make_upper(const std::string& box, const Spec& spec, Isolation& isolation) const;
  Result<void> fill_upper(const std::string& box, const Spec& spec, bool memory) const;
  Result<void> mount_root(const std::string& box, const Spec& spec) const;
  Result<void> write_bundle(const std::string& box, const std::string& container, const Spec& spec) const;
  // How a container begins: with its program, from a checkpoint, or later.
  enum class Beginning : std::uint8_t { run, restore, create };
  Result<pid_t> launch(const std::string& box, const std::string& container, Beginning beginning,
                       const std::string& image, int stream, bool shares_mounts) const;
  std::vector<std::string> global_flags(bool shares_mounts) const;
  Result<void> ask(std::vector<std::string> arguments, int seconds = 30) const;
  Result<void> copy_upper(const std::string& box, const os::Fd& draft) const;

  layer::OverlayAttributes overlay_attributes() const {
    return privileges_.rootless ? layer::OverlayAttributes::user : layer::OverlayAttributes::trusted;
  }

  EngineOptions options_;
  Privileges privileges_;
  Roots layers_, snapshots_, mounts_, writable_mounts_;
  bool limits_by_groups_ = true;
};

}  // namespace atl::sandbox::gvisor
