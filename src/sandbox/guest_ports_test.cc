#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "sandbox/guest_harness.h"

namespace atl::sandbox {
namespace {

using GuestPortsTest = GuestTest;
namespace asio = boost::asio;

TEST_F(GuestPortsTest, SaysThatNobodyListens) {
  asio::ip::tcp::acceptor taken(loop_, {asio::ip::address_v4::loopback(), 0});
  const std::uint16_t port = taken.local_endpoint().port();
  taken.close();
  EXPECT_EQ(run(connection()->connect(port)).error().code(), Code::unavailable);
  EXPECT_EQ(run(connection()->connect(0)).error().code(), Code::invalid_argument);
}

TEST_F(GuestPortsTest, ListsAndConnects) {
  asio::ip::tcp::acceptor server(loop_, {asio::ip::address_v4::loopback(), 0});
  const std::uint16_t port = server.local_endpoint().port();
  EXPECT_THAT(*run(connection()->listening_ports()), testing::Contains(port));
  const auto serve = [](asio::ip::tcp::acceptor& from) -> asio::awaitable<void> {
    asio::ip::tcp::socket socket = co_await from.async_accept(asio::use_awaitable);
    std::string text(300'000, 0);
    std::size_t got = 0;
    for (;;) {
      auto [error, size] = co_await socket.async_read_some(asio::buffer(text.data() + got, text.size() - got),
                                                           asio::as_tuple(asio::use_awaitable));
      if (error || size == 0) break;
      got += size;
    }
    text.resize(got);
    co_await asio::async_write(socket, asio::buffer(text), asio::use_awaitable);
  };
  asio::co_spawn(loop_, serve(server), asio::detached);
  const auto go = [](std::shared_ptr<GuestConnection> connection, std::uint16_t to) -> Task<std::size_t> {
    CO_TRY(const auto stream, co_await connection->connect(to));
    std::string text(200'000, 'x');
    CO_CHECK(co_await stream->write(std::move(text)));
    CO_CHECK(co_await stream->close_write());
    std::size_t total = 0;
    for (;;) {
      CO_TRY(const std::string piece, co_await stream->read());
      if (piece.empty()) co_return total;
      total += piece.size();
    }
  };
  EXPECT_EQ(run(go(connection(), port)).value_or(0), 200'000U);
}

TEST_F(GuestPortsTest, ConnectsToTheOtherLoopback) {
  boost::system::error_code none;
  asio::ip::tcp::acceptor server(loop_);
  const asio::ip::tcp::endpoint where(asio::ip::address_v6::loopback(), 0);
  server.open(asio::ip::tcp::v6(), none);
  if (!none) server.bind(where, none);
  if (none) GTEST_SKIP() << "no IPv6 here";
  server.listen();
  EXPECT_TRUE(run(connection()->connect(server.local_endpoint().port())));
}

TEST_F(GuestPortsTest, HandsConnectionsFromInsideToTheHost) {
  const auto go = [](std::shared_ptr<GuestConnection> connection) -> Task<std::string> {
    const std::uint16_t any = 0;
    CO_TRY(const auto listener, co_await connection->listen(any));
    const ProcessSpec client =
        shell(fmt::format("exec 5<>/dev/tcp/127.0.0.1/{}; echo question >&5; cat <&5", listener->port()));
    ProcessSpec bash = client;
    bash.argv[0] = "/bin/bash";
    CO_TRY(const auto process, co_await connection->start(bash));
    CO_TRY(const auto stream, co_await listener->accept());
    CO_TRY(const std::string asked, co_await stream->read());
    EXPECT_EQ(asked, "question\n");
    std::string answer = "answer\n";
    CO_CHECK(co_await stream->write(std::move(answer)));
    CO_CHECK(co_await stream->close_write());
    CO_TRY(const Finished finished, co_await collect(process));
    co_return finished.out;
  };
  EXPECT_EQ(run(go(connection())).value_or(""), "answer\n");
}

}  // namespace
}  // namespace atl::sandbox
