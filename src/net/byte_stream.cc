#include "net/byte_stream.h"

#include <boost/asio/experimental/awaitable_operators.hpp>

namespace atl::net {
namespace {

boost::asio::awaitable<void> pipe(ByteStream& from, ByteStream& to) {
  while (true) {
    Result<std::string> bytes = co_await from.read();
    if (!bytes) break;
    if (bytes->empty()) {
      Result<void> closed = co_await to.close_write();
      if (!closed) break;
      co_return;
    }
    Result<void> written = co_await to.write(std::move(*bytes));
    if (!written) break;
  }
  from.abort();
  to.abort();
}

}  // namespace

boost::asio::awaitable<void> relay(ByteStream& a, ByteStream& b) {
  using namespace boost::asio::experimental::awaitable_operators;
  co_await (pipe(a, b) && pipe(b, a));
}

}  // namespace atl::net
