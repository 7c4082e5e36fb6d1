#include "egress/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

namespace atl::egress {
namespace {

// What is not the public internet. IPv4: IANA's special-purpose registry, multicast and the reserved block,
// and the addresses that large clouds use inside although they look public.
constexpr std::array kSpecialV4 = {
    "0.0.0.0/8",        // this network
    "10.0.0.0/8",       // private
    "100.64.0.0/10",    // shared by carriers; 100.100.100.200 is a metadata service
    "127.0.0.0/8",      // loopback
    "169.254.0.0/16",   // link-local; 169.254.169.254 and others are metadata services
    "172.16.0.0/12",    // private
    "192.0.0.0/24",     // protocol assignments; 192.0.0.192 was a metadata service
    "192.0.2.0/24",     // documentation
    "192.31.196.0/24",  // AS112, answered by whatever network one is in
    "192.52.193.0/24",  // multicast tunnels
    "192.88.99.0/24",   // 6to4 relays
    "192.168.0.0/16",   // private
    "192.175.48.0/24",  // AS112
    "198.18.0.0/15",    // benchmarks
    "198.51.100.0/24",  // documentation
    "203.0.113.0/24",   // documentation
    "224.0.0.0/4",      // multicast
    "240.0.0.0/4",      // reserved, broadcast
    "168.63.129.16",    // Azure's wire server
    "161.26.0.0/16",    // IBM Cloud's service network
    "166.8.0.0/14",     // IBM Cloud's service endpoints
};

// IPv6: everything but 2000::/3 (the first three), of which only parts are given to the internet, and in it
// IANA's special-purpose registry. fd00:ec2::254, fd20:ce::254 and other metadata services lie in fc00::/7;
// 64:ff9b:1::/48 (NAT64 of a network's own), ::ffff:0:0:0/96 and fe80::/10 outside 2000::/3 as well.
constexpr std::array kSpecialV6 = {
    "::/3",               //
    "4000::/2",           //
    "8000::/1",           //
    "2001::/23",          // protocol assignments: Teredo, benchmarks, ORCHID, AMT, AS112
    "2001:db8::/32",      // documentation
    "2002::/16",          // 6to4, which carries an IPv4 address
    "2620:4f:8000::/48",  // AS112
    "3ffe::/16",          // 6bone, given back
    "3fff::/20",          // documentation
};

// ISATAP puts an IPv4 address behind 0:5efe or 200:5efe in the last half of any address.
std::optional<Address> isatap_v4(const std::array<std::uint8_t, 16>& bytes) {
  const bool marked =
      (bytes[8] == 0 || bytes[8] == 2) && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
  if (!marked) return std::nullopt;
  return Address::v4({bytes[12], bytes[13], bytes[14], bytes[15]});
}

// One part of an IPv4 address as inet_aton reads it: decimal, 0octal, 0xhex.
std::optional<std::uint64_t> loose_number(std::string_view part) {
  int base = 10;
  if (part.starts_with("0x")) {
    base = 16;
    part.remove_prefix(2);
    if (part.empty()) return 0;
  } else if (part.size() > 1 && part[0] == '0') {
    base = 8;
    part.remove_prefix(1);
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, base);
  if (part.empty() || error != std::errc() || end != part.data() + part.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0;;) {
    const auto at = text.find(by, start);
    parts.push_back(text.substr(start, at - start));
    if (at == std::string_view::npos) return parts;
    start = at + 1;
  }
}

// What inet_aton would make of a name: one to four numbers, the last filling the rest.
std::optional<Address> loose_v4(std::string_view name) {
  const auto parts = split(name, '.');
  if (parts.size() > 4) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = loose_number(parts[i]);
    if (!number) return std::nullopt;
    const bool last = i + 1 == parts.size();
    const auto room = last ? 8 * (4 - i) : 8;
    if (*number >= (std::uint64_t{1} << room)) return std::nullopt;
    value |= last ? *number : *number << (24 - 8 * i);
  }
  return Address::v4({static_cast<std::uint8_t>(value >> 24), static_cast<std::uint8_t>(value >> 16),
                      static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)});
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

bool has_good_labels(std::string_view name) {
  return std::ranges::all_of(split(name, '.'), [](std::string_view label) {
    return !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-';
  });
}

}  // namespace

Address Address::v4(std::array<std::uint8_t, 4> bytes) {
  Address address;
  std::ranges::copy(bytes, address.bytes_.begin());
  return address;
}

Address Address::v6(const std::array<std::uint8_t, 16>& bytes) {
  constexpr std::array<std::uint8_t, 12> mapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr std::array<std::uint8_t, 12> nat64 = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};
  constexpr std::array<std::uint8_t, 12> compatible = {};
  const auto starts = [&](const auto& prefix) {
    return std::equal(prefix.begin(), prefix.end(), bytes.begin());
  };
  // ::1 and :: are addresses of their own, every other ::a.b.c.d is the IPv4 one.
  const bool small = bytes[12] == 0 && bytes[13] == 0 && bytes[14] == 0 && bytes[15] <= 1;
  if (starts(mapped) || starts(nat64) || (starts(compatible) && !small)) {
    return v4({bytes[12], bytes[13], bytes[14], bytes[15]});
  }
  Address address;
  address.v4_ = false;
  address.bytes_ = bytes;
  return address;
}

std::optional<Address> Address::parse(std::string_view text) {
  const std::string copy(text);
  std::array<std::uint8_t, 16> bytes{};
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  if (::inet_pton(AF_INET, copy.c_str(), bytes.data()) == 1)
    return v4({bytes[0], bytes[1], bytes[2], bytes[3]});
  if (::inet_pton(AF_INET6, copy.c_str(), bytes.data()) == 1) return v6(bytes);
  return std::nullopt;
}

std::string Address::to_string() const {
  char text[INET6_ADDRSTRLEN];
  ::inet_ntop(v4_ ? AF_INET : AF_INET6, bytes_.data(), text, sizeof text);
  return text;
}

const std::vector<Cidr>& special_ranges() {
  static const auto ranges = [] {
    std::vector<Cidr> parsed;
    for (const auto* text : kSpecialV4) parsed.push_back(Cidr::parse(text).value());
    for (const auto* text : kSpecialV6) parsed.push_back(Cidr::parse(text).value());
    return parsed;
  }();
  return ranges;
}

bool Address::is_special() const {
  if (std::ranges::any_of(special_ranges(), [&](const Cidr& range) { return range.contains(*this); }))
    return true;
  if (v4_) return false;
  const auto carried = isatap_v4(bytes_);
  return carried && carried->is_special();
}

Result<Cidr> Cidr::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = Address::parse(text.substr(0, slash));
  if (!address)
    return fail(Code::invalid_argument, fmt::format("'{}' is not an address or a CIDR range", text));
  Cidr range;
  range.base_ = *address;
  // An IPv4 range that is written inside an IPv6 one counts its bits from there.
  const bool is_written_v6 = text.find(':') != std::string_view::npos;
  const unsigned width = is_written_v6 ? 128 : 32;
  const unsigned least = is_written_v6 && address->is_v4() ? 96 : 0;
  unsigned bits = width;
  if (slash != std::string_view::npos) {
    const auto digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || bits > width ||
        bits < least) {
      return fail(Code::invalid_argument,
                  fmt::format("'{}' has no prefix length from {} to {}", text, least, width));
    }
  }
  range.bits_ = bits - least;
  return range;
}

Cidr Cidr::of(const Address& base, unsigned bits) {
  Cidr range;
  range.base_ = base;
  range.bits_ = bits;
  return range;
}

bool Cidr::contains(const Cidr& other) const {
  return bits_ <= other.bits_ && contains(other.base_);
}

std::optional<Address> Cidr::single() const {
  if (bits_ != (base_.is_v4() ? 32U : 128U)) return std::nullopt;
  return base_;
}

std::optional<std::pair<Cidr, Cidr>> Cidr::halves() const {
  if (single()) return std::nullopt;
  auto bytes = base_.bytes();
  const auto bit = static_cast<std::uint8_t>(0x80U >> (bits_ % 8));
  const auto at = [&](std::uint8_t byte) {
    bytes[bits_ / 8] = byte;
    Cidr half = of(base_, bits_ + 1);
    half.base_.bytes_ = bytes;
    return half;
  };
  const std::uint8_t byte = bytes[bits_ / 8];
  return std::pair{at(static_cast<std::uint8_t>(byte & ~bit)), at(static_cast<std::uint8_t>(byte | bit))};
}

bool Cidr::contains(const Address& address) const {
  if (address.is_v4() != base_.is_v4()) return false;
  const auto whole = bits_ / 8;
  if (std::memcmp(address.bytes().data(), base_.bytes().data(), whole) != 0) return false;
  if (bits_ % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits_ % 8));
  return (address.bytes()[whole] & mask) == (base_.bytes()[whole] & mask);
}

std::string Cidr::to_string() const {
  return fmt::format("{}/{}", base_.to_string(), bits_);
}

Result<Host> parse_host(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return fail(Code::invalid_argument, fmt::format("bad host: {}", why));
  };
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    const auto address = Address::parse(text.substr(1, text.size() - 2));
    if (!address || text.find(':') == std::string_view::npos) return bad("not an IPv6 address in brackets");
    return *address;
  }
  if (text.find(':') != std::string_view::npos) {
    const auto address = Address::parse(text);
    if (!address) return bad("a colon that is no IPv6 address");
    return *address;
  }
  std::string name(text);
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (!name.empty() && name.back() == '.') name.pop_back();
  if (name.empty() || name.size() > 253) return bad("empty or longer than 253 characters");
  if (!std::ranges::all_of(name, is_name_character)) return bad("a character that no host name has");
  // Programs inside may pass 0x7f.1 to inet_aton(): it is judged as the address that it means.
  if (const auto address = loose_v4(name)) return *address;
  if (!has_good_labels(name)) return bad("a label is empty, too long, or begins or ends with a dash");
  return name;
}

std::string to_string(const Host& host) {
  if (const auto* address = std::get_if<Address>(&host)) return address->to_string();
  return std::get<std::string>(host);
}

}  // namespace atl::egress
