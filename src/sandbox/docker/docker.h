#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sandbox/docker/engine_address.h"
#include "sandbox/docker/recipe.h"
#include "sandbox/provider.h"
#include "sandbox/resource_monitor.h"

namespace atl::sandbox::docker {

struct DockerOptions {
  EngineAddress engine;
  std::string run_directory;        // of this provider alone
  std::string snapshot_directory;   // snapshots are directories directly below it
  std::string installation;         // labels our containers for ever
  std::vector<std::string> images;  // patterns that may be named; empty: what the engine has
  bool may_pull = false;
  Recipes recipes;
  std::string build_network = "default";  // what steps of recipes may reach, in the engine's words
  std::string seccomp_profile;            // JSON; empty: the engine's own
  std::string default_image;              // of a Spec that names none; empty: such a Spec is refused
  // Whom to tell when a container comes near its limits, and at which fractions; without on_alert nobody
  // looks.
  MonitorOptions alerts;
  // Containers kept ready of each kind (image and limits) that was asked for lately.
  std::uint32_t pool = 0;
  std::chrono::seconds orphan_time{60};
  std::chrono::milliseconds patience{60'000};
};

const Traits& docker_traits();

// Containers of a Docker or Podman engine as sandboxes. Starts the broker that speaks to the engine, or takes
// back the one of an earlier daemon. Must be called before the program has threads. An engine that does not
// answer is no failure here: unavailable_because() says so, and it is asked again from time to time.
Result<std::unique_ptr<Provider>> start(boost::asio::any_io_executor executor, DockerOptions options);

// Whether an engine answers there that can be used. Blocks, at most for `patience`.
Result<Isolation> probe(const EngineAddress& engine, std::chrono::milliseconds patience);

}  // namespace atl::sandbox::docker
