#pragma once

#include "base/result.h"
#include "volume/tree.h"

namespace atl::volume {

// What a tree takes on the disk, at any depth, with a bounded number of descriptors: blocks, and one inode for each thing
// that has one (a file of several names counts once). Somebody may be changing it meanwhile: a directory that was moved
// away while its inside was counted is Code::unavailable, because what is left of the walk would start somewhere else.
// Counting ends once it is over `bounds`: that is all one wants to know, and it bounds what the walk remembers.
Result<Holding> count_below(int directory, const Bounds& bounds);

}  // namespace atl::volume
