#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"

namespace atl::sandbox::native {

// A loop device by which a file is a disk, and the node that it is mounted by.
struct LoopDevice {
  os::Fd device;     // the file stays attached for as long as this is open or a filesystem on it is mounted
  std::string path;  // below `nodes`; stays there, for the next device of the same number
};

// Makes sure that `nodes` has a node for the loop device of that number, and gives its path. Whether it can
// be used shows when it is opened.
std::string loop_node(const std::string& nodes, int number);

// Attaches `file` to a free loop device. `control` is /dev/loop-control, open; neither descriptor is kept.
// Needs root. Code::resource_exhausted if others take every number that is tried; nothing is attached after a
// failure.
Result<LoopDevice> attach_loop(int control, int file, const std::string& nodes);

}  // namespace atl::sandbox::native
