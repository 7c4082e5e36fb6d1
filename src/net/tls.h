#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace atl::net {

struct Certificate {
  std::string chain_pem;
  std::string key_pem;
  // Authorities whose client certificates are accepted; empty: none is asked for. A client may still come
  // without one, but not with a wrong one.
  std::string client_ca_pem = {};
};

// A new key (P-256) and a certificate for these DNS names or addresses, valid ten years, signed by itself.
Result<Certificate> make_self_signed(const std::vector<std::string>& names);

// The server's side of TLS 1.2 and later.
class TlsContext {
 public:
  virtual ~TlsContext() = default;
  // Code::invalid_argument if the two do not parse or do not belong together.
  static Result<std::shared_ptr<TlsContext>> make(const Certificate& certificate);
};

}  // namespace atl::net
