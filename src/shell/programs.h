#pragma once

#include <string>
#include <string_view>

#include "vfs/file_system.h"

namespace atl::shell {

// Commands and devices as files, so that /usr/bin and /dev look as scripts expect. Running or opening them
// does not need the files: a filesystem without them works as well.

// Builtins that are programs as well: /bin/echo exists, and `env printf` finds one.
bool also_program(std::string_view name);
// A directory where our commands are, whether or not files stand for them.
bool holds_commands(std::string_view directory);
// The command that a file with this text stands for; empty: an ordinary file. A copy of it stands for the
// same.
std::string_view program_of(std::string_view text);

// "/dev/null" and its like. The filesystem has no devices; the nodes are FIFOs that nothing reads.
bool is_device(std::string_view path);

// The same, and names of open descriptors.
bool is_stream(std::string_view path);

// Makes them where they are missing; what cannot be made is left out.
void make_programs_and_devices(vfs::FileSystem& fs);

}  // namespace atl::shell
