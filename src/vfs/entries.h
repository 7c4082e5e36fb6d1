#pragma once

#include <span>
#include <vector>

#include "vfs/file_system.h"
#include "vfs/tree.h"

namespace atl::vfs {

// Between a tree and the entries a storage or an export holds.

FileEntry entry_of(const tree::Node& node, const Path& path);
// All entries below the root in byte order of paths.
std::vector<FileEntry> all_entries(const tree::State& state);

// Puts `entries` into `state`, which has a root and none of them. Any order; entries with the same inode
// number (not 0) become names of one file. data_loss, with `state` to be thrown away, if a parent is missing
// or no directory, a path comes twice, or two names of one inode differ in type.
Result<void> add_entries(tree::State& state, std::span<const FileEntry> entries);

}  // namespace atl::vfs
