#pragma once

#include <string_view>

namespace atl::shell {

// The greatest number of a signal.
inline constexpr int signal_max = 64;

// "SIGTERM", "term", "15" to 15; -1 if unknown. EXIT is 0.
int signal_number(std::string_view name);
// "TERM"; empty if unknown. The text is constant.
std::string_view signal_name(int number);
// "Terminated": what a shell says of a process that the signal ended.
std::string_view signal_description(int number);
// Whether a process that neither handles nor ignores the signal goes on.
bool signal_ignored_by_default(int number);

}  // namespace atl::shell
