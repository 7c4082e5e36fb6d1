#pragma once

#include <sys/types.h>

#include <istream>
#include <string>
#include <vector>

#include "sandbox/gvisor/engine.h"

// What the host's kernel says about a sandbox that runs, and about its control groups.
namespace atl::sandbox::gvisor {

struct Watched {
  const Spec& spec;
  const Runsc& runsc;
  pid_t pid = 0;  // of gVisor's kernel
  const std::string& container;
};

// Adds the walls that stand, each as the host's kernel has it, and what is missing, with the remedy; and the
// control groups, for reading.
void read_back(const Watched& watched, Started& started);

// This process may make control groups that limit memory.
bool can_make_groups();
// The same where these are mounted (lines as of /proc/self/mounts).
bool can_make_groups(std::istream& mounts);
std::vector<pid_t> group_processes(const std::vector<std::string>& groups);
// In every hierarchy, if nothing is in it.
void remove_groups(const std::string& path);

// Mount points beneath a directory in this process's namespace, innermost first.
std::vector<std::string> mounts_below(const std::string& directory);

}  // namespace atl::sandbox::gvisor
