#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/fd.h"

// The filesystem of one volume: a sparse ext4 image on a loop device, so that the kernel counts what the
// volume holds, in bytes and inodes, also what has no name any more. All of this waits for the disk: it runs
// in a child of the spawner.
namespace atl::sandbox::native {

struct VolumeDiskJob {
  int loop_control = -1;                // /dev/loop-control
  os::Fd directory;                     // the volume's own, on the host; the image lies in it
  std::uint64_t bytes = 0, inodes = 0;  // of a new one; one that is there keeps its size
  std::string nodes;  // a directory in which device nodes may be made, in the spawner's mount namespace
};

struct VolumeImage {
  os::Fd file;             // locked: nobody else attaches it meanwhile
  std::vector<int> loops;  // numbers of the loop devices that have a file
};

// The image; made and formatted if there is none. Called with the host's files in sight. An image that
// somebody else than root could have written is refused: the kernel would read its tables.
Result<VolumeImage> open_volume_image(const VolumeDiskJob& job);
// A detached mount of it, without set-uid and devices. Called in the spawner's own mount namespace. An image
// that a loop device has already is mounted from that: two would destroy it.
Result<os::Fd> mount_volume_image(const VolumeDiskJob& job, const VolumeImage& image);

}  // namespace atl::sandbox::native
