#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "vfs/snapshot_format.h"
#include "vfs/virtual_file_system.h"

// Bytes from anywhere as a snapshot: refused, or a filesystem that can be used and exported again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace atl::vfs;
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const ImportLimits limits{.bytes_max = 1U << 20, .entries_max = 10'000};
  auto snapshot = data[0] % 2 == 0 ? import_snapshot(bytes, limits) : import_json(bytes, limits);
  if (!snapshot) return 0;
  VirtualFileSystem fs(*snapshot);
  auto path = Path::posix("/fuzz/made/this").value();
  (void)fs.write(path, "x");
  auto again = import_snapshot(export_snapshot(fs.snapshot()));
  if (!again || again->stats() != fs.snapshot().stats()) std::abort();
  return 0;
}
