#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

// What an ordinary user has instead of root: a user namespace in which it is root over nothing but itself.
namespace atl::sandbox {

// What a process that makes sandboxes works with.
struct Privileges {
  bool rootless = false;
  // Ids of the namespace besides the user's own, from 1 on; 0: there is only the user's own.
  std::uint32_t ids = 0;
  // Why there are no more ids, and the remedy. Empty when there are.
  std::string lacks_ids;

  bool has_one_id() const { return rootless && ids == 0; }
};

// Moves the calling process, which has one thread, into a new user namespace in which it is root. Ids come
// from /etc/subuid and /etc/subgid through newuidmap and newgidmap where the user has a range of at least
// kIdsWanted there; else the namespace has the user's own id only. Code::unsupported with the remedy when
// user namespaces are not to be had.
inline constexpr std::uint32_t kIdsWanted = 2000;
Result<Privileges> become_rootless();

// Why this process cannot have a user namespace, in words with the remedy.
std::string user_namespace_remedy();

}  // namespace atl::sandbox
