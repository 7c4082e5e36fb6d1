#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace atl::egress {

// What the first bytes of a tunnel are.
struct ClientHello {
  enum class Kind { not_tls, incomplete, hello, malformed } kind = Kind::incomplete;
  std::optional<std::string> server_name;  // of a hello; absent if it names none
  bool encrypted = false;  // carries an encrypted hello, which may name another server than this one
};

// Looks at the start of a byte stream without consuming it. Reads TLS records as sent, also when the hello is
// spread over several; never reads past `bytes`.
ClientHello inspect_client_hello(std::string_view bytes);

}  // namespace atl::egress
