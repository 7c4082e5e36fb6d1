#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace atl::sandbox::gvisor {

// Directories of the host that the broker may touch for its daemon, beside the host's own view. It is told
// once, before anybody can ask for anything; what is not beneath one of them is refused.
struct RootPaths {
  std::vector<std::string> layers;           // read
  std::vector<std::string> snapshots;        // written, read and removed
  std::vector<std::string> mounts;           // shown to sandboxes, read-only
  std::vector<std::string> writable_mounts;  // shown to sandboxes
};

// Where something is to be made or removed.
struct Place {
  os::Fd directory;
  std::string name;  // one component
};

// A kind of roots, as descriptors: whoever can rename or replace a directory on the way to a root cannot lead
// the broker elsewhere. A path must begin with a root's; the rest is resolved beneath that root's descriptor
// without following any symbolic link. Anything else is Code::permission_denied. Descriptors that are given
// out are the caller's.
class Roots {
 public:
  // A root that does not exist is passed over: nothing is beneath it.
  static Roots open(const std::vector<std::string>& paths);
  // The directory of that path, as O_PATH.
  Result<os::Fd> directory(const std::string& path) const;
  Result<Place> place(const std::string& path) const;

 private:
  struct Root {
    std::string path;  // without a slash at the end
    os::Fd directory;
  };
  std::vector<Root> roots_;
};

}  // namespace atl::sandbox::gvisor
