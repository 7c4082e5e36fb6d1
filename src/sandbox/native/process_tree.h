#pragma once

#include <sys/types.h>

#include <vector>

#include "base/result.h"
#include "sandbox/native/cgroup.h"

// A sandbox without control groups, seen through the host's /proc: process 1 of its namespace and everything
// below it. Whatever is started inside is below it, however often it forks.
namespace atl::sandbox::native {

// `proc` is a descriptor of the host's /proc. Threads are not counted; the first is `root` itself. Empty when it
// has ended.
std::vector<pid_t> tree_processes(int proc, pid_t root);

// Sums over the tree: memory that is its own (shared pages of forks are counted for each), CPU time also of what
// has ended.
GroupUsage tree_usage(int proc, pid_t root);

// SIGSTOP to everything until everything stands still; SIGCONT, root last. Nothing inside can undo it, because
// nothing inside runs.
Result<void> stop_tree(int proc, pid_t root);
Result<void> continue_tree(int proc, pid_t root);

}  // namespace atl::sandbox::native
