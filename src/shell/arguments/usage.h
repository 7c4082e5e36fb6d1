#pragma once

#include <string>
#include <string_view>

namespace atl::shell {

class Invocation;

// The lines that follow a complaint about how a command was called, in each program's own words.
std::string usage_hint(std::string_view name);

// GNU's words for operands that do not fit: the message and the line about --help; returns `status`.
int usage_error(Invocation& call, std::string_view message, int status = 1);

}  // namespace atl::shell
