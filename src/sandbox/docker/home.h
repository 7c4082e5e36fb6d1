#pragma once

#include <string>
#include <string_view>

#include "os/task.h"
#include "sandbox/files.h"

namespace atl::sandbox::docker {

// The home of a user, by name or number, in the text of /etc/passwd; "/" if it has none of them, as the guest
// takes it.
std::string home_in(std::string_view passwd, std::string_view user);

// The same, read inside. An image without users has "/"; other failures are the caller's to judge.
Task<std::string> home_of(Files& files, std::string user);

}  // namespace atl::sandbox::docker
