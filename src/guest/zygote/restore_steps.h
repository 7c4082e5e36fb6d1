#pragma once

#include <stdint.h>

// How a copy of a parked interpreter comes to life in another child of the zygote. Both have the same layout,
// so nothing is relocated: the host tells the new one which memory to map, writes the pages that differ, and
// the new one goes on where the old one parked. Included by both sides, so it needs nothing but C headers.
namespace atl::guest {

// Memory of every child of a zygote that is never copied: the new one stands here while the rest is
// exchanged.
inline constexpr uint64_t kReservedAt = 0x6000'0000'0000;
inline constexpr uint64_t kReservedSize = 256U << 10;

enum class Move : uint32_t {
  unmap = 1,      // address, size
  map_anonymous,  // address, size, protection, flags: kMapDroppable or none
  map_file,       // address, size, protection, offset, path
  protect,        // address, size, protection
  forget,         // address, size: zeros again, or what the mapped file holds
  set_break,      // address
  touch,          // address: the stack grows down to it
  open,           // number, flags, offset, path
  duplicate,      // flags (the number to copy), number
  directory,      // path
  mask,           // flags: umask
  advise,         // address, size, flags: the advice of madvise
  sync,           // all went well until here: one Arrived is answered
  go_on,          // continue as the other one; flags: a Waking
};

// MAP_DROPPABLE, a kind of memory that headers of this system may not know yet.
inline constexpr uint32_t kMapDroppable = 8;

// As whom an interpreter wakes from its park.
enum class Waking : uint32_t { same, copy, resumed };

// Then `path_size` bytes.
struct Step {
  uint32_t move = 0;
  uint32_t path_size = 0;
  uint64_t address = 0, size = 0, offset = 0;
  uint32_t protection = 0, flags = 0;
  int32_t number = -1;
  uint32_t unused = 0;
};
static_assert(sizeof(Step) == 48);

// Answered to `sync`, and once before the first step; at the first failure too, and then the process ends.
struct Arrived {
  int32_t error = 0;  // errno
  uint32_t step = 0;  // counted from 1
};

}  // namespace atl::guest
