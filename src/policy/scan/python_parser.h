#pragma once

#include <string_view>

#include "policy/scan/tree.h"

namespace atl::policy {

// A fast way to the tree of well-formed Python 3, about ten times as fast as the general grammar. True:
// `tree` is complete. False: the code has a syntax error, is nested deeper than `depth_max`, or uses
// something that this parser leaves to the grammar (match statements, type parameters, names beyond ASCII);
// then `tree` is worth nothing.
bool parse_python(std::string_view text, Names& names, Tree& tree, int depth_max);

}  // namespace atl::policy
