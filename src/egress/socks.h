#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "egress/address.h"

namespace atl::egress {

// SOCKS5 (RFC 1928) without authentication: the client is inside a sandbox, and that is who it is.
enum class SocksReply : char {
  ok = 0,
  failed = 1,
  not_allowed = 2,
  unreachable = 4,
  bad_command = 7,
  bad_type = 8
};

// Plain values. `incomplete`: more bytes are needed, and nothing was decided.
struct SocksRequest {
  enum class Kind { incomplete, connect, refused } kind = Kind::incomplete;
  std::size_t size = 0;  // of what was read, unless incomplete
  SocksReply refusal = SocksReply::not_allowed;
  std::string reason;  // of a refusal
  Host host = std::string();
  std::uint16_t port = 0;
};

// The greeting's length; 0: incomplete.
std::size_t socks_greeting(std::string_view bytes);
inline constexpr std::string_view kSocksWelcome{"\x05\x00", 2};
// What the client wants, once it is there. The host is in canonical form.
SocksRequest parse_socks(std::string_view bytes);
std::string socks_reply(SocksReply reply);

// The client's side, towards a proxy outside, which may ask for a user name (RFC 1929).
inline constexpr std::string_view kSocksWithout{"\x05\x01\x00", 3};
inline constexpr std::string_view kSocksWithUser{"\x05\x02\x00\x02", 4};
inline constexpr std::string_view kSocksPasswordPlease{"\x05\x02", 2};
// Neither has more than 255 bytes.
std::string socks_credentials(std::string_view username, std::string_view password);
std::string socks_request(const Address& address, std::uint16_t port);
// The length of an answer by its first five bytes; 0: it cannot be one.
std::size_t socks_answer_size(std::string_view bytes);
// What a proxy's answer means, in words; constant text.
std::string_view socks_failure(char reply);

}  // namespace atl::egress
