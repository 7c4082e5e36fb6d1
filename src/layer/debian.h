#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "layer/build.h"

// A root filesystem of Debian packages, made by mmdebstrap with the machine's own apt sources.
namespace atl::layer {

// The files of `apt_directory` that name packages of `suite` ("bookworm" and what starts with it).
Result<std::vector<std::string>> sources_for(const std::string& apt_directory, const std::string& suite);
// This machine's.
Result<std::string> machine_suite();

// Unpacks into the draft's tree. `progress` gets the program's own lines.
Result<void> make_debian(const Recipe& recipe, const std::string& suite,
                         const std::vector<std::string>& sources, Draft& draft, Owners owners,
                         Interrupt& interrupt, const BuildOptions& options);

}  // namespace atl::layer
