#pragma once

#include <string>

#include "vfs/virtual_file_system.h"

namespace atl::cli {

// A directory of the host and where a virtual filesystem shows a copy of it.
struct HostTree {
  std::string host;
  std::string path = "/home/user";

  // HOST or HOST:PATH; PATH is absolute.
  static Result<HostTree> parse(const std::string& text);
};

// Copies the host's tree in. Links stay links; devices, sockets and FIFOs are left out. The host is only
// read.
Result<void> import_tree(vfs::FileSystem& fs, const HostTree& tree);

// Makes the host's directory what the filesystem has now, where that differs from `before`. Nothing outside
// of the directory is touched, whatever links are in it (vfs::HostFileSystem).
Result<void> write_back(const vfs::VirtualFileSystem& fs, const vfs::Snapshot& before, const HostTree& tree);

}  // namespace atl::cli
