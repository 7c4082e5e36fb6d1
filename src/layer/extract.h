#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "layer/archive.h"
#include "layer/digest.h"

namespace atl::layer {

// Numbers of users and groups that a sandbox can have.
inline constexpr std::uint32_t kIdsMax = 65536;

// What was in an archive and is not in the layer, by rule and not by accident.
struct Extracted {
  std::uint64_t entries = 0;
  std::uint64_t devices_dropped = 0;     // device nodes, pipes, sockets
  std::uint64_t attributes_dropped = 0;  // extended attributes that are not kept
  std::string digest;                    // of the decompressed archive, as OCI's diff_id
};

// Whether names that start with ".wh." hide something (layers of images) or are names like others (a plain
// tar).
enum class Whiteouts : std::uint8_t { oci, none };

// Unpacks a tar archive, compressed or not, into the empty directory `tree`, by descriptors and without ever
// following a link. Refused, with the entry's name: absolute names and "..", names below something that is no
// directory, two entries of one name (a directory may come again), hard links to anything but a file that
// came before, owners beyond kIdsMax, whatever the limits forbid, and archives that libarchive does not read
// without a doubt. Set-uid bits stay: the environment's `sudo` decides whether they mean anything. A failure
// leaves the tree half-filled. `moved` hears how many bytes of the archive were read, and how many it has.
Result<Extracted> extract(int archive_fd, int tree, Owners owners, Whiteouts whiteouts,
                          const ArchiveLimits& limits, const Moved& moved = {});

// "./a//b/" becomes "a/b", "." becomes "". Code::invalid_argument for what must not be in an archive.
Result<std::string> clean_path(std::string_view name);

}  // namespace atl::layer
