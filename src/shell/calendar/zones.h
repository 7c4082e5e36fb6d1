#pragma once

#include <string_view>

namespace atl::shell {

// The POSIX TZ rule of a named zone ("Europe/Berlin"); empty if unknown.
std::string_view zone_rule(std::string_view name);

}  // namespace atl::shell
