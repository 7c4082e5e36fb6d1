#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>

#include "net/test_server.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct WebSocketTest : ::testing::Test {
  TestServer test;
  void SetUp() override {
    test.server.router().add_stream(Method::get, "/ws", anyone(), [](Exchange& exchange) -> Task<void> {
      WebSocketOptions options{.message_bytes_max = 1000, .protocol = "echo"};
      CO_TRY(auto socket, co_await exchange.accept_websocket(options));
      while (true) {
        CO_TRY(Message message, co_await socket->receive());
        if (message.bytes == "close") co_return co_await socket->close(1000, "asked");
        CO_CHECK(co_await socket->send(std::move(message)));
      }
    });
    test.start();
  }
};

TEST_F(WebSocketTest, RefusesOrdinaryRequests) {
  RawClient client(test.port());
  client.send(get("/ws", "Connection: close\r\n"));
  EXPECT_THAT(client.receive_all(), AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("WebSocket handshake")));
}

TEST_F(WebSocketTest, EchoesAndCloses) {
  asio::io_context loop;
  beast::websocket::stream<asio::ip::tcp::socket> client(loop);
  client.next_layer().connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(test.port())});
  beast::websocket::response_type response;
  client.handshake(response, "localhost", "/ws");
  EXPECT_EQ(response["Sec-WebSocket-Protocol"], "echo");
  for (bool binary : {false, true}) {
    client.binary(binary);
    client.write(asio::buffer(std::string("hi")));
    beast::flat_buffer buffer;
    client.read(buffer);
    EXPECT_EQ(beast::buffers_to_string(buffer.data()), "hi");
    EXPECT_EQ(client.got_binary(), binary);
  }
  client.write(asio::buffer(std::string("close")));
  beast::flat_buffer buffer;
  beast::error_code error;
  client.read(buffer, error);
  EXPECT_EQ(error, beast::websocket::error::closed);
  EXPECT_EQ(client.reason().reason, "asked");
}

// A terminal answers its client while the shell's output is on its way.
TEST_F(WebSocketTest, MessagesThatAreSentAtOnceGoOutWhole) {
  test.server.router().add_stream(Method::get, "/many", anyone(), [](Exchange& exchange) -> Task<void> {
    WebSocketOptions options;
    CO_TRY(std::shared_ptr<WebSocket> socket, co_await exchange.accept_websocket(options));
    const auto executor = co_await asio::this_coro::executor;
    const auto send = [](std::shared_ptr<WebSocket> to, char letter) -> asio::awaitable<void> {
      Message message{letter % 2 == 0, std::string(1 << 20, letter)};
      EXPECT_TRUE((co_await to->send(std::move(message))).has_value());
    };
    for (char letter = 'a'; letter < 'i'; ++letter)
      asio::co_spawn(executor, send(socket, letter), asio::detached);
    CO_CHECK(co_await socket->receive());
    co_return co_await socket->close(1000, "read");
  });
  asio::io_context loop;
  beast::websocket::stream<asio::ip::tcp::socket> client(loop);
  client.next_layer().connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(test.port())});
  client.handshake("localhost", "/many");
  std::string letters;
  for (int i = 0; i < 8; ++i) {
    beast::flat_buffer buffer;
    client.read(buffer);
    const std::string text = beast::buffers_to_string(buffer.data());
    ASSERT_EQ(text, std::string(1 << 20, text[0]));
    EXPECT_EQ(client.got_binary(), text[0] % 2 == 0);
    letters += text[0];
  }
  EXPECT_THAT(letters, ::testing::UnorderedElementsAre('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'));
  client.write(asio::buffer(std::string("thanks")));
}

TEST_F(WebSocketTest, EndsClientsThatSendTooMuch) {
  asio::io_context loop;
  beast::websocket::stream<asio::ip::tcp::socket> client(loop);
  client.next_layer().connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(test.port())});
  client.handshake("localhost", "/ws");
  client.write(asio::buffer(std::string(2000, 'x')));
  beast::flat_buffer buffer;
  beast::error_code error;
  client.read(buffer, error);
  EXPECT_TRUE(error);
}

TEST_F(WebSocketTest, StopEndsThem) {
  asio::io_context loop;
  beast::websocket::stream<asio::ip::tcp::socket> client(loop);
  client.next_layer().connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(test.port())});
  client.handshake("localhost", "/ws");
  test.stop(std::chrono::milliseconds(20));
  beast::flat_buffer buffer;
  beast::error_code error;
  client.read(buffer, error);
  EXPECT_TRUE(error);
}

}  // namespace
}  // namespace atl::net
