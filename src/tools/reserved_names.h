#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace atl::tools {

// Names that mean the same thing to every client of the Model Context Protocol: prompts, skills and habits of
// models speak of them. A declaration may have one only for the built-in operation of that name.
inline constexpr std::array<std::string_view, 16> kReservedNames = {
    "sandbox_create", "sandbox_list",  "sandbox_end",  "sandbox_fork",  "sandbox_snapshot", "run_code",
    "run_command",    "command_start", "command_poll", "command_input", "command_stop",     "read_file",
    "write_file",     "edit_file",     "list_files",   "search_files"};

constexpr bool is_reserved_name(std::string_view name) {
  return std::ranges::find(kReservedNames, name) != kReservedNames.end();
}

}  // namespace atl::tools
