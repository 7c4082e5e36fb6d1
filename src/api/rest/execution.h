#pragma once

#include <chrono>
#include <optional>

#include "api/rest/body.h"
#include "sandbox/interpreter.h"

namespace atl::api::rest {

// The fields "language" and "timeout_seconds", which several routes have.
Result<std::optional<sandbox::Language>> read_language(const Body& body);
Result<std::optional<std::chrono::milliseconds>> read_timeout(const Body& body);

}  // namespace atl::api::rest
