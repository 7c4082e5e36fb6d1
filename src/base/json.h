#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

// What every wire needs of JSON beyond Boost.JSON. A value from outside goes through parse(), which bounds
// its depth, size and values and refuses duplicate keys; code that builds answers uses boost::json directly.
namespace atl::json {

struct Bounds {
  std::size_t max_bytes = 16U << 20;
  std::size_t max_depth = 64;
};

// Strict RFC 8259 text in UTF-8. The error says what is wrong and at which byte.
Result<boost::json::value> parse(std::string_view text, const Bounds& bounds = {});

// Appends `text` as a JSON string; malformed UTF-8 becomes U+FFFD so that the output is always valid JSON.
void append_quoted(std::string& out, std::string_view text);
std::string quoted(std::string_view text);

}  // namespace atl::json
