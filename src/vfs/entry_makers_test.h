#pragma once

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "vfs/file_storage.h"

// Entries for tests of storages.
namespace atl::vfs {

inline Path p(std::string_view text) {
  return Path::posix(text).value();
}

inline FileEntry file(std::string_view path, std::string_view bytes) {
  FileEntry entry;
  entry.path = p(path);
  entry.content = Content(bytes);
  entry.uid = ::geteuid();
  entry.gid = ::getegid();
  entry.inode = std::hash<std::string_view>{}(path)&0xFFFF;
  entry.created_at = entry.modified_at = entry.changed_at = entry.accessed_at =
      WallTime(std::chrono::seconds(1'600'000'000) + Duration(7));
  return entry;
}

inline FileEntry directory(std::string_view path) {
  FileEntry entry = file(path, "");
  entry.type = Type::directory;
  entry.mode = 0755;
  return entry;
}

inline std::vector<std::string> texts(const Result<std::vector<Path>>& paths) {
  std::vector<std::string> out;
  if (!paths) return {"<" + paths.error().message() + ">"};
  for (const Path& path : *paths) out.push_back(path.str());
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace atl::vfs
