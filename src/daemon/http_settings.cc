#include "daemon/http_settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "config/configuration.h"

namespace atl::daemon {
namespace {

std::uint64_t machine_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

constexpr std::uint64_t kBodiesMin = 64U << 20, kBodiesMax = 512U << 20;

Result<net::BodyLimits> body_limits(const config::Configuration& configuration) {
  net::BodyLimits limits;
  limits.total_bytes = configuration.bytes("http.body_bytes");
  if (limits.total_bytes == 0) limits.total_bytes = std::clamp(machine_memory() / 32, kBodiesMin, kBodiesMax);
  limits.connection_bytes = configuration.bytes("http.connection_body_bytes");
  constexpr std::uint64_t kLeast = 1U << 20;
  for (const auto& [setting, bytes] : {std::pair("http.body_bytes", limits.total_bytes),
                                       std::pair("http.connection_body_bytes", limits.connection_bytes)}) {
    if (bytes < kLeast)
      return fail(
          Error(Code::invalid_argument, fmt::format("at least 1M, got {} bytes", bytes)).with_field(setting));
  }
  return limits;
}

Result<std::size_t> connections_max(const config::Configuration& configuration,
                                    const os::DescriptorBudget& files) {
  const std::int64_t asked = configuration.integer("http.connections");
  const std::uint64_t most = files.limit - files.reserve - files.egress;
  if (asked == 0) return files.connections;
  if (asked < 0 || static_cast<std::uint64_t>(asked) > most) {
    return fail(Error(Code::invalid_argument,
                      fmt::format("1 to {} connections fit the limit of {} open files, got {}", most,
                                  files.limit, asked))
                    .with_field("http.connections"));
  }
  return static_cast<std::size_t>(asked);
}

}  // namespace

Result<net::ServerOptions> server_options(const config::Configuration& configuration,
                                          const os::DescriptorBudget& files) {
  net::ServerOptions options;
  options.connections_max = TRY(connections_max(configuration, files));
  options.bodies = TRY(body_limits(configuration));
  options.header_time = configuration.duration("http.header_time");
  options.idle_time = configuration.duration("http.idle_time");
  options.body_stall_time = configuration.duration("http.body_stall_time");
  options.write_stall_time = configuration.duration("http.write_stall_time");
  options.cors.origins = configuration.list("cors.origins");
  options.cors.exposed_headers = {"Mcp-Session-Id",  "WWW-Authenticate",    "X-Next-Token",
                                  "X-Total-Running", "X-Request-Id",        "Retry-After",
                                  "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
                                  "Atoll-Error",     "Atoll-Degraded"};
  return options;
}

}  // namespace atl::daemon
