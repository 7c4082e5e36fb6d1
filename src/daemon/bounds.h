#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/e2b/context.h"
#include "quota/quotas.h"
#include "registry/ceilings.h"
#include "session/service_options.h"

namespace atl::config {
class Configuration;
}

// The settings that bound something, as the parts that keep to them want them. Each gives
// Code::invalid_argument with the setting's name for a number that makes no sense.
namespace atl::daemon {

// A number of sandboxes or sessions.
Result<std::uint32_t> count_of(const config::Configuration& configuration, std::string_view key);
// Not negative; zero is no bound.
Result<std::uint64_t> bound_of(const config::Configuration& configuration, std::string_view key);
// What the machine has, and below it what the operator says. `data` is the data directory.
Result<registry::Ceilings> ceilings_of(const config::Configuration& configuration, const std::string& data);
Result<session::Keeping> keeping_of(const config::Configuration& configuration);
api::e2b::StoredBounds stored_bounds_of(const config::Configuration& configuration);
// What every key may have that has no quota of its own: rate.*.
Result<quota::Quotas> key_quotas_of(const config::Configuration& configuration);

}  // namespace atl::daemon
