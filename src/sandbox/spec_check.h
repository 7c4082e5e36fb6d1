#pragma once

#include "base/result.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

// What no provider could make; the error names the field. What one of them lacks it says itself.
Result<void> check(const Spec& spec);

}  // namespace atl::sandbox
