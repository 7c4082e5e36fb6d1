#pragma once

#include <string>

namespace atl::shell {

// A key of an associative array as declare -p shows it: bare, or in double quotes. The other forms:
// variables.h.
std::string quote_key(const std::string& key);

}  // namespace atl::shell
