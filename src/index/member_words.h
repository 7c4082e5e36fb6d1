#pragma once

#include <string>
#include <vector>

#include "index/types.h"

namespace atl::index {

// The words of all members of a payload, as member_word() makes them; none for a text that is no object.
std::vector<std::string> members_of(const std::string& payload);

}  // namespace atl::index
