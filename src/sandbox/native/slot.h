#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

// Parts of a sandbox that are made before it is asked for: a range of user ids with its user namespace, and a
// network namespace with its loopback up. Everything here is the spawner's: a slot is owned by the sandbox
// that it was given to, and goes back to PartsPool when that has ended. Functions that make a namespace leave
// nothing behind when they fail; they may be called on any thread of the spawner.
namespace atl::sandbox::native {

inline constexpr std::uint32_t kIdsPerSandbox = 65536;

// Ranges of ids that no other spawner on this machine uses at the same time. They come in blocks; a block is
// held by an abstract socket, so it is free again when this process ends, however it ends.
class IdRanges {
 public:
  // The first id of a range of kIdsPerSandbox. Code::resource_exhausted when every block is taken.
  Result<std::uint32_t> take();
  void give_back(std::uint32_t first);

 private:
  Result<void> take_block();
  std::vector<std::uint32_t> free_;
  std::vector<os::Fd> locks_;
};

// How the ids inside a sandbox are numbered in the spawner's user namespace: `count` of them, from `inside`
// on, begin at `first`.
struct IdMap {
  std::uint32_t first = 0;
  std::uint32_t count = kIdsPerSandbox;
  std::uint32_t inside = 0;  // 0, or 1000 when `user` is the only one
  bool operator==(const IdMap&) const = default;

  // What is not mapped is shown as the first.
  std::uint32_t outside(std::uint32_t id) const {
    return id >= inside && id - inside < count ? first + (id - inside) : first;
  }
};

struct Slot {
  IdMap ids;
  os::Fd user_namespace;
  os::Fd network_namespace;
};

// A user namespace with this map of users and groups. `proc` is a descriptor of a /proc that shows this
// process.
Result<os::Fd> make_user_namespace(int proc, const IdMap& users, const IdMap& groups);
inline Result<os::Fd> make_user_namespace(int proc, const IdMap& map) {
  return make_user_namespace(proc, map, map);
}
// The same for one sandbox of a spawner with root's power, owned by the first of the sandbox's own ids. The
// kernel counts inotify instances, message queues, locked memory, pending signals and namespaces of everybody
// inside also for the owner, one level up: made by root, every sandbox would use up the same allowance, and
// root's.
Result<os::Fd> make_counted_namespace(int proc, const IdMap& map);
// What the calling thread's network shows of what happened in it: every counter, and every socket that is
// still there. Empty where it cannot be seen.
std::string network_traces(int proc);
// A network namespace with nothing but a loopback that is up. The caller's own is unchanged.
Result<os::Fd> make_network_namespace(int proc);

}  // namespace atl::sandbox::native
