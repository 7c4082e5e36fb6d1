#pragma once

#include <span>
#include <string_view>

#include "shell/command.h"

namespace atl::shell {

// Every command that is not a builtin of the language, sorted by name.
std::span<const Command> command_table();
// Null if there is none of that name.
const Command* find_command(std::string_view name);

}  // namespace atl::shell
