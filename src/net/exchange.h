#pragma once

#include "net/connection.h"

namespace atl::net {

// An unread body up to this is read and dropped so that the connection can go on; a larger one ends it.
inline constexpr std::size_t kBodySteppedOver = 256U << 10;

// The Exchange of one request on a Connection. Internal to the room.
// Lives for the time of one handler and refers to its connection, request and parser, which outlive it.
// Belongs to the loop thread. The contract of the overridden members is Exchange's.
class ConnectionExchange final : public Exchange {
 public:
  ConnectionExchange(Connection& connection, Request& request, RequestParser& parser);
  ~ConnectionExchange() override;

  Request& request() override { return request_; }
  Task<std::string> read() override;
  Task<WholeBody> read_whole() override;
  Task<void> send(Response response) override;
  Task<void> start(int status, Headers headers, std::optional<std::uint64_t> length) override;
  Task<void> write(std::string bytes) override;
  Task<void> finish() override;
  void abort() override;
  bool started() const override { return state_ != State::fresh; }
  bool finished() const override { return state_ == State::finished || state_ == State::upgraded; }
  bool disconnected() override;
  void on_disconnect(std::function<void()> callback) override;
  Task<std::unique_ptr<ByteStream>> upgrade(int status, Headers headers) override;
  Task<std::unique_ptr<WebSocket>> accept_websocket(WebSocketOptions options) override;

  // For the connection.
  void set_body_limit(std::uint64_t bytes) { body_bytes_max_ = bytes; }
  // The client of this connection is known: it is shed after those that are not. Code::unavailable if it has
  // taken too many of the connections that all share; who ends something is let in all the same.
  Result<void> note_admitted();
  bool body_done() const { return parser_.is_done(); }
  bool upgraded() const { return state_ == State::upgraded; }
  bool aborted() const { return state_ == State::aborted; }
  int status() const { return status_; }

 private:
  // fresh: nothing was sent. chunked, sized, until_close: the head was, and this is how the body ends.
  enum class State : std::uint8_t { fresh, chunked, sized, until_close, finished, aborted, upgraded };

  // What is left of the request's body is little enough to be read and dropped.
  bool can_step_over_body() const;
  // Status line and headers as bytes, with those that the server adds itself.
  std::string head(int status, const Headers& headers, std::optional<std::uint64_t> length, bool chunked);
  void append_cors(std::string& out) const;
  Task<void> write_now(std::span<const boost::asio::const_buffer> buffers);
  // Answers to HEAD, and statuses that have no body.
  bool bodyless(int status) const;

  Connection& connection_;
  Request& request_;
  RequestParser& parser_;
  State state_ = State::fresh;
  int status_ = 0;
  std::uint64_t body_bytes_max_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint64_t length_left_ = 0;
  bool continue_wanted_ = false;
};

// websocket.cc
// Code::invalid_argument if the request is no handshake; nothing was sent then. On success the WebSocket owns
// the transport.
Task<std::unique_ptr<WebSocket>> accept_websocket_on(Connection& connection, const Request& request,
                                                     WebSocketOptions options);

}  // namespace atl::net
