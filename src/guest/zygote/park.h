#pragma once

#include "guest/zygote/restore_steps.h"

// A live copy's two ends, inside an interpreter: see park.cc.
namespace atl::guest {

// Once, in the zygote: memory that its children stand on while the rest is exchanged.
bool reserve_memory();

// Tells the host "B" on the control stream and waits for its "U 0\n". Returns twice as it were: in the
// interpreter that parked, and in each copy of it.
Waking park(int control);

// Follows the host's steps (restore_steps.h) and goes on as the interpreter that parked.
[[noreturn]] void become_other(int control);

}  // namespace atl::guest
