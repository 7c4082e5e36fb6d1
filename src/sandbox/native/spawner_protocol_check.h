#pragma once

#include "base/result.h"
#include "sandbox/native/spawner_protocol.h"

namespace atl::sandbox::native {

// What the spawner asks of every request before it looks at it, because a daemon may have been taken over:
// names and numbers within what any sandbox can have, texts without ends inside. Code::invalid_argument with
// the field. Paths are Roots' matter, and whose a name is the spawner's.
Result<void> check(const Request& request);

// False for what concerns the spawner itself, volumes or snapshots.
bool is_about_a_sandbox(Verb verb);

}  // namespace atl::sandbox::native
