#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "net/request_parser.h"
#include "net/server.h"
#include "net/transport.h"

// One client's connection and what all connections of a server share. Internal to the room.
namespace atl::net {

class Connection;
using Steady = std::chrono::steady_clock;

struct Server::Shared {
  struct Site {
    std::function<bool(const Request&)> accepts;
    Router router;
  };

  Shared(boost::asio::any_io_executor executor, ServerOptions options);

  Router& router_for(const Request& request);
  std::string next_request_id();
  const std::string& date();

  boost::asio::any_io_executor executor;
  ServerOptions options;
  Router router;
  std::vector<std::unique_ptr<Site>> sites;
  AccessSink access;
  std::set<Connection*> connections;  // each removes itself when it is destroyed
  std::vector<std::function<void()>> close_listeners;
  bool stopping = false;
  boost::asio::steady_timer sweep;

 private:
  std::string id_prefix_;
  std::uint64_t id_count_ = 0;
  std::time_t date_second_ = 0;
  std::string date_;
};

// Why the sweeper ended a connection.
enum class Phase : std::uint8_t { idle, head, body, answer };

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Server::Shared> shared, std::unique_ptr<Transport> transport, std::string peer);
  ~Connection();

  boost::asio::awaitable<void> run();
  // Called now and then; ends the connection if its time is over.
  void check_deadline(Steady::time_point now);
  // Idle: closes now. Else after the running request.
  void close_when_done();
  void abort();

  // For the exchange.
  boost::asio::awaitable<bool> fill();
  boost::asio::awaitable<error_code> write(std::span<const boost::asio::const_buffer> buffers);
  void watch();

  std::string_view buffered() const { return std::string_view(buffer_).substr(begin_, end_ - begin_); }
  void consume(std::size_t bytes) { begin_ += bytes; }

  std::shared_ptr<Server::Shared> shared;
  std::unique_ptr<Transport> transport;
  std::string peer;
  bool gone = false;  // the other side closed, or we did
  bool timed_out = false;
  bool closing = false;  // no further request on this connection
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::function<void()> on_gone;
  std::function<void()> abort_upgraded;  // set when someone else took the transport

 private:
  boost::asio::awaitable<bool> serve_one();
  boost::asio::awaitable<bool> read_head(RequestParser& parser, Request& request);
  boost::asio::awaitable<void> refuse(int status, std::string_view message);
  boost::asio::awaitable<void> linger();
  void prepare_space();
  void set_deadline(Phase phase, std::chrono::milliseconds from_now);

  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool reading_ = false;  // a read is pending in the background (watch)
  boost::asio::steady_timer read_done_;
  Phase phase_ = Phase::idle;
  Steady::time_point deadline_ = Steady::time_point::max();
  Steady::time_point write_deadline_ = Steady::time_point::max();
};

}  // namespace atl::net
