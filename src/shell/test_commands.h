#pragma once

#include <span>
#include <string_view>

#include "shell/command.h"

namespace atl::shell {

// Small programs that test suites of shells call: argv.py, printenv.py, stdout_stderr.py, read_from_fd.py.
std::span<const Command> test_commands();

}  // namespace atl::shell
