#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "layer/overlay.h"

namespace atl::layer {

inline constexpr int kDepthMax = 256;
inline constexpr std::size_t kPathBytesMax = 4096;

enum class Kind : std::uint8_t { file, directory, symlink, hard_link, whiteout };

// One name of a tree. Borrowed: valid during the visit.
struct Entry {
  Kind kind = Kind::file;
  std::string path;  // without a leading slash; empty for the root itself
  struct stat info {};
  std::string target;  // of a symlink: its text; of a hard link: the path under which the file came first
  bool opaque = false;
  Attributes attributes;
};

// `fd` is open for reading for files and directories, else -1.
using Visit = std::function<Result<void>(const Entry& entry, int fd)>;

// Every name below `root`, the root first, the names of a directory sorted by bytes, a directory before its
// content: always the same order for the same tree. Follows nothing. Sockets, pipes and devices are not part
// of layers: they are passed over. Deeper than kDepthMax or longer than kPathBytesMax is Code::too_large.
Result<void> walk(int root, OverlayAttributes attributes, const Visit& visit);

// The names in a directory, sorted by bytes.
Result<std::vector<std::string>> names_in(int directory);

}  // namespace atl::layer
