#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"

namespace atl::policy {

// The policies of registry/policies, part of the program. They compile; a test sees to it.
std::vector<config::Document> shipped_documents();

// The name that the document's policy gets in a PolicySet.
std::string policy_name(const config::Document& document);

}  // namespace atl::policy
