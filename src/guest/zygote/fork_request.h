#pragma once

#include <linux/filter.h>
#include <stdint.h>

// What the spawner and a zygote say to each other: one packet a message. The zygote first says "ready" or
// what it could not import, then answers each fork. Included by both sides, so it needs nothing but C
// headers.
namespace atl::guest {

inline constexpr int kZygoteFd = 3;
inline constexpr uint32_t kForkMagic = 0x32'6e'72'62;  // "brn2"
inline constexpr uint32_t kInstructionsMax = 4096;

// Where an interpreter finds its control stream: far from what programs number their own descriptors.
constexpr int control_number(uint32_t open_files) {
  return open_files > 900 ? 900 : 60;
}

// Descriptors beside a fork, in this order.
enum ForkFd : int { kForkGuest, kForkUserNamespace, kForkOut, kForkErr, kForkControl, kForkFds };
// Behind them those of its control groups: the `unified` directory of version 2 that it starts in, and
// `groups` files of version 1 that it writes itself into. Joined by itself, alone in its process, a group
// costs microseconds; put there by another it makes the kernel wait for the whole machine.
inline constexpr int kForkGroupsMax = 5;

// Then: the filter's instructions, the user's name, the working directory (empty: the user's home).
struct ForkHeader {
  uint32_t magic = kForkMagic;
  uint32_t open_files = 0;    // RLIMIT_NOFILE
  uint32_t set_uid = 0;       // 1: set-uid programs work inside
  uint32_t instructions = 0;  // of the system-call filter
  uint32_t user_size = 0, directory_size = 0;
  int32_t pid = 0;       // the number inside; 0: any
  uint32_t copy = 0;     // 1: becomes a copy of a parked interpreter (restore_steps.h)
  uint32_t unified = 0;  // 1: there is a directory to start in
  uint32_t groups = 0;   // how many files to write to
};

// With the child's pidfd if it was forked. The child does not wait for it: it joins its groups before it does
// anything else.
struct ForkAnswer {
  int32_t error = 0;  // errno
  int32_t pid = 0;    // inside
};

}  // namespace atl::guest
