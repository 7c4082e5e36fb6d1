#pragma once

#include <string_view>

#include "base/result.h"

namespace atl::json {

// Code::too_large if the text may hold more than `values_max` values. Each costs many times its text: for
// texts of others that may be longer than parse() takes by itself.
Result<void> bound_values(std::string_view text, std::size_t values_max);

}  // namespace atl::json
