#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "shell/stream.h"

namespace atl::shell {

class Invocation;

// strerror's words for an error of the filesystem.
std::string_view reason(const Error& error);

// Opens each operand ("-" or none at all: standard input) and calls `each`. Complains about what cannot be
// opened and goes on. Returns whether all could be opened.
bool each_input(Invocation& call, const std::vector<std::string>& operands,
                const std::function<void(Input&, const std::string& name)>& each);

// Opens a text for reading; complains "name: path: reason" and gives null if it cannot. Refuses directories.
std::unique_ptr<Input> open_or_complain(Invocation& call, const std::string& path);

}  // namespace atl::shell
