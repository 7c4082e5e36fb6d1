#pragma once

#include <string>
#include <string_view>

namespace atl::sandbox::docker {

// A tar archive with one file, "guest", that everybody may read and execute.
std::string guest_archive(std::string_view program);

}  // namespace atl::sandbox::docker
