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

// Sets one entry as a storage does: hard links are not joined. not_found if the parent is missing.
Result<void> put_entry(tree::State& state, const FileEntry& entry);
// Removes one entry and what is below it, if it is there.
void drop_entry(tree::State& state, const Path& path);
// A state with an empty root.
tree::State empty_state();

// Everything but path and content in a few bytes, for storages without columns.
std::string encode_attributes(const FileEntry& entry);
// data_loss if `bytes` is not such a thing.
Result<void> decode_attributes(std::string_view bytes, FileEntry& out);

}  // namespace atl::vfs
