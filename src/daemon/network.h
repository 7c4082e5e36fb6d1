#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "config/configuration.h"
#include "egress/internal.h"

// The settings `network.*` as the proxy wants them, and what is said of addresses.
namespace atl::daemon {

// A setting that lists addresses and ranges. A bad one is Code::invalid_argument that names the setting.
Result<std::vector<egress::Cidr>> ranges_of(const config::Configuration& configuration, std::string_view key);

// What no sandbox may reach unasked: the known ranges, this machine's own addresses, and what the settings
// add and open.
Result<std::shared_ptr<const egress::InternalAddresses>> internal_addresses(
    const config::Configuration& configuration);

// Whether only this machine can reach what listens on this address. False for every name other than
// localhost, because a name may stand for any address.
bool is_local(std::string_view address);

}  // namespace atl::daemon
