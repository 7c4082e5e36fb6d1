#pragma once

#include "net/server.h"
#include "os/descriptor_budget.h"

namespace atl::config {
class Configuration;
}

// The settings `http.*` and `cors.*` as the server wants them.
namespace atl::daemon {

// `files` says how many connections the limit on open files allows. Code::invalid_argument that names the
// setting for a number that does not fit this machine.
Result<net::ServerOptions> server_options(const config::Configuration& configuration,
                                          const os::DescriptorBudget& files);

}  // namespace atl::daemon
