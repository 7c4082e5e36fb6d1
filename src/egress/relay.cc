#include "egress/relay.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

namespace atl::egress {

namespace asio = boost::asio;

asio::awaitable<void> pump(ByteStream& from, ByteStream& to) {
  for (;;) {
    auto bytes = co_await from.read();
    if (!bytes) throw RelayEnded();
    if (bytes->empty()) break;
    auto written = co_await to.write(std::move(*bytes));
    if (!written) throw RelayEnded();
  }
  auto closed = co_await to.close_write();
  if (!closed) throw RelayEnded();
}

asio::awaitable<void> exchange(asio::awaitable<void> one, asio::awaitable<void> other) {
  using namespace asio::experimental::awaitable_operators;
  try {
    co_await (std::move(one) && std::move(other));
  } catch (const RelayEnded&) {
    co_return;
  }
}

}  // namespace atl::egress
