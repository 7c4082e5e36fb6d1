#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

namespace atl::sandbox::native {

// A directory of the host that sandboxes may be shown, with what is beneath it.
struct MountRoot {
  std::string path;
  bool writable = false;
};

// Everything of the host that a spawner may read, mount, write or remove for its daemon, beside the host's
// own view. The spawner gets it at its start, before any request; what is not named in it is refused.
struct RootPaths {
  // Trees of layers: these directories, or what is beneath them.
  std::vector<std::string> layers;
  // Snapshots are written, read and removed beneath these. Made where they are missing.
  std::vector<std::string> snapshots;
  std::vector<MountRoot> mounts;
  // Stacks of layers that zygotes, which have power over the machine, may run. Unset: those that the daemon
  // names, because it is root itself.
  std::optional<std::set<std::vector<std::string>>> trusted;
};

// The same inside the spawner: descriptors, so that a user who can rename or replace a directory on the way
// to a root cannot lead it elsewhere. A path is taken by its text: it must begin with a root's, and what
// follows is resolved beneath the root's descriptor without following any symbolic link (openat2). Anything
// else is Code::permission_denied. Descriptors that are given out are the caller's; they stay good whatever
// becomes of the path.
class Roots {
 public:
  // In the mount namespace that paths are of.
  static Result<Roots> open(const RootPaths& paths);

  Result<os::Fd> layer(const std::string& path) const;
  enum class Access { read, write };
  // Writing needs a root that may be written.
  Result<os::Fd> mount(const std::string& path, Access access) const;
  // A directory of a snapshot that is there: "root" or "usr".
  Result<os::Fd> snapshot_part(const std::string& path, const char* part) const;
  // The snapshot itself.
  Result<os::Fd> snapshot(const std::string& path) const;
  // Where one is to be made or removed.
  struct Place {
    os::Fd directory;
    std::string name;  // one component
  };
  Result<Place> snapshot_place(const std::string& path) const;
  // Whether a zygote may run in this stack of layers.
  bool may_trust(const std::vector<std::string>& layers) const;

 private:
  struct Root {
    std::string path;  // without a slash at the end
    os::Fd directory;  // closed: there is none
    bool writable = false;
  };
  struct Beneath {
    int root = -1;
    std::string rest;  // empty: the root itself
  };
  static Result<Beneath> find(const std::vector<Root>& roots, const std::string& path, const char* what);
  static Result<os::Fd> open_directory(const Beneath& at, int flags);

  std::vector<Root> layers_, snapshots_, mounts_;
  std::optional<std::set<std::vector<std::string>>> trusted_;
};

}  // namespace atl::sandbox::native
