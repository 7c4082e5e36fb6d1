#pragma once

#include <string>
#include <string_view>

#include "shell/command.h"

namespace atl::shell {

// For commands that start another one: 0 if `program` can be started, else 126 or 127 after a message in the
// command's own words. `called` says how they name it: "{}", "'{}'", "failed to run command '{}'".
int refuse_start(Invocation& call, const std::string& program, std::string_view called = "{}");

}  // namespace atl::shell
