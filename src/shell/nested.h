#pragma once

#include "shell/command.h"

namespace atl::shell {

// sh and bash: a new shell of ours, with the exported variables of the caller.
int run_shell(Invocation& call);

}  // namespace atl::shell
