#pragma once

#include "sandbox/native/roots.h"

namespace atl::sandbox::native {

// For tests and measurements: everything that they put into directories for temporary files.
inline RootPaths scratch_roots() {
  RootPaths roots;
  roots.layers = roots.snapshots = {"/tmp", "/var/tmp"};
  roots.mounts = {{.path = "/tmp", .writable = true}, {.path = "/var/tmp", .writable = true}};
  return roots;
}

}  // namespace atl::sandbox::native
