#pragma once

#include "api/e2b/message.h"
#include "session/types.h"

namespace atl::api::e2b {

// E2B's words about the way out as ours. `network` has allowOut, denyOut and rules; `internet` is
// allow_internet_access. Everything is allowed that is not denied, and allow beats deny. A domain in allowOut
// needs "0.0.0.0/0" in denyOut, as E2B has it. What we do not have is refused, never ignored.
Result<session::NetworkRequest> read_egress(const Object& network, bool internet);

// What a later update leaves of a sandbox's network settings: those about traffic in.
Object without_egress(Object network);

}  // namespace atl::api::e2b
