#include "daemon/network.h"

#include "egress/host_addresses.h"

namespace atl::daemon {

Result<std::vector<egress::Cidr>> ranges_of(const config::Configuration& configuration,
                                            std::string_view key) {
  std::vector<egress::Cidr> ranges;
  for (const std::string& text : configuration.list(key))
    ranges.push_back(TRY_CONTEXT(key, egress::Cidr::parse(text)));
  return ranges;
}

Result<std::shared_ptr<const egress::InternalAddresses>> internal_addresses(
    const config::Configuration& configuration) {
  egress::InternalAddresses::Options options;
  options.opened = TRY(ranges_of(configuration, "network.internal"));
  options.more = TRY(ranges_of(configuration, "network.more_internal"));
  options.own = TRY(egress::HostAddresses::open());
  return std::make_shared<const egress::InternalAddresses>(std::move(options));
}

}  // namespace atl::daemon
