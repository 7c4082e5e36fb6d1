#pragma once

#include <string>
#include <utility>

#include "sandbox/provider.h"
#include "volume/disks.h"

namespace atl::daemon {

// Filesystems of volumes are the provider's to mount: its sandboxes use them.
class VolumeDisks final : public volume::Disks {
 public:
  explicit VolumeDisks(sandbox::Provider& provider) : provider_(provider) {}
  Task<os::Fd> open(std::string directory, volume::Bounds bounds) override {
    return provider_.open_volume(std::move(directory), {bounds.bytes_max, bounds.inodes_max});
  }
  Task<void> close(std::string directory) override { return provider_.close_volume(std::move(directory)); }

 private:
  sandbox::Provider& provider_;
};

}  // namespace atl::daemon
