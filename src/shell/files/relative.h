#pragma once

#include <string>

#include "vfs/path.h"

namespace atl::shell {

// How to come from directory `base` to `path`: "../x/y"; "." for itself.
std::string relative_path(const vfs::Path& path, const vfs::Path& base);

}  // namespace atl::shell
