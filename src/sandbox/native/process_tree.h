#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sandbox/native/cgroup.h"

// A sandbox without control groups, seen through the host's /proc: process 1 of its namespace and everything
// below it. Whatever is started inside is below it, however often it forks.
//
// Every function looks now and keeps nothing; `proc` stays the caller's. What ends meanwhile is left out,
// what begins meanwhile may be. Numbers may belong to others by the time they are used: who signals them
// checks first.
namespace atl::sandbox::native {

// `proc` is a descriptor of the host's /proc. Threads are not counted; the first is `root` itself. Empty when
// it has ended.
std::vector<pid_t> tree_processes(int proc, pid_t root);

// One process of a sandbox, with the numbers that it has inside.
struct TreeProcess {
  pid_t pid = 0, parent = 0;  // on the host
  pid_t inside = 0, session_inside = 0;
  std::uint64_t started_us = 0;  // since the machine started, to a hundredth of a second
};
// In the order of `pids`; those that have ended are left out.
std::vector<TreeProcess> describe_processes(int proc, const std::vector<pid_t>& pids);

// Sums over the tree: memory that is its own (shared pages of forks are counted for each), CPU time also of
// what has ended.
GroupUsage tree_usage(int proc, pid_t root);

// SIGSTOP to everything until everything stands still; SIGCONT, root last. Nothing inside can undo it,
// because nothing inside runs.
// Waits until that is so: not on a thread that others wait for. Code::deadline_exceeded after some seconds;
// then everything that was stopped goes on.
Result<void> stop_tree(int proc, pid_t root);
Result<void> continue_tree(int proc, pid_t root);

}  // namespace atl::sandbox::native
