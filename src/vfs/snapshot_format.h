#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "vfs/snapshot.h"

namespace atl::vfs {

// A snapshot as bytes: versioned, compressed, with a checksum over all of it (docs/formats/snapshot.md).
// Bytes that several files share are written once.
std::string export_snapshot(const Snapshot& snapshot);

struct ImportLimits {
  std::uint64_t bytes_max = 4ULL << 30;  // uncompressed
  std::uint64_t entries_max = 10'000'000;
};

// The reverse, for bytes from anywhere. data_loss: damaged, truncated, or not a closed tree; unsupported:
// another format or a newer version; too_large: over the limits. Takes no more memory than the limits and a
// multiple of what is really there; touches nothing else.
Result<Snapshot> import_snapshot(std::string_view bytes, const ImportLimits& limits = {});

// The same as JSON, for people and other programs. Bytes that are not UTF-8 are in base64.
std::string export_json(const Snapshot& snapshot);
Result<Snapshot> import_json(std::string_view text, const ImportLimits& limits = {});

}  // namespace atl::vfs
