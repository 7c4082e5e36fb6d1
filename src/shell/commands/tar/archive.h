#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "shell/command.h"

namespace atl::shell {

// One file of an archive, with its contents.
struct ArchiveEntry {
  std::string name;
  vfs::Type type = vfs::Type::file;
  std::string target;     // of a symbolic link
  std::string hard_link;  // another entry's name
  std::string content;
  std::uint64_t size = 0;
  std::uint32_t mode = 0644, uid = 1000, gid = 1000;
  std::string user, group;
  WallTime modified;
};

// The kind of archive, and what compresses it.
enum class ArchiveFormat : unsigned char { tar, zip };
enum class ArchiveFilter : unsigned char { none, gzip, bzip2, xz, zstd };

// The bytes of an archive with these entries.
Result<std::string> write_archive(Invocation& call, const std::vector<ArchiveEntry>& entries,
                                  ArchiveFormat format, ArchiveFilter filter);
// Calls `each` for every entry, contents loaded, until it returns false. Bounded in entries, bytes and ratio.
// Any tar dialect, zip and cpio; any of the filters is found by itself.
Result<void> read_archive(Invocation& call, std::string_view data,
                          const std::function<bool(ArchiveEntry&)>& each);

}  // namespace atl::shell
