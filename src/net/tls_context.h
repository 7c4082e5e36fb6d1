#pragma once

#include <boost/asio/ssl/context.hpp>

#include "net/tls.h"

namespace atl::net {

// For the files that speak TLS themselves; tls.h keeps Asio out of everybody else's. Owned by `context`.
boost::asio::ssl::context& asio_context(TlsContext& context);

}  // namespace atl::net
