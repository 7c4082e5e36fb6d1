#pragma once

#include <string_view>

namespace atl::cli {

// The version with the commit it was built from, as scripts/version tells it: "0.1.0+431.g3e06920aa5". One
// small file that the build makes knows it, so that a commit compiles nothing else anew. ATOLL_VERSION is the
// number alone.
std::string_view version();

}  // namespace atl::cli
