#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

// The two walls that a process puts around itself: the system-call filter and Landlock.
namespace atl::sandbox::native {

// A compiled system-call filter: an allow-list. What is not on it answers EPERM (known and refused) or ENOSYS
// (not known), and never kills the caller. Calls of other ABIs (32-bit, x32) are refused.
struct Filter {
  std::vector<sock_filter> program;
  std::uint32_t calls_allowed = 0;
};

// Compiles once; the result is a plain value that every sandbox shares. Code::internal if it is longer than
// the kernel takes.
Result<Filter> compile_filter();

// The lists that it is made from, for engines that take a profile by names: what is allowed whatever its
// arguments, and what is known and refused.
std::span<const char* const> allowed_system_calls();
std::span<const char* const> refused_system_calls();

// Installs it for the calling thread, for good. Needs no-new-privileges or CAP_SYS_ADMIN in its user
// namespace.
Result<void> install_filter(const Filter& filter);

// The kernel's Landlock version; 0 where there is none.
int landlock_version();

// Second wall for the calling thread: everything below "/" stays usable except making device nodes and
// changing mounts. Gives the words for Isolation. Same needs as the filter.
Result<std::string> enter_landlock();

}  // namespace atl::sandbox::native
