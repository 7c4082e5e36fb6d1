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

// One client's connection and what all connections of a server share. Internal to the room; everything
// belongs to the loop thread.
//
// Owners: the Server and every Connection share a Server::Shared; a Connection is kept alive by its own
// coroutine run(), and ends when that returns. An Exchange refers to the Connection whose run() called its
// handler. Errors of the network end a connection and are not reported to anyone but the handler, whose calls
// then fail with Code::canceled.
namespace atl::net {

class Connection;
using Steady = std::chrono::steady_clock;

// Lives as long as the server or any of its connections, whichever is longer.
struct Server::Shared {
  // A router for the requests that its function accepts.
  struct Site {
    std::function<bool(const Request&)> accepts;
    Router router;
    Answers answers = Answers::own;
  };

  Shared(boost::asio::any_io_executor executor, ServerOptions options);

  // The first site that accepts the request; null: the server's own router serves it.
  Site* site_for(const Request& request);
  // Unique for the life of the process and, by its random beginning, between processes.
  std::string next_request_id();
  // The value of the Date header, made at most once a second.
  const std::string& date();
  // A copy that keeps them alive: closing one connection may end others.
  std::vector<std::shared_ptr<Connection>> held_connections();
  // Closes idle connections to get descriptors back, the longest idle first, and those that never brought an
  // admitted request before the others. False if no connection was idle.
  bool shed_idle();
  // One connection more has a request of this holder's under way, until what is given back is destroyed.
  std::shared_ptr<void> hold(const std::string& holder);
  // Whether nearly all connections are taken, more than half of them by this holder's requests: who waits for
  // answers, or follows something, is never idle, and must leave the rest to others.
  bool is_crowded_by(const std::string& holder) const;
  // Ends requests whose bodies hold memory and whose clients send nothing more of them.
  void cut_stalled_bodies();

  boost::asio::any_io_executor executor;
  ServerOptions options;
  BodyBudget bodies;
  Router router;
  std::vector<std::unique_ptr<Site>> sites;
  AccessSink access;
  SubjectOf subject_of;
  std::string degraded;                        // Server::set_degraded()
  std::set<Connection*> connections;           // each removes itself when it is destroyed
  std::map<std::string, std::size_t> holders;  // of requests under way, by whom SubjectOf names
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

// What a connection waits for: the next request, the rest of a head, the rest of a body, or the handler's
// answer. Each has its own deadline in ServerOptions.
enum class Phase : std::uint8_t { idle, head, body, answer };

// A client that has sent the end of its stream may still wait for the answer, or may be gone; only sending
// tells. A probe is a byte of the answer that can be sent before the handler has answered, because every
// answer that may follow begins with it.
enum class Probe : std::uint8_t {
  none,
  status_line,  // "HTTP/1.1 ", with which every answer begins
  chunk_size,   // a leading zero of the next chunk's size
};

// Reads requests one after the other, finds the router, runs the handler and writes the answer. Never two
// requests at once.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Server::Shared> shared, std::unique_ptr<Transport> transport, std::string peer);
  ~Connection();

  // Serves the client until it leaves or the connection is closed. Called once.
  boost::asio::awaitable<void> run();
  // Called every second or so; ends the connection if its deadline has passed.
  void check_deadline(Steady::time_point now);
  // Ends it as if its deadline had passed.
  void time_out();
  // Closes at once if it is idle, otherwise after the request under way.
  void close_when_done();
  // Closes at once. Reads and writes under way fail.
  void abort();
  // As abort(), with a TCP reset, so that the client cannot take a cut answer for a complete one.
  void reset();

  // For the exchange.
  // Reads more bytes into the buffer; false if the client left or the time is over.
  boost::asio::awaitable<bool> fill();
  // Returns when the kernel has taken all of it, or with an error: the client left, did not read for
  // write_stall_time, or the connection was closed. The buffers stay the caller's and must outlive the call.
  // One write at a time.
  boost::asio::awaitable<error_code> write(std::span<const boost::asio::const_buffer> buffers);
  // Reads in the background from now on, to notice when the client leaves: `gone` is then set and `on_gone`
  // called.
  void watch();

  // What was read and not yet consumed. Valid until the next fill().
  std::string_view buffered() const { return std::string_view(buffer_).substr(begin_, end_ - begin_); }
  void consume(std::size_t bytes) { begin_ += bytes; }
  // How many bytes of the status line a probe has sent already; the head that is written next leaves them
  // out.
  std::size_t take_early_bytes() { return std::exchange(early_bytes_, 0); }
  Phase phase() const { return phase_; }
  // When it began to wait for the client.
  Steady::time_point waits_since() const { return waits_since_; }

  std::shared_ptr<Server::Shared> shared;
  std::unique_ptr<Transport> transport;
  std::string peer;
  bool gone = false;                  // the client left, or we closed
  bool input_ended = false;           // the client sends nothing more, but may wait for the answer
  bool admitted = false;              // at least one of its requests was admitted
  std::shared_ptr<const void> grant;  // of the request under way
  std::shared_ptr<void> share;        // its holder's; null: nobody is known
  bool timed_out = false;
  bool closing = false;   // no further request on this connection
  bool upgraded = false;  // somebody else has the transport now and ends it
  Probe probe = Probe::none;
  std::uint64_t gathered_bytes = 0;  // of a body that is being gathered
  std::uint64_t bytes_in = 0, bytes_out = 0;
  std::function<void()> on_gone;
  std::function<void()> abort_upgraded;  // set when someone else took the transport

 private:
  // One request from its first byte to the end of its answer; false if the connection must end then.
  boost::asio::awaitable<bool> serve_one();
  // False if there is no head that can be served; a refusal has been sent where one could be.
  boost::asio::awaitable<bool> read_head(RequestParser& parser, Request& request);
  // For requests that reach no router: answers in plain form and closes.
  boost::asio::awaitable<void> refuse(int status, std::string_view message);
  // Reads and drops what the client still sends, for a moment, so that the answer is not lost by a reset.
  boost::asio::awaitable<void> linger();
  // Room for the next read, at the end of the buffer or by moving what is left to its front.
  void prepare_space();
  // Gives back memory that a large request needed.
  void shrink();
  void end_input(error_code error);
  void watch_departure();
  void depart();
  void send_probe(Steady::time_point now);
  // The phase from now on, and when check_deadline() ends it.
  void set_deadline(Phase phase, std::chrono::milliseconds from_now);

  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t counted_in_ = 0;  // of bytes_in: what requests that were answered took
  bool reading_ = false;          // a read is pending in the background (watch)
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
