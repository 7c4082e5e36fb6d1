#pragma once

#include <optional>

#include "sandbox/limits.h"

namespace atl::sandbox {

// An interface that a sandbox has besides Sandbox if its engine is slow to say how full the disk is. The
// other figures are known at once, and an execution that has just ended should not wait for the engine.
// Belongs to the loop thread.
class QuickUsage {
 public:
  virtual ~QuickUsage() = default;
  // As Sandbox::usage(), but that the disk is as it was when the engine was asked last, which it is again
  // soon after this. Nothing if the engine has to be asked for all of it, or the sandbox has ended.
  virtual std::optional<Usage> usage_now() = 0;
};

}  // namespace atl::sandbox
