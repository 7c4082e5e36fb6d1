#pragma once

#include <string>

#include "base/result.h"
#include "os/fd.h"
#include "sandbox/gvisor/engine.h"

namespace atl::sandbox::gvisor {

// A small process with privileges that runs runsc for its daemon, so that the network-facing one needs none.
// It takes no command lines: only the requests of broker_protocol.h, about sandboxes that it made itself and
// directories that it was told when it was started. It holds the host's ends of all streams: a daemon that
// was killed and started again finds the broker in the engine's directory and gets them back. Without a
// daemon it ends everything after a while.
//
// Starts one, before this program has threads, and gives the daemon's end of the connection.
Result<os::Fd> start_broker(const EngineOptions& options);

// The broker of an earlier daemon that still runs; Code::not_found if there is none.
Result<os::Fd> find_broker(const std::string& directory);

}  // namespace atl::sandbox::gvisor
