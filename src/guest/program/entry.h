#pragma once

#include "guest/program/guest.h"

namespace atl::guest {

// Appends what the protocol calls an entry. False with errno if there is nothing at `path`.
bool append_entry(Bytes* out, const char* path);
// Makes the directories that lead to `path`, not `path` itself. False with errno.
bool make_parents(const char* path);
// An absolute path without NUL bytes, shorter than the system's limit; with the final NUL in `out`.
bool take_path(Text text, Bytes* out);

}  // namespace atl::guest
