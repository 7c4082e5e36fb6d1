#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace atl::os {

struct TreeSize {
  std::uint64_t bytes = 0;
  std::uint64_t inodes = 0;
};

// What a tree takes on the disk, at any depth, with a bounded number of descriptors: blocks, and one inode
// for each thing that has one (a file of several names counts once). Directories that may not be read are
// counted without what is in them. Somebody may be changing it meanwhile: a directory that was moved away
// while its inside was counted is Code::unavailable, because what is left of the walk would start somewhere
// else. Counting ends once `is_enough` says so: that bounds what the walk takes and remembers.
using IsEnough = std::function<bool(const TreeSize&)>;
Result<TreeSize> measure_tree(int directory, const IsEnough& is_enough = nullptr);

}  // namespace atl::os
