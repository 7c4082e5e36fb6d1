#pragma once

#include <atoll/storage_plugin.h>

#include <chrono>
#include <string>

#include "base/result.h"

namespace atl::storage {

// The other end of PluginStorage: the process that has loaded a plugin.
struct PluginServerOptions {
  std::string library;    // the shared object
  std::string storage;    // its name in the plugin's table; empty: the only one
  std::string socket;     // where to listen; replaced if it is there
  std::string directory;  // the plugin's data
  // A call into the plugin that takes longer ends the process: whoever started it starts it anew.
  std::chrono::milliseconds call_max{20'000};
};

// Loads the plugin, listens and answers, with a few threads for all connections and one call into the plugin
// at a time. Of more than 256 connections that ask nothing, the one that was used longest ago is closed.
// Returns only if it cannot begin: the plugin cannot be loaded, was built for another interface or has no
// such storage, or the socket cannot be made.
Result<void> serve_plugin(const PluginServerOptions& options);

}  // namespace atl::storage
