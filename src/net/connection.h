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
  // Connections as they are now, held: acting on one may end others.
  std::vector<std::shared_ptr<Connection>> held_connections();
  // Closes those that wait for nothing but a client that may never come, the longest waiting first; ones that
  // never brought a request that was admitted before the others. False: there is none.
  bool shed_idle();
  // Ends requests whose bodies hold memory and stand still.
  void cut_stalled_bodies();

  boost::asio::any_io_executor executor;
  ServerOptions options;
  BodyBudget bodies;
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
  std::chrono::steady_clock::time_point stalled_looked_at_{};
};

// What a connection waits for. The sweeper gives each its time.
enum class Phase : std::uint8_t { idle, head, body, answer };

// What may be sent ahead of the handler to learn whether a client that ended its half still listens: a byte
// that the rest of the answer goes on from.
enum class Probe : std::uint8_t {
  none,
  status_line,  // "HTTP/1.1 ", with which every answer begins
  chunk_size,   // a leading zero of the next chunk's size
};

class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Server::Shared> shared, std::unique_ptr<Transport> transport, std::string peer);
  ~Connection();

  boost::asio::awaitable<void> run();
  // Called now and then; ends the connection if its time is over.
  void check_deadline(Steady::time_point now);
  // Ends it as one whose time is over.
  void time_out();
  // Idle: closes now. Else after the running request.
  void close_when_done();
  void abort();
  // As abort(), with a reset: an answer that is cut off must not look like one that ended.
  void reset();

  // For the exchange.
  boost::asio::awaitable<bool> fill();
  boost::asio::awaitable<error_code> write(std::span<const boost::asio::const_buffer> buffers);
  void watch();

  std::string_view buffered() const { return std::string_view(buffer_).substr(begin_, end_ - begin_); }
  void consume(std::size_t bytes) { begin_ += bytes; }
  // How much of the status line went out already; the head that is written now leaves it out.
  std::size_t take_early_bytes() { return std::exchange(early_bytes_, 0); }
  Phase phase() const { return phase_; }
  // Since when it waits for the client.
  Steady::time_point waits_since() const { return waits_since_; }

  std::shared_ptr<Server::Shared> shared;
  std::unique_ptr<Transport> transport;
  std::string peer;
  bool gone = false;         // the other side left, or we closed
  bool input_ended = false;  // the other side sends nothing more, but may wait for the answer
  bool admitted = false;     // brought at least one request that was let in
  bool timed_out = false;
  bool closing = false;   // no further request on this connection
  bool upgraded = false;  // someone else ends it
  Probe probe = Probe::none;
  std::uint64_t gathered_bytes = 0;  // of a body that is being gathered
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::function<void()> on_gone;
  std::function<void()> abort_upgraded;  // set when someone else took the transport

 private:
  boost::asio::awaitable<bool> serve_one();
  boost::asio::awaitable<bool> read_head(RequestParser& parser, Request& request);
  boost::asio::awaitable<void> refuse(int status, std::string_view message);
  boost::asio::awaitable<void> linger();
  void prepare_space();
  void shrink();
  void end_input(error_code error);
  void watch_departure();
  void depart();
  void send_probe(Steady::time_point now);
  void set_deadline(Phase phase, std::chrono::milliseconds from_now);

  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;
  bool reading_ = false;  // a read is pending in the background (watch)
  boost::asio::steady_timer read_done_;
  bool watching_departure_ = false;
  std::size_t early_bytes_ = 0;
  int probes_ = 0;
  Steady::time_point next_probe_ = Steady::time_point::max();
  Steady::time_point waits_since_;
  Phase phase_ = Phase::idle;
  Steady::time_point deadline_ = Steady::time_point::max();
  Steady::time_point write_deadline_ = Steady::time_point::max();
};

}  // namespace atl::net
