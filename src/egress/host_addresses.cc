#include "egress/host_addresses.h"

#include <optional>

namespace atl::egress {
namespace {

// An IPv4 address inside an IPv6 one is the IPv4 address here. A wider range of IPv6 that holds all of those
// says nothing that the special ranges do not.
std::optional<Cidr> to_cidr(const os::LocalRange& range) {
  const auto& bytes = range.bytes;
  if (!range.is_v6) return Cidr::of(Address::v4({bytes[0], bytes[1], bytes[2], bytes[3]}), range.bits);
  const Address base = Address::v6(bytes);
  if (!base.is_v4()) return Cidr::of(base, range.bits);
  if (range.bits < 96) return std::nullopt;
  return Cidr::of(base, range.bits - 96);
}

}  // namespace

Result<std::shared_ptr<HostAddresses>> HostAddresses::open() {
  return std::shared_ptr<HostAddresses>(new HostAddresses(TRY(os::LocalAddresses::open())));
}

Result<std::vector<Cidr>> HostAddresses::now() const {
  const std::vector<os::LocalRange> local = TRY(local_->now());
  std::vector<Cidr> ranges;
  for (const os::LocalRange& range : local)
    if (const auto cidr = to_cidr(range)) ranges.push_back(*cidr);
  return ranges;
}

}  // namespace atl::egress
