#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "layer/store.h"

// The small files of the store (docs/formats/layers.md). Reading fails with Code::data_loss on anything that
// was not written by us.
namespace atl::layer {

// What read_layer() and its kind read back.
std::string to_text(const Layer& layer);
std::string to_text(const Stack& stack);
std::string to_text(const Reference& reference);
Result<Layer> read_layer(std::string_view text);
Result<Stack> read_stack(std::string_view text);
Result<Reference> read_reference(std::string_view text);

}  // namespace atl::layer
