#pragma once

#include <memory>
#include <string>

#include "os/byte_stream.h"

struct ssl_ctx_st;

namespace atl::egress {

// TLS over any byte stream. `context` must live as long as the stream.
//
// As server: presents the context's certificate. As client: verifies the peer against the context's trust and
// `name`, or takes whatever certificate it shows.
Task<std::unique_ptr<ByteStream>> accept_tls(std::unique_ptr<ByteStream> stream, ssl_ctx_st& context);
Task<std::unique_ptr<ByteStream>> connect_tls(std::unique_ptr<ByteStream> stream, ssl_ctx_st& context,
                                              std::string name);

Task<std::unique_ptr<ByteStream>> connect_tls_unverified(std::unique_ptr<ByteStream> stream,
                                                         ssl_ctx_st& context);

}  // namespace atl::egress
