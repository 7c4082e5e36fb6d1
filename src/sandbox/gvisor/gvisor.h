#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/gvisor/roots.h"
#include "sandbox/interpreter.h"
#include "sandbox/provider.h"
#include "sandbox/resource_monitor.h"

namespace atl::sandbox::gvisor {

struct GvisorOptions {
  std::string runsc;  // a path, or a name in PATH; empty: "runsc"
  // Where the broker lives and is found again by the next daemon. Must not be empty.
  std::string run_directory;
  RootPaths roots;
  // Sandboxes of each kind that was asked for once are kept ready, so many, restored from one checkpoint in
  // which interpreters of these languages run already. A create that asks for the same (everything but id,
  // env, user and working directory) gets one of them. A few kinds at once; 0: none.
  std::uint32_t ready = 0;
  std::vector<Language> warm;
  // Whom to tell when a sandbox comes near its limits, and at which fractions; without on_alert nobody looks.
  MonitorOptions alerts;
};

// What these sandboxes can do, where they work.
inline constexpr Traits kTraits{.real_processes = true,
                                .pty = true,
                                .interpreters = true,
                                .network = true,
                                .ports = true,
                                .pause = true,
                                .snapshot = true,
                                .fork = true,
                                .live_fork = true,
                                .watch = true};

// Whether they would work on this machine with that runsc, and what they will lack; the reason and the remedy
// if not. Leaves nothing running. Must be called before the program has threads.
Result<Isolation> probe(const std::string& runsc);

// Real processes on gVisor's own kernel, made by runsc: hostile code never talks to the host's kernel itself.
// Starts the broker, or takes back the one of an earlier daemon. Must be called before the program has
// threads. Code::unsupported, with the remedy, where there is no runsc, and for a user without a range of
// ids.
Result<std::unique_ptr<Provider>> start(boost::asio::any_io_executor executor, GvisorOptions options);

}  // namespace atl::sandbox::gvisor
