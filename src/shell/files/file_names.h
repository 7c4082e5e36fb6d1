#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shell/command.h"

namespace atl::shell {

// "user" and "group" of an id, as ls and stat print them.
std::string user_name(const Invocation& call, std::uint32_t uid);
std::string group_name(const Invocation& call, std::uint32_t gid);
// The id of a user or group: a number, or a name that this system has. Nothing for every other name.
std::optional<std::uint32_t> parse_owner(const Invocation& call, const std::string& name);
// The ids the shell runs as.
std::uint32_t current_uid(Invocation& call);

// "-rw-r--r--"
std::string mode_text(vfs::Type type, std::uint32_t mode);
// "1.2K": GNU's -h with ceiling; `base` 1024 or 1000.
std::string human_size(std::uint64_t bytes, int base = 1024);
// What basename prints.
std::string_view base_name(std::string_view path);
// What dirname prints. Both point into `path` or at a constant.
std::string_view dir_name(std::string_view path);

// chmod's argument: octal or symbolic. False if malformed.
bool apply_mode(std::string_view text, std::uint32_t& mode, bool directory, std::uint32_t umask);

}  // namespace atl::shell
