#include "egress/socks.h"

#include <array>

namespace atl::egress {
namespace {

constexpr std::uint8_t kVersion = 5, kConnect = 1, kAddress4 = 1, kName = 3, kAddress6 = 4;

std::uint8_t octet(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

SocksRequest refused(SocksReply reply, std::string reason, std::size_t size) {
  SocksRequest request;
  request.kind = SocksRequest::Kind::refused;
  request.refusal = reply;
  request.reason = std::move(reason);
  request.size = size;
  return request;
}

Result<Host> read_host(std::string_view bytes, std::uint8_t type) {
  if (type == kName) return parse_host(bytes.substr(1));
  if (type == kAddress4) {
    return Address::v4({octet(bytes, 0), octet(bytes, 1), octet(bytes, 2), octet(bytes, 3)});
  }
  std::array<std::uint8_t, 16> address{};
  for (std::size_t i = 0; i < address.size(); ++i) address[i] = octet(bytes, i);
  return Address::v6(address);
}

}  // namespace

std::size_t socks_greeting(std::string_view bytes) {
  if (bytes.size() < 2 || bytes.size() < 2U + octet(bytes, 1)) return 0;
  return 2U + octet(bytes, 1);
}

SocksRequest parse_socks(std::string_view bytes) {
  if (bytes.size() < 5) return {};
  if (octet(bytes, 0) != kVersion) return refused(SocksReply::bad_command, "not SOCKS5", bytes.size());
  if (octet(bytes, 1) != kConnect)
    return refused(SocksReply::bad_command, "a SOCKS command other than CONNECT", bytes.size());
  const auto type = octet(bytes, 3);
  const std::size_t length = type == kAddress4   ? 4
                             : type == kAddress6 ? 16
                             : type == kName     ? 1U + octet(bytes, 4)
                                                 : 0;
  if (length == 0) return refused(SocksReply::bad_type, "an unknown kind of address", bytes.size());
  const auto size = 4 + length + 2;
  if (bytes.size() < size) return {};
  const auto host = read_host(bytes.substr(4, length), type);
  const auto port = static_cast<std::uint16_t>(octet(bytes, 4 + length) << 8 | octet(bytes, 5 + length));
  if (!host) return refused(SocksReply::not_allowed, host.error().message(), size);
  if (port == 0) return refused(SocksReply::not_allowed, "there is no port 0", size);
  SocksRequest request;
  request.kind = SocksRequest::Kind::connect;
  request.size = size;
  request.host = *host;
  request.port = port;
  return request;
}

std::string socks_reply(SocksReply reply) {
  return std::string("\x05", 1) + static_cast<char>(reply) + std::string("\x00\x01\0\0\0\0\0\0", 8);
}

}  // namespace atl::egress
