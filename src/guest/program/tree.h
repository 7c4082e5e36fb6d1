#pragma once

#include "guest/program/bytes.h"

namespace atl::guest {

// What went wrong and where; an empty path means the one that was asked for.
struct Failure {
  int error = 0;
  Bytes path;
};

// Everything below `path`, pre-order, names sorted, at most `depth` levels; symbolic links are told, not
// followed. Entries come in pages of a frame each. More than `entries_max` is EFBIG.
using Page = void (*)(void* context, const Bytes& entries);
bool list_tree(const char* path, uint32_t depth, uint32_t entries_max, Page page, void* context,
               Failure* failure);
// Renames, or copies and removes where a rename cannot cross. Parents of `to` are made.
bool move_tree(const char* from, const char* to, bool overwrite, Failure* failure);
// Files, directories and symbolic links. A directory over a directory is merged when `overwrite` is set.
bool copy_tree(const char* from, const char* to, bool overwrite, Failure* failure);
// ESTALE: it, or a directory in it, was moved elsewhere meanwhile. What was removed until then is gone.
bool remove_tree(const char* path, bool recursive, Failure* failure);

}  // namespace atl::guest
