#pragma once

#include <string>
#include <vector>

namespace atl::shell {

// The words of a command. The first one is the name by which it was called.
using Args = std::vector<std::string>;

}  // namespace atl::shell
