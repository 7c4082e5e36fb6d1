#include "daemon/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "config/configuration.h"

namespace atl::daemon {

Result<std::uint32_t> count_of(const config::Configuration& configuration, std::string_view key) {
  const std::int64_t count = configuration.integer(key);
  if (count < 0 || count > std::numeric_limits<std::uint32_t>::max())
    return fail(Code::invalid_argument, fmt::format("{}: {} is no number of sandboxes", key, count));
  return static_cast<std::uint32_t>(count);
}

Result<std::uint64_t> bound_of(const config::Configuration& configuration, std::string_view key) {
  const std::int64_t count = configuration.integer(key);
  if (count < 0) return fail(Code::invalid_argument, fmt::format("{}: {} is below 0", key, count));
  return static_cast<std::uint64_t>(count);
}

Result<registry::Ceilings> ceilings_of(const config::Configuration& configuration, const std::string& data) {
  registry::Ceilings ceilings = registry::machine_ceilings(data);
  for (const std::string_view name : registry::limit_names()) {
    const std::string key = fmt::format("limits.max.{}", name);
    const std::uint64_t most = TRY(bound_of(configuration, key));
    if (most > 0) ceilings[std::string(name)] = {static_cast<double>(most), "that is the operator's " + key};
  }
  return ceilings;
}

Result<session::Keeping> keeping_of(const config::Configuration& configuration) {
  session::Keeping keeping;
  keeping.snapshot_count = TRY(bound_of(configuration, "keep.snapshot_count"));
  keeping.snapshot_bytes = configuration.bytes("keep.snapshot_bytes");
  keeping.snapshots = configuration.duration("keep.snapshots");
  keeping.paused_count = TRY(bound_of(configuration, "keep.paused_count"));
  keeping.paused_bytes = configuration.bytes("keep.paused_bytes");
  keeping.paused = configuration.duration("keep.paused");
  keeping.artifact_bytes = configuration.bytes("keep.artifact_bytes");
  return keeping;
}

api::e2b::StoredBounds stored_bounds_of(const config::Configuration& configuration) {
  const auto count = [&](std::string_view key) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(configuration.integer(key), 0));
  };
  api::e2b::StoredBounds bounds;
  bounds.template_count = count("keep.template_count");
  bounds.templates = configuration.duration("keep.templates");
  bounds.builds = count("keep.builds");
  bounds.build_log_bytes = configuration.bytes("keep.build_log_bytes");
  bounds.build_logs = configuration.duration("keep.build_logs");
  bounds.upload_bytes = configuration.bytes("keep.upload_bytes");
  bounds.uploads = configuration.duration("keep.uploads");
  bounds.upload_links = configuration.duration("keep.upload_links");
  return bounds;
}

Result<quota::Quotas> key_quotas_of(const config::Configuration& configuration) {
  const std::int64_t rate = configuration.integer("rate.per_second"),
                     burst = configuration.integer("rate.burst");
  for (const auto& [key, value] : {std::pair("rate.per_second", rate), std::pair("rate.burst", burst)})
    if (value < 0)
      return fail(Error(Code::invalid_argument,
                        fmt::format("{}: {} is no number of requests; 0 sets no limit", key, value))
                      .with_field(key));
  if (rate == 0 && burst > 0)
    return fail(Error(Code::invalid_argument, "rate.burst alone limits nothing: set rate.per_second too")
                    .with_field("rate.burst"));
  quota::Quotas quotas;
  if (rate > 0) quotas[quota::Quota::requests_per_second] = static_cast<std::uint64_t>(rate);
  if (burst > 0) quotas[quota::Quota::requests_burst] = static_cast<std::uint64_t>(burst);
  return quotas;
}

}  // namespace atl::daemon
