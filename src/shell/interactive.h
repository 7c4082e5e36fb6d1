#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "shell/shell.h"

namespace atl::shell {

// What a prompt needs beyond SandboxShell. None of it changes the shell.

// Whether the text ends in the middle of a command, so that an interactive shell asks for another line.
bool needs_more(std::string_view text);

// What may stand for the last word of a line: command names where a command begins, else paths (a directory
// with a slash behind it). Blanks and quotes in names are escaped. Sorted.
// What can stand at the cursor.
struct Completion {
  std::size_t word = 0;  // where that word begins in the line
  std::vector<std::string> words;
};
Completion complete(const SandboxShell& shell, std::string_view line);

}  // namespace atl::shell
