#pragma once

#include "base/result.h"
#include "layer/digest.h"

// Layers laid over each other on disk.
namespace atl::layer {

// Whether what the upper layer deletes is remembered (more layers will lie below) or done with (this is the
// lowest).
enum class Below : std::uint8_t { something, nothing };

// Lays the tree `upper` over the tree `lower`; both must be on one filesystem and nobody else's. `upper` is
// used up: its content is moved.
Result<void> merge(int upper, int lower, Below below, Owners owners);

// Fills the empty directory `target` with everything of `tree`; files become hard links to the same content,
// so neither may be written to.
Result<void> link_tree(int tree, int target, Owners owners);

}  // namespace atl::layer
