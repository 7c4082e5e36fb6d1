#pragma once

#include <string>

#include "base/result.h"

namespace atl::config {
class Configuration;
}

namespace atl::daemon {

// The directory of everything that survives the service: the `data` setting, else the XDG data directory.
// Absolute; made if it is not there, and closed to others (mode 0700). Code::invalid_argument with the field
// "data" for one that everybody may write to and that is not empty.
Result<std::string> data_directory(const config::Configuration& configuration);
// The same for whoever only looks: one that is not there is Code::not_found and is not made.
Result<std::string> existing_data_directory(const config::Configuration& configuration);

}  // namespace atl::daemon
