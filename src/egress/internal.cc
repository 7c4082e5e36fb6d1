#include "egress/internal.h"

#include <fmt/format.h>

#include <algorithm>

namespace atl::egress {
namespace {

// Whether the ranges together hold all of `wanted`. Splits where a range lies inside, so at most 128 times
// for each of them.
bool is_covered(const Cidr& wanted, const std::vector<Cidr>& by) {
  if (std::ranges::any_of(by, [&](const Cidr& range) { return range.contains(wanted); })) return true;
  if (std::ranges::none_of(by, [&](const Cidr& range) { return range.overlaps(wanted); })) return false;
  const auto halves = wanted.halves();
  return halves && is_covered(halves->first, by) && is_covered(halves->second, by);
}

// The first of `internal` that `range` reaches into where nothing is opened.
const Cidr* find_closed(const Cidr& range, const std::vector<Cidr>& internal,
                        const std::vector<Cidr>& opened) {
  const auto at = std::ranges::find_if(internal, [&](const Cidr& one) {
    return one.overlaps(range) && !is_covered(one.contains(range) ? range : one, opened);
  });
  return at == internal.end() ? nullptr : &*at;
}

bool any_contains(const std::vector<Cidr>& ranges, const Address& address) {
  return std::ranges::any_of(ranges, [&](const Cidr& range) { return range.contains(address); });
}

}  // namespace

std::shared_ptr<const InternalAddresses> InternalAddresses::all_opened(
    std::shared_ptr<const OwnAddresses> own) {
  Options options;
  options.own = std::move(own);
  options.opened = {Cidr::parse("0.0.0.0/0").value(), Cidr::parse("::/0").value()};
  return std::make_shared<const InternalAddresses>(std::move(options));
}

bool InternalAddresses::contains(const Address& address) const {
  if (address.is_special() || any_contains(options_.more, address)) return true;
  if (!options_.own) return false;
  const auto own = options_.own->now();
  return !own || any_contains(*own, address);
}

bool InternalAddresses::is_opened(const Address& address) const {
  return any_contains(options_.opened, address);
}

std::optional<std::string> InternalAddresses::objection(const Cidr& range) const {
  constexpr std::string_view remedy = "whoever operates this service can open it with network.internal";
  if (const Cidr* closed = find_closed(range, special_ranges(), options_.opened)) {
    if (closed->contains(range)) return fmt::format("is internal, not of the public internet; {}", remedy);
    return fmt::format(
        "contains internal addresses ({}); name what is outside of them, or '*' for everything public",
        closed->to_string());
  }
  // Of the machine's own addresses a client is told that it hit one, not which.
  std::vector<Cidr> here = options_.more;
  if (options_.own) {
    auto own = options_.own->now();
    if (!own) return "cannot be checked: the addresses of this machine are not known now";
    here.insert(here.end(), own->begin(), own->end());
  }
  if (find_closed(range, here, options_.opened) != nullptr)
    return fmt::format("is or contains an address of this service's machine or network; {}", remedy);
  // An ISATAP address is public by its range and internal by what it carries.
  if (const auto one = range.single(); one && one->is_special() && !is_opened(*one))
    return fmt::format("carries an internal IPv4 address; {}", remedy);
  return std::nullopt;
}

}  // namespace atl::egress
