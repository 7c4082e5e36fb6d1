#pragma once

#include <cstdint>
#include <string>

#include "os/fd.h"
#include "sandbox/native/sandbox_builder.h"
#include "sandbox/native/spawner_children.h"
#include "sandbox/native/spawner_connection.h"
#include "sandbox/native/volume_disk.h"

namespace atl::sandbox::native {

// Filesystems of volumes: a child makes or opens the image and mounts it, the spawner keeps the mount and
// shares it. Every request is answered once, now or by finish(). The spawner's only thread.
class SpawnerVolumes {
 public:
  // Borrows all of them.
  SpawnerVolumes(SandboxBuilder& builder, SpawnerChildren& children, SpawnerConnection& connection)
      : builder_(builder), children_(children), connection_(connection) {}

  // Answers with a descriptor of the volume's top directory. Code::unavailable while another request has it
  // opened; Code::unsupported without root or loop devices.
  void open(const Request& request, const ask::OpenVolume& wanted);
  // The child of open() has reported: with the mount, or an error in `reply`.
  void finish(const Copying& copying, Reply reply, os::Fd mount);
  // Whoever still has it mounted keeps it; the image is the daemon's to remove.
  void close(const Request& request, const ask::CloseVolume& wanted);

 private:
  // Runs in a child, which reports to this socket and ends.
  [[noreturn]] void mount(const VolumeDiskJob& job, int report);
  void answer(Verb verb, std::uint64_t token, const std::string& directory);

  SandboxBuilder& builder_;
  SpawnerChildren& children_;
  SpawnerConnection& connection_;
};

}  // namespace atl::sandbox::native
