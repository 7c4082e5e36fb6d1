#include "egress/machine.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

namespace atl::egress {
namespace {

namespace asio = boost::asio;

TEST(Machine, ReachesALoopbackServerAndSaysWhenNobodyListens) {
  asio::io_context loop;
  Machine machine(loop.get_executor());
  asio::ip::tcp::acceptor acceptor(loop, {asio::ip::address_v4::loopback(), 0});
  const auto port = acceptor.local_endpoint().port();
  std::string got;
  Code refused = Code::internal;
  auto server = [&]() -> asio::awaitable<void> {
    auto socket = co_await acceptor.async_accept(asio::use_awaitable);
    std::string text = "hello";
    co_await socket.async_write_some(asio::buffer(text), asio::use_awaitable);
  };
  auto client = [&]() -> asio::awaitable<void> {
    const auto loopback = *Address::parse("127.0.0.1");
    auto stream = co_await machine.connect(loopback, port);
    if (stream) {
      auto bytes = co_await (*stream)->read();
      if (bytes) got = *bytes;
    }
    acceptor.close();
    auto nobody = co_await machine.connect(loopback, port);
    if (!nobody) refused = nobody.error().code();
  };
  asio::co_spawn(loop, server, asio::detached);
  asio::co_spawn(loop, client, asio::detached);
  loop.run_for(std::chrono::seconds(60));
  EXPECT_EQ(got, "hello");
  EXPECT_EQ(refused, Code::unavailable);
}

TEST(Machine, ResolvesLocalhost) {
  asio::io_context loop;
  Machine machine(loop.get_executor());
  std::vector<Address> addresses;
  auto run = [&]() -> asio::awaitable<void> {
    std::string name = "localhost";
    auto found = co_await machine.resolve(name);
    if (found) addresses = *found;
  };
  asio::co_spawn(loop, run, asio::detached);
  loop.run_for(std::chrono::seconds(60));
  ASSERT_FALSE(addresses.empty());
  EXPECT_TRUE(addresses[0].is_special());
}

}  // namespace
}  // namespace atl::egress
