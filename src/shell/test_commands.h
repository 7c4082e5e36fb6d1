#pragma once

#include <span>
#include <string_view>

#include "shell/command.h"

namespace atl::shell {

// Small programs that test suites of shells call: argv.py, printenv.py, stdout_stderr.py, read_from_fd.py.
std::span<const Command> test_commands();

// Whether the text ends in the middle of a command, so that an interactive shell asks for another line.
bool needs_more(std::string_view text);

}  // namespace atl::shell
