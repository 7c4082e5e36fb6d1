#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/native/spawner.h"
#include "sandbox/provider.h"
#include "sandbox/resource_monitor.h"

namespace atl::sandbox::native {

// A pool of sandboxes that are ready before they are asked for. A create whose spec asks for the same
// (everything but id, env, user and working directory) gets one of them.
struct PoolOptions {
  std::string environment;  // its name in PoolLevel
  Spec spec;
  // Grows with demand to four times this many, and falls back by one for each `calm` without a create that
  // found the pool empty.
  std::uint32_t ready = 2;
  std::chrono::milliseconds calm{30'000};
  // Interpreters that run in each of them before anybody asks.
  std::vector<Language> warm;
};

struct NativeOptions {
  SpawnerOptions spawner;  // guest_program is filled in
  std::vector<PoolOptions> pools;
  // Whom to tell when a sandbox comes near its limits, and at which fractions. Without on_alert nobody looks,
  // except at limits that the kernel does not enforce here.
  MonitorOptions alerts;
};

// What native sandboxes can do, where they work.
const Traits& native_traits();

// Real Linux processes behind namespaces, an overlay root, a system-call filter, Landlock and control groups.
// Starts the spawner, or takes back the one of an earlier daemon (NativeOptions::spawner.run_directory). Must
// be called before the program has threads. As root or as an ordinary user with user namespaces; what the
// latter cannot have is in Isolation.
Result<std::unique_ptr<Provider>> start(boost::asio::any_io_executor executor, NativeOptions options);

}  // namespace atl::sandbox::native
