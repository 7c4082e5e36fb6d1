#pragma once

#include <functional>

#include "api/e2b/message.h"
#include "session/types.h"

namespace atl::api::e2b {

// How a password becomes what may be kept.
using Seal = std::function<Result<std::string>(const std::string& plain)>;

// E2B's words about the way out as ours. `network` has allowOut, denyOut, rules and egressProxy; `internet`
// is allow_internet_access. Everything is allowed that is not denied, and allow beats deny. A domain in
// allowOut needs "0.0.0.0/0" in denyOut, as E2B has it. What we do not have is refused, never ignored.
Result<session::NetworkRequest> read_egress(const Object& network, bool internet, const Seal& seal);

// What get() may show of the settings that a client sent: all but the proxy's password.
Object shown_network(Object network);
// The same after an update of the way out: that is replaced, what concerns traffic in stays.
Object updated_network(Object before, const Object& update);

}  // namespace atl::api::e2b
