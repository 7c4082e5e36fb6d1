#pragma once

#include <string>

#include "config/document.h"

namespace atl::config {

// The value as JSON text. A scalar without quotes that reads as true, false, null or a JSON number becomes
// that; every other scalar becomes a string. Members keep their written order.
std::string to_json(const Node& node);

}  // namespace atl::config
