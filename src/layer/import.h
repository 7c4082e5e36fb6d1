#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "layer/archive.h"
#include "layer/extract.h"
#include "layer/store.h"

namespace atl::layer {

struct ImportOptions {
  std::string name;
  // Which of several images in the file: its tag or reference name. Empty: the only one.
  std::string image;
  ArchiveLimits limits;
  // Lines for people, as the work goes on.
  std::function<void(const std::string&)> progress;
  // How far the archive or the layer is that is being unpacked, in bytes. An error ends the import.
  Moved moved;
};

struct Imported {
  Stack stack;
  std::uint64_t devices_dropped = 0;
  std::uint64_t attributes_dropped = 0;
};

// More layers than this are laid together from the lowest on: a sandbox's root is a stack of at most 24.
inline constexpr std::size_t kImportLayersMax = 16;

// Makes an environment of `file`: a directory or tar archive with an OCI image layout, what `docker save`
// writes, or a plain tar archive of a root filesystem; each compressed or not. Every digest that the file
// states is checked against its bytes. All or nothing.
Result<Imported> import_file(Store& store, const std::string& file, const ImportOptions& options);

}  // namespace atl::layer
