#pragma once

#include "vfs/file_system.h"

namespace atl::vfs {

// copy() and move() for filesystems that have nothing better, and between two filesystems. The errors and the
// rules about names are those of FileSystem::copy. Not atomic: what was copied before a failure stays. A move
// removes the source only after everything was copied.
Result<Path> copy_between(FileSystem& source, const Path& from, FileSystem& target, const Path& to,
                          const CopyOptions& options);
Result<Path> move_between(FileSystem& source, const Path& from, FileSystem& target, const Path& to,
                          const CopyOptions& options);
// move() by means of rename().
Result<Path> move_within(FileSystem& fs, const Path& from, const Path& to, const CopyOptions& options);

}  // namespace atl::vfs
