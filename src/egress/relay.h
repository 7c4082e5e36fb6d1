#pragma once

#include <boost/asio/awaitable.hpp>

#include "os/byte_stream.h"

namespace atl::egress {

// Thrown by one half of an exchange to end the other at once; never leaves exchange().
struct RelayEnded {};

// Bytes from one stream to the other until the first ends. Throws RelayEnded if either breaks.
boost::asio::awaitable<void> pump(ByteStream& from, ByteStream& to);
// Two halves at the same time, until both are done or one throws RelayEnded.
boost::asio::awaitable<void> exchange(boost::asio::awaitable<void> one, boost::asio::awaitable<void> other);

}  // namespace atl::egress
