#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace atl {

// What a caller can do about an error of this code, for people.
std::string_view advice(Code code);

// All codes with everything that users see of them, as a table in Markdown: docs/errors.md is this page.
std::string error_page();

}  // namespace atl
