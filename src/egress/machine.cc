#include "egress/machine.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>

#include "egress/tls_stream.h"

namespace atl::egress {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);
constexpr auto kTimeout = std::chrono::seconds(10);
constexpr std::size_t kBlock = 64U << 10;

class TcpStream final : public ByteStream {
 public:
  explicit TcpStream(Tcp::socket socket) : socket_(std::move(socket)) {}

  Task<std::string> read() override {
    std::string bytes(kBlock, '\0');
    auto [error, count] = co_await socket_.async_read_some(asio::buffer(bytes), kTuple);
    if (error == asio::error::eof) co_return std::string();
    if (error) co_return fail(Code::unavailable, error.message());
    bytes.resize(count);
    co_return bytes;
  }
  Task<void> write(std::string bytes) override {
    auto [error, count] = co_await asio::async_write(socket_, asio::buffer(bytes), kTuple);
    if (error) co_return fail(Code::unavailable, error.message());
    co_return Result<void>();
  }
  Task<void> close_write() override {
    boost::system::error_code error;
    socket_.shutdown(Tcp::socket::shutdown_send, error);
    co_return Result<void>();
  }

 private:
  Tcp::socket socket_;
};

asio::ip::address to_asio(const Address& address) {
  if (address.is_v4()) {
    asio::ip::address_v4::bytes_type bytes;
    std::copy_n(address.bytes().begin(), bytes.size(), bytes.begin());
    return asio::ip::address_v4(bytes);
  }
  asio::ip::address_v6::bytes_type bytes;
  std::copy_n(address.bytes().begin(), bytes.size(), bytes.begin());
  return asio::ip::address_v6(bytes);
}

asio::awaitable<void> time_out(asio::any_io_executor executor) {
  asio::steady_timer timer(executor, kTimeout);
  co_await timer.async_wait(kTuple);
}

}  // namespace

Machine::Machine(asio::any_io_executor executor)
    : executor_(std::move(executor)), context_(SSL_CTX_new(TLS_client_method())) {
  SSL_CTX_set_default_verify_paths(context_);
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
}

Machine::~Machine() {
  SSL_CTX_free(context_);
}

Task<std::vector<Address>> Machine::resolve(std::string name) {
  using namespace asio::experimental::awaitable_operators;
  Tcp::resolver resolver(executor_);
  auto outcome = co_await (resolver.async_resolve(name, "", kTuple) || time_out(executor_));
  if (outcome.index() == 1)
    co_return fail(Code::deadline_exceeded, fmt::format("resolving {} took too long", name));
  auto& [error, results] = std::get<0>(outcome);
  if (error) {
    const bool none = error == asio::error::host_not_found || error == asio::error::no_data;
    co_return fail(none ? Code::not_found : Code::unavailable,
                   fmt::format("cannot resolve {}: {}", name, error.message()));
  }
  std::vector<Address> addresses;
  for (const auto& result : results) {
    if (auto address = Address::parse(result.endpoint().address().to_string())) addresses.push_back(*address);
  }
  co_return addresses;
}

Task<std::unique_ptr<ByteStream>> Machine::connect(Address address, std::uint16_t port) {
  using namespace asio::experimental::awaitable_operators;
  Tcp::socket socket(executor_);
  const Tcp::endpoint endpoint(to_asio(address), port);
  auto outcome = co_await (socket.async_connect(endpoint, kTuple) || time_out(executor_));
  if (outcome.index() == 1)
    co_return fail(Code::deadline_exceeded, fmt::format("{}:{} did not answer", address.to_string(), port));
  const auto error = std::get<0>(std::get<0>(outcome));
  if (error)
    co_return fail(Code::unavailable, fmt::format("{}:{}: {}", address.to_string(), port, error.message()));
  boost::system::error_code ignored;
  socket.set_option(Tcp::no_delay(true), ignored);
  co_return std::make_unique<TcpStream>(std::move(socket));
}

Task<std::unique_ptr<ByteStream>> Machine::secure(std::unique_ptr<ByteStream> stream, std::string name) {
  return connect_tls(std::move(stream), *context_, std::move(name));
}

}  // namespace atl::egress
