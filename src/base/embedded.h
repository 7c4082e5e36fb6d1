#pragma once

#include <string_view>

namespace atl::embedded {

// A file that was built into the binary (cmake/embed.cmake).
struct File {
  std::string_view path;   // relative, with slashes
  std::string_view bytes;  // followed by a zero byte that does not count
};

}  // namespace atl::embedded
