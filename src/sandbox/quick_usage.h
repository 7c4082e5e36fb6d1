#pragma once

#include <optional>

#include "sandbox/limits.h"

namespace atl::sandbox {

// What a sandbox is as well whose engine takes its time to say how full the disk is: the rest is known at
// once, and nobody who has just executed something should wait for the engine. Belongs to the loop thread.
class QuickUsage {
 public:
  virtual ~QuickUsage() = default;
  // As Sandbox::usage(), but that the disk is as it was when the engine was asked last, which it is again
  // soon after this. Nothing if the engine has to be asked for all of it, or the sandbox has ended.
  virtual std::optional<Usage> usage_now() = 0;
};

}  // namespace atl::sandbox
