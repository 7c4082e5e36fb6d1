#pragma once

#include <string>

#include "net/tls.h"

namespace atl::daemon {

// The certificate and key in these PEM files. Both names empty: one for localhost, *.localhost and
// *.e2b.localhost, signed by itself, made once and kept in the data directory (tls-certificate.pem,
// tls-key.pem with mode 0600).
Result<net::Certificate> load_certificate(const std::string& data, const std::string& certificate_file,
                                          const std::string& key_file);

}  // namespace atl::daemon
