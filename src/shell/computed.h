#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shell/variable.h"

namespace atl::shell {

class ShellRunner;

// The variables that the shell computes when they are read (LINENO, RANDOM, FUNCNAME, PIPESTATUS, ...);
// nothing for other names. Does not look whether a variable of the script hides it. Reading RANDOM moves its
// generator.
std::optional<Variable> computed_variable(ShellRunner& shell, std::string_view name);

// $-: the letters of the options that are set.
std::string option_letters(const ShellRunner& shell);

}  // namespace atl::shell
