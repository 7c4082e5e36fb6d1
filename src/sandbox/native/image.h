#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/result.h"
#include "os/fd.h"

namespace atl::sandbox::native {

// Writable layers on disk: sparse ext4 images on loop devices, for disk limits that should not count as
// memory. An image has no name anywhere: it is gone with the last mount. Lives in the spawner.
class Images {
 public:
  // `directory` is on the host's filesystem and must allow O_TMPFILE. Opens what is needed while /dev is
  // still in sight. A machine without loop devices gives an object that can do nothing: see usable().
  static Images open(const std::string& directory);
  bool usable() const { return control_.is_open() && directory_.is_open(); }
  // A detached mount of a fresh filesystem of that size. `nodes` is a directory in which device nodes may be
  // made. The first of a size makes a template (tens of milliseconds), later ones copy its few blocks.
  Result<os::Fd> make(std::uint64_t bytes, std::uint64_t inodes, const std::string& nodes, int host_mounts);

 private:
  Result<int> template_of(std::uint64_t bytes, std::uint64_t inodes, int host_mounts);
  os::Fd control_;
  os::Fd directory_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, os::Fd> templates_;
};

}  // namespace atl::sandbox::native
