#pragma once

#include <span>
#include <string>
#include <string_view>

namespace atl::sandbox::docker {

struct ArchivedFile {
  std::string_view path;  // relative, at most 100 bytes
  std::string_view bytes;
  unsigned mode = 0444;
};

// A tar archive as engines take it. Every file in it belongs to root and has the time 0, so that the same
// files always make the same archive.
std::string archive_of(std::span<const ArchivedFile> files);

}  // namespace atl::sandbox::docker
