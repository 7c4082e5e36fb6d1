#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>

#include "net/await.h"
#include "net/exchange.h"
#include "os/event.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

template <class Next>
class BeastWebSocket final : public WebSocket {
 public:
  BeastWebSocket(Next next, std::shared_ptr<Connection> connection)
      : stream_(std::move(next)), connection_(std::move(connection)), sent_(stream_.get_executor()) {
    connection_->abort_upgraded = [this] { drop(); };
  }
  ~BeastWebSocket() override {
    connection_->abort_upgraded = nullptr;
    drop();
  }

  Task<void> accept(const Request& request, WebSocketOptions options) {
    stream_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    stream_.read_message_max(options.message_bytes_max);
    std::string id = request.id, protocol = options.protocol;
    stream_.set_option(websocket::stream_base::decorator([id, protocol](websocket::response_type& response) {
      response.set("X-Request-Id", id);
      if (!protocol.empty()) response.set(beast::http::field::sec_websocket_protocol, protocol);
    }));
    beast::http::request<beast::http::empty_body> handshake(beast::http::verb::get, request.target, 11);
    for (const auto& [name, value] : request.headers) handshake.insert(name, value);
    auto [error] = co_await stream_.async_accept(handshake, kAwait);
    if (error) co_return fail(transport_error(error, "WebSocket handshake"));
    co_return Result<void>();
  }

  Task<Message> receive() override {
    beast::flat_buffer buffer;
    auto [error, size] = co_await stream_.async_read(buffer, kAwait);
    if (error == websocket::error::closed) co_return fail(Code::canceled, "the client closed the WebSocket");
    if (error == websocket::error::message_too_big)
      co_return fail(Code::too_large, "the message is too large");
    if (error) co_return fail(Code::unavailable, "the client went away");
    co_return Message{stream_.got_binary(), beast::buffers_to_string(buffer.data())};
  }
  Task<void> send(Message message) override {
    // The stream takes one message at a time.
    while (sending_) CO_CHECK(co_await sent_.wait());
    sending_ = true;
    stream_.binary(message.binary);
    auto [error, size] = co_await stream_.async_write(asio::buffer(message.bytes), kAwait);
    sending_ = false;
    sent_.notify();
    if (error) co_return fail(Code::unavailable, "the client went away");
    co_return Result<void>();
  }
  Task<void> close(std::uint16_t code, std::string reason) override {
    websocket::close_reason why(static_cast<websocket::close_code>(code), reason.substr(0, 120));
    auto [error] = co_await stream_.async_close(why, kAwait);
    if (error) co_return fail(Code::unavailable, "the client went away");
    co_return Result<void>();
  }

 private:
  void drop() {
    error_code ignored;
    beast::get_lowest_layer(stream_).close(ignored);
  }

  websocket::stream<Next> stream_;
  std::shared_ptr<Connection> connection_;
  bool sending_ = false;
  os::Event sent_;
};

template <class Next>
Task<std::unique_ptr<WebSocket>> accept_on(Next next, Connection& connection, const Request& request,
                                           WebSocketOptions options) {
  auto socket = std::make_unique<BeastWebSocket<Next>>(std::move(next), connection.shared_from_this());
  CO_CHECK(co_await socket->accept(request, std::move(options)));
  std::unique_ptr<WebSocket> made = std::move(socket);
  co_return made;
}

}  // namespace

Task<std::unique_ptr<WebSocket>> accept_websocket_on(Connection& connection, const Request& request,
                                                     WebSocketOptions options) {
  std::unique_ptr<Transport> transport = std::move(connection.transport);
  connection.transport = make_transport(Socket(connection.shared->executor));
  if (std::unique_ptr<TlsStream> tls = transport->release_tls()) {
    co_return co_await accept_on(std::move(*tls), connection, request, std::move(options));
  }
  co_return co_await accept_on(std::move(transport->socket()), connection, request, std::move(options));
}

}  // namespace atl::net
