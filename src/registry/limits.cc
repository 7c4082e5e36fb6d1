#include "registry/limits.h"

namespace atl::registry {

void apply(const LimitsPatch& patch, sandbox::Limits& limits) {
  if (patch.memory_bytes) limits.memory_bytes = *patch.memory_bytes;
  if (patch.cpu_cores) limits.cpu_cores = *patch.cpu_cores;
  if (patch.wall_time) limits.wall_time = *patch.wall_time;
  if (patch.cpu_time) limits.cpu_time = *patch.cpu_time;
  if (patch.processes_max) limits.processes_max = *patch.processes_max;
  if (patch.disk_bytes) limits.disk_bytes = *patch.disk_bytes;
  if (patch.inodes_max) limits.inodes_max = *patch.inodes_max;
  if (patch.open_files_max) limits.open_files_max = *patch.open_files_max;
  if (patch.output_bytes) limits.output_bytes = *patch.output_bytes;
  if (patch.io_bytes_per_second) limits.io_bytes_per_second = *patch.io_bytes_per_second;
}

}  // namespace atl::registry
