#pragma once

#include <span>
#include <string>

namespace atl::sandbox::docker {

// A profile as engines take it, from lists of system calls: what is allowed (some of it only with harmless
// arguments), what is refused with EPERM; everything else does not exist (ENOSYS).
std::string seccomp_profile(std::span<const char* const> allowed, std::span<const char* const> refused);

}  // namespace atl::sandbox::docker
