#include "daemon/network.h"

#include <boost/asio/ip/address.hpp>
#include <string>

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

bool is_local(std::string_view address) {
  if (address.starts_with("unix:")) return true;
  std::string host(address.substr(0, address.rfind(':')));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host == "localhost") return true;
  boost::system::error_code failed;
  const auto parsed = boost::asio::ip::make_address(host, failed);
  return !failed && parsed.is_loopback();
}

}  // namespace atl::daemon
