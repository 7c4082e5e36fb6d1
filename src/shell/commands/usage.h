#pragma once

#include <string>
#include <string_view>

namespace atl::shell {

// The lines that follow a complaint about how a command was called, in each program's own words.
std::string usage_hint(std::string_view name);

}  // namespace atl::shell
