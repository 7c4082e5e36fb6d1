#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "os/fd.h"

// Places below a root that layers, snapshots and earlier programs filled, for what is mounted there. Whatever
// links stand in it, nothing outside of `root`, which is an open directory or AT_FDCWD, is opened, made or
// removed. Nobody else may be changing the tree meanwhile.
namespace atl::sandbox::native {

// An O_PATH handle of what is at `path`, as a process with this root would find it: links are followed
// inside.
Result<os::Fd> open_in_root(int root, const std::string& path);

// Makes the directories of `path` that are missing and gives them to `owner`, user and group alike.
Result<void> make_in_root(int root, const std::string& path, uid_t owner);

// A handle of the directory `path`, made where it is missing. On the way below `cleared`, which `path` begins
// with, no link is followed: a link that was left there, wherever it leads, and a file are replaced by a
// directory. What a directory holds stays.
Result<os::Fd> clear_in_root(int root, const std::string& path, const std::string& cleared, uid_t owner);

}  // namespace atl::sandbox::native
