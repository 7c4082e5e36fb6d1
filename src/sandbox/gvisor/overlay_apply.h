#pragma once

#include "base/result.h"
#include "layer/overlay.h"

namespace atl::sandbox::gvisor {

// Brings what `saved` holds, a copy of an overlay's writable layer, into a mounted overlay through `merged`,
// a directory of it that nobody else uses yet: afterwards it looks as the one did whose layer was copied. (A
// writable layer itself must not be changed once it is mounted.) Both are descriptors of directories and stay
// the caller's. What another filesystem is mounted over is left as it is. `attributes` is how that overlay
// was mounted, and the one that `saved` comes from.
//
// Meant for the few files of a small layer. Code::unsupported for what is better copied before the mount:
// many files, deep trees, hard links, holes, special files, whole directories that were removed or replaced.
// Code::no_space if they do not fit. After a failure `merged` holds a part of them.
Result<void> apply_layer(int saved, int merged, layer::OverlayAttributes attributes);

}  // namespace atl::sandbox::gvisor
