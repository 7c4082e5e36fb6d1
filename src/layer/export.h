#pragma once

#include <string>

#include "base/result.h"
#include "layer/archive.h"
#include "layer/store.h"

namespace atl::layer {

enum class ExportFormat : std::uint8_t {
  oci,  // a tar archive with an OCI image layout, one blob a layer
  tar,  // a tar archive of the root filesystem, all layers laid together
};

// Writes the environment to the descriptor. The same stack gives the same bytes. Layers are read as they are
// stored; one that is damaged is noticed by its digest only when it is imported again or verified.
// `moved` hears of bytes that were read and written, about.
Result<void> export_stack(Store& store, const Stack& stack, ExportFormat format, int out,
                          const Moved& moved = {});

}  // namespace atl::layer
