#pragma once

#include <string_view>

#include "base/result.h"
#include "os/fd.h"

namespace atl::guest {

// The program that becomes process 1 of a sandbox: a static executable, embedded in this one.
std::string_view program();

// The same in a sealed memory file, for execveat with AT_EMPTY_PATH: nothing inside a sandbox can change it,
// and it has no path. Opened read-only, close-on-exec.
Result<os::Fd> program_file();

}  // namespace atl::guest
