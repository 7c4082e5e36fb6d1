#pragma once

#include <re2/re2.h>

#include <memory>
#include <string_view>

#include "base/result.h"

namespace atl::tools {

// A regular expression, compiled; the same one for everybody who asks for the same text. Those that were used
// last are kept, up to 64 MiB of what they may hold: RE2 keeps what it learns while it matches, and tenants
// declare as many patterns as they like. Any thread may ask and match.
//
// Code::invalid_argument with RE2's complaint if it is none, or needs more than 1 MiB.
Result<std::shared_ptr<const re2::RE2>> compiled_pattern(std::string_view text);

// What matching a text may cost, in steps of a fraction of a microsecond. RE2 follows a pattern that has too
// many states to remember with all of its program at every character: linear in the text, and in the program.
std::size_t steps_to_match(std::size_t program, std::size_t bytes);

}  // namespace atl::tools
