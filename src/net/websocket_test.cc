#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
    test.server.router().add_stream(Method::get, "/ws", [](Exchange& exchange) -> Task<void> {
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
