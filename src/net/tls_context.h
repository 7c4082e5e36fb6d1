#pragma once

#include <boost/asio/ssl/context.hpp>

#include "net/tls.h"

namespace atl::net {

boost::asio::ssl::context& asio_context(TlsContext& context);

}  // namespace atl::net
