#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/error_code.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"

// The bytes below HTTP: a TCP or Unix socket, bare or under TLS. Internal to the room.
namespace atl::net {

using Socket = boost::asio::generic::stream_protocol::socket;
using TlsStream = boost::asio::ssl::stream<Socket>;
using boost::system::error_code;

// One connection, owned by whoever made it; belongs to the loop thread. At most one read and one write are
// under way at a time, and both must have ended before it is destroyed: close() makes them end.
class Transport {
 public:
  using Read = std::pair<error_code, std::size_t>;

  virtual ~Transport() = default;
  // At least one byte, or an error; the end of the stream is boost::asio::error::eof.
  virtual boost::asio::awaitable<Read> read_some(boost::asio::mutable_buffer into) = 0;
  // The same for those who do not wait: `done` is called once, from the loop, also after close().
  virtual void read_some(boost::asio::mutable_buffer into,
                         std::function<void(error_code, std::size_t)> done) = 0;
  // All of it, or an error.
  virtual boost::asio::awaitable<error_code> write(std::span<const boost::asio::const_buffer> buffers) = 0;
  // Once, before anything else; nothing to do on a bare socket.
  virtual boost::asio::awaitable<error_code> handshake() { co_return error_code(); }
  // Tells the other side that nothing more comes.
  virtual boost::asio::awaitable<void> shut_down_write() = 0;
  // Sends what the kernel takes at once, for a final message before closing. Sends nothing under TLS.
  virtual void try_send(std::string_view) {}
  // For a connection whose other side has ended its half: called once, on the loop, when it is found to have
  // left altogether. A bare socket needs bytes sent to find out. Never called after close().
  virtual void on_departure(std::function<void()> left) = 0;
  virtual Socket& socket() = 0;
  // Gives the TLS stream away, after which this may only be destroyed; null on a bare socket.
  virtual std::unique_ptr<TlsStream> release_tls() { return nullptr; }
  virtual bool secure() const { return false; }
  // The common name of the other side's certificate, once the handshake verified it; empty: none.
  virtual std::string subject() const { return {}; }

  bool is_open() { return socket().is_open(); }
  // Pending operations end with an error.
  void close();
  // Closes with a reset, so that nobody can take it for an ordinary end.
  void reset();
};

std::unique_ptr<Transport> make_transport(Socket socket);
// `client_host` empty: the server's side. Else the client's, with that name sent and verified by the
// context's rules.
std::unique_ptr<Transport> make_tls_transport(Socket socket, boost::asio::ssl::context& context,
                                              const std::string& client_host = {});

// TCP_NODELAY where it exists.
void set_no_delay(Socket& socket);
// Code::canceled for an operation that was cut short here, else what errno or the TLS library says.
Error transport_error(const error_code& error, std::string_view doing);

}  // namespace atl::net
