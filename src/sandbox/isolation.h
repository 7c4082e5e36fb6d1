#pragma once

#include <string>
#include <vector>

namespace atl::sandbox {

// One wall that is in force, in words and with the kernel's own value: {"seccomp", "allow-list of 301
// calls"}.
struct Wall {
  std::string
      name;  // "user_namespace", "pid_namespace", "seccomp", "landlock", "cgroup", "memory_limit", ...
  std::string value;
};

// Facts only: a wall stands here because the kernel accepted it for this very sandbox, or it does not stand
// here. `missing` names what this machine could not give, with the remedy.
struct Isolation {
  std::vector<Wall> walls;
  std::vector<Wall> missing;
};

// What a provider can do at all. A call outside its traits fails with Code::unsupported naming the trait.
struct Traits {
  bool real_processes = false;
  bool pty = false;
  bool interpreters = false;  // stateful interpreters
  bool network = false;       // modes other than none
  bool ports = false;         // connections from the host to servers inside
  bool pause = false;
  bool snapshot = false;   // of the filesystem
  bool fork = false;       // of the filesystem
  bool live_fork = false;  // of running interpreters as well
  bool watch = false;
  bool images = false;     // a root filesystem by the name of an image
  bool templates = false;  // environments are names that the provider knows, also those the registry does not
  bool mounts = false;     // directories of the host can be shown inside, read-only and live
  bool storages = false;   // files can be kept in a storage that the operator declared
};

}  // namespace atl::sandbox
