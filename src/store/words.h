#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace atl::store {

// A JSON array of texts: how a list goes into one SQL parameter.
inline std::string json_array(const std::vector<std::string>& words) {
  std::string out = "[";
  for (const std::string& word : words) {
    if (out.size() > 1) out += ',';
    json::append_quoted(out, word);
  }
  return out + "]";
}

}  // namespace atl::store
