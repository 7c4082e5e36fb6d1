#pragma once

#include <optional>

#include "api/rest/body.h"
#include "session/types.h"

namespace atl::api::rest {

// The field "network" of a body: a mode, or an object with mode, allow, deny and headers.
Result<std::optional<session::NetworkRequest>> read_network(const Body& body);

}  // namespace atl::api::rest
