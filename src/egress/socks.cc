#include "egress/socks.h"

#include <array>

namespace atl::egress {
namespace {

constexpr std::uint8_t kVersion = 5, kConnect = 1, kAddress4 = 1, kName = 3, kAddress6 = 4;

std::uint8_t octet(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

// 0: no kind of address. `first` is the first byte of it, the length of a name.
std::size_t address_size(std::uint8_t type, std::uint8_t first) {
  if (type == kAddress4) return 4;
  if (type == kAddress6) return 16;
  return type == kName ? 1U + first : 0;
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
  const std::size_t length = address_size(type, octet(bytes, 4));
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

std::string socks_credentials(std::string_view username, std::string_view password) {
  std::string bytes(1, '\x01');
  for (const std::string_view word : {username, password}) {
    bytes += static_cast<char>(word.size());
    bytes += word;
  }
  return bytes;
}

std::string socks_request(const Address& address, std::uint16_t port) {
  std::string bytes{kVersion, kConnect, 0, static_cast<char>(address.is_v4() ? kAddress4 : kAddress6)};
  for (std::size_t i = 0; i < (address.is_v4() ? 4U : 16U); ++i)
    bytes += static_cast<char>(address.bytes()[i]);
  bytes += static_cast<char>(port >> 8);
  bytes += static_cast<char>(port & 0xff);
  return bytes;
}

std::size_t socks_answer_size(std::string_view bytes) {
  const std::size_t length = address_size(octet(bytes, 3), octet(bytes, 4));
  return length == 0 ? 0 : 4 + length + 2;
}

std::string_view socks_failure(char reply) {
  constexpr std::array<std::string_view, 9> kWords = {"",
                                                      "general failure",
                                                      "not allowed by its rules",
                                                      "network unreachable",
                                                      "host unreachable",
                                                      "connection refused",
                                                      "time to live expired",
                                                      "command not supported",
                                                      "address type not supported"};
  const auto at = static_cast<std::uint8_t>(reply);
  return at < kWords.size() ? kWords[at] : "unknown failure";
}

std::string socks_reply(SocksReply reply) {
  return std::string("\x05", 1) + static_cast<char>(reply) + std::string("\x00\x01\0\0\0\0\0\0", 8);
}

}  // namespace atl::egress
