#pragma once

#include <string_view>

namespace atl::guest {

// A runner program by its file name in runners/. Empty if there is none.
std::string_view runner(std::string_view name);

// The extension that a zygote (runners/zygote.py) loads.
std::string_view zygote_module();

// The extension of a Python that was started as a program (zygote/started.cc).
std::string_view started_module();

// The module that strips types from TypeScript, for nodes that cannot. Empty if it was not there at build
// time.
std::string_view type_stripper();

}  // namespace atl::guest
