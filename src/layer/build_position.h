#pragma once

#include <cstddef>
#include <functional>

#include "layer/build.h"

namespace atl::layer {

// How far a build is: which layer of how many it is at, and of that one a share from 0 to 1. `done` of `all`
// packages are unpacked or set up; 0 of 0 where nobody knows.
struct BuildPosition {
  std::size_t layer = 0, layers = 0;
  double share = 0;
  std::size_t done = 0, all = 0;
};
// On whichever thread learns it. At the end `layer` is `layers`.
using Positioned = std::function<void(const BuildPosition&)>;

// The same as in build.h, for a watcher.
Result<BuildResult> build(Store& store, const Recipe& recipe, StepRunner& runner, Interrupt& interrupt,
                          const BuildOptions& options, const Positioned& moved);

}  // namespace atl::layer
