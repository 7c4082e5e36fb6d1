#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace atl::sandbox::native {

// What changed in a sandbox, as a directory of the host: "root" and "usr", each an overlay layer (deleted
// names are character devices 0:0, replaced directories carry trusted.overlay.opaque). Owners are the numbers
// inside. A later sandbox stacks it as a read-only layer.
struct SnapshotJob {
  int upper = -1;              // the writable layer; must stand still
  std::uint32_t first_id = 0;  // what becomes 0
  std::uint32_t ids = 0;
  // Written by an ordinary user: owners stay as they are, because all its sandboxes have the same, and
  // overlay's marks are "user.overlay." ones.
  bool rootless = false;
  // The snapshot that the sandbox itself started from, or -1: the new one holds its content as well, by hard
  // links where nothing changed.
  int parent = -1;
  // Where it is made, and its name there, which must not exist.
  int directory = -1;
  std::string name;
  // On the disk when it is done, not just in the kernel's memory.
  bool durable = true;
  // Puts something beside the trees, into the directory; fails with it.
  std::function<Result<void>(int directory)> beside;
};

// Until then it is called so.
inline constexpr const char* kDraftSuffix = ".part";

// Complete under its name or not there at all. Descriptors of the job stay the caller's. Waits for the disk,
// so it runs in a child of the spawner. Follows no symbolic link of the sandbox.
Result<void> write_snapshot(const SnapshotJob& job);

}  // namespace atl::sandbox::native
