#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/rootless.h"
#include "sandbox/native/slot.h"

namespace atl::sandbox::native {

// A slot and the control group that goes with it, and the limits that the group has so far.
// Owned by the caller of take(), until give_back().
struct Parts {
  Slot slot;
  std::string group;
  Limits limits;
  std::vector<Wall> limit_walls;
};

// Parts of sandboxes: made before they are asked for, on a thread of its own, so that the one that builds
// does not, and taken apart after their processes are gone. A control group serves one sandbox only. A range
// of ids serves the next with its user namespace, which is nothing but their map; so does a network namespace
// in which, by all that the kernel counts, nothing ever happened.
// take(), give_back() and finished() are for the spawner's own thread.
class PartsPool {
 public:
  struct Setting {
    int proc = -1;  // a /proc that shows this process
    CgroupTree* cgroups = nullptr;
    const Privileges* privileges = nullptr;
    std::uint32_t ready = 0;  // how many to have ready
  };
  explicit PartsPool(const Setting& setting);
  ~PartsPool();
  PartsPool(const PartsPool&) = delete;
  PartsPool& operator=(const PartsPool&) = delete;

  // A ready one, or one that is made at once. It has these limits, and so will the next ones: the same limits
  // are likely to be asked for again.
  Result<Parts> take(const Limits& limits);
  // Parts of a sandbox whose processes are gone. True: nothing is left of them. Else `ticket` is among
  // finished() when that is so: the kernel may need a moment to let go of a group. `behind` is closed
  // afterwards, by the thread: it may be the last descriptor of a filesystem with as many files as a guest
  // liked to make.
  bool give_back(Parts parts, std::uint64_t ticket, os::Fd behind = {});
  // Readable when there is something in finished().
  int finished_fd() const { return finished_event_.get(); }
  std::vector<std::uint64_t> finished();
  // Takes everything apart and ends the thread.
  void close();

  // Held while a child that shares this process's memory changes its user: until that is over, an ordinary
  // user's own /proc/<pid> is closed to it, and no user namespace can be mapped.
  std::mutex& users() { return users_; }

 private:
  struct Leaving {
    Parts parts;
    std::uint64_t ticket = 0;
    int attempts = 0;
    os::Fd behind = {};
  };
  void work();
  // One that leaves, or one more attempt.
  void retire(std::unique_lock<std::mutex>& lock);
  // On failure the group is removed, and the slot waits for the next one.
  Result<Parts> make();
  Result<void> limit(Parts& parts, const Limits& limits);
  Result<void> complete(Parts& parts);
  // A used one, else a new one.
  Result<Slot> take_slot();
  // Notes what a network namespace shows in which nothing ever happened.
  void learn_network();
  bool is_untouched(const os::Fd& network) const;
  // False: the group still has tasks, or is being removed; to be tried again.
  bool take_apart(Leaving& leaving);
  void finish(std::uint64_t ticket);

  Setting setting_;
  os::Fd finished_event_;
  std::mutex users_;
  std::mutex lock_;  // of everything below
  std::condition_variable changed_;
  IdRanges ids_;
  std::vector<Slot> slots_;  // used ones
  // The thread's: its own network, and what one shows that was never used.
  os::Fd own_network_;
  std::string pristine_;
  std::deque<Parts> ready_;
  std::deque<Leaving> leaving_;
  std::vector<std::uint64_t> finished_;
  std::uint64_t serial_ = 0;
  Limits usual_;
  bool working_ = false;
  bool closing_ = false;
  bool exhausted_ = false;  // making one failed: wait until one is asked for
  std::thread thread_;
};

}  // namespace atl::sandbox::native
