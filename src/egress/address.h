#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace atl::egress {

// An IP address in one canonical form: IPv4 as four bytes, IPv6 as sixteen; an IPv4 address that is written
// inside an IPv6 one (mapped, NAT64) is the IPv4 address, so that a rule about it cannot be walked around.
class Address {
 public:
  static Address v4(std::array<std::uint8_t, 4> bytes);
  static Address v6(const std::array<std::uint8_t, 16>& bytes);
  // The usual notations only: dotted decimal with four parts, and RFC 4291 text.
  static std::optional<Address> parse(std::string_view text);

  bool is_v4() const { return v4_; }
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }  // IPv4: the first four
  std::string to_string() const;
  // In a range that is not the public internet on any machine: loopback, private, link-local, metadata
  // services, multicast, unspecified, tunnels that carry IPv4 addresses, documentation, reserved. What else
  // is internal on this machine only InternalAddresses knows (internal.h).
  bool is_special() const;

  bool operator==(const Address&) const = default;

 private:
  friend class Cidr;  // halves(), which must not read ::5 as an IPv4 address
  bool v4_ = true;
  std::array<std::uint8_t, 16> bytes_{};
};

// A range of addresses: "10.0.0.0/8", "2001:db8::/32", or one address.
class Cidr {
 public:
  static Result<Cidr> parse(std::string_view text);
  // `bits` is at most 32 or 128, by the kind of address.
  static Cidr of(const Address& base, unsigned bits);
  bool contains(const Address& address) const;
  bool contains(const Cidr& other) const;
  // Two ranges are nested or have nothing in common.
  bool overlaps(const Cidr& other) const { return contains(other) || other.contains(*this); }
  // Every address of its kind: 0.0.0.0/0, ::/0, and their other spellings such as 1.2.3.4/0.
  bool is_everything() const { return bits_ == 0; }
  // The address, if it is only one.
  std::optional<Address> single() const;
  // The two ranges it consists of; nothing if it is one address.
  std::optional<std::pair<Cidr, Cidr>> halves() const;
  std::string to_string() const;

 private:
  Address base_ = Address::v4({});
  unsigned bits_ = 0;
};

// The ranges behind Address::is_special().
const std::vector<Cidr>& special_ranges();

// A host as a client named it, in the one form that is both checked and dialled: an address, or a lower-case
// ASCII name without a trailing dot. Names that some resolver would take for a number (0x7f.1, 2130706433,
// 0177.1) become the address they mean. Anything else in the text (NUL, spaces, @, #, /, \, %) is refused.
using Host = std::variant<Address, std::string>;
Result<Host> parse_host(std::string_view text);
std::string to_string(const Host& host);

}  // namespace atl::egress
