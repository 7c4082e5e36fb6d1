#pragma once

#include "guest/program/guest.h"

namespace atl::guest {

// What a user may not make, made by the sandbox's root and handed to that user. Every step is taken from the
// directory before it and follows no symbolic link, because root's rights must not be led elsewhere by a link
// that a program inside has planted. Each returns as the call of the same purpose does: -1 or false with
// errno. Call them as root, never while an ActAs lives.

// Opens a regular file for writing with these flags of open(2), or makes one, as `made` says then. With
// `parents`, missing directories are made and are the user's too. A file with several names is refused
// (EPERM): it may be somebody else's under another name.
int open_handed_over(const User& user, const char* path, int flags, mode_t mode, bool parents, bool* made);

// Makes a directory and those that lead to it.
bool make_directory_handed_over(const User& user, const char* path);

}  // namespace atl::guest
