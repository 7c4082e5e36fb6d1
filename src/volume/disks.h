#pragma once

#include <string>

#include "os/fd.h"
#include "os/task.h"
#include "volume/tree.h"

namespace atl::volume {

// Filesystems of volumes' own, made and mounted by somebody who may. Belongs to the loop thread.
class Disks {
 public:
  virtual ~Disks() = default;
  // The top directory of the filesystem of the volume whose directory this is: made with these bounds if it
  // is new, mounted if it is not. Code::unsupported, with the reason, where there can be none.
  virtual Task<os::Fd> open(std::string directory, Bounds bounds) = 0;
  // Nobody here uses it any more.
  virtual Task<void> close(std::string directory) = 0;
};

}  // namespace atl::volume
