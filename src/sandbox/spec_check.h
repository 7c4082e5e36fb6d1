#pragma once

#include <string_view>

#include "base/result.h"
#include "sandbox/spec.h"

namespace atl::sandbox {

// What no provider could make; the error names the field. What one of them lacks it says itself.
Result<void> check(const Spec& spec);

// Whether an engine would read this as the reference of an image: "python", "python:3.13-slim",
// "host:5000/team/name@sha256:...". Nothing is looked up.
bool is_image_reference(std::string_view text);

}  // namespace atl::sandbox
