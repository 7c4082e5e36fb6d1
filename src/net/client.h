#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/byte_stream.h"
#include "net/http.h"

namespace atl::net {

enum class Scheme : std::uint8_t { http, https, unix_socket };

// "http://host:port/base", "https://host/base" or "unix:/path/to.sock".
struct Url {
  Scheme scheme = Scheme::http;
  std::string host;  // or the socket's path
  std::uint16_t port = 80;
  std::string base;  // path prefix without a trailing slash

  static Result<Url> parse(std::string_view text);
  std::string authority() const;  // for the Host header
};

struct ClientOptions {
  std::chrono::milliseconds connect_time{10'000};
  std::chrono::milliseconds head_time{60'000};   // until the answer's head
  std::chrono::milliseconds stall_time{60'000};  // without a byte moving
  int tries = 3;                                 // of idempotent calls that met a passing failure
  std::chrono::milliseconds back_off{100};       // before the second try; doubles, with jitter
  std::uint64_t body_bytes_max = 64U << 20;      // of a collected answer
  std::size_t idle_connections_max = 8;
  std::string ca_file;  // PEM of authorities to trust instead of the system's
  // PEM of the certificate (and what leads to its authority) that we show to servers that ask, and its key;
  // both or none.
  std::string certificate_file = {}, key_file = {};
};

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // raw path and query, after the base
  Headers headers;
  std::string body;
};

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

// One call whose bodies flow: write the request's body, then read the answer piece by piece. Destroying it
// early closes the connection.
class ClientCall {
 public:
  virtual ~ClientCall() = default;
  // A piece of the request's body (chunked).
  virtual Task<void> write(std::string bytes) = 0;
  virtual Task<void> finish_request() = 0;
  // Status and headers, body empty. Interim answers (1xx but 101) are skipped.
  virtual Task<ClientResponse> head() = 0;
  // At most 64 KiB of the answer's body; empty: the end. Code::data_loss if the connection broke before it.
  virtual Task<std::string> read() = 0;
  // After a 101: the bare connection, with what came behind the head.
  virtual std::unique_ptr<ByteStream> release() = 0;
};

// whole: request.body at once. streamed: with write(), chunked. sized: with write(), as long as the caller's
// own Content-Length header says. none: nothing, not even a length.
enum class RequestBody : std::uint8_t { whole, streamed, sized, none };

// Speaks HTTP/1.1 over a stream that is connected already; one call.
std::unique_ptr<ClientCall> make_call(boost::asio::any_io_executor executor,
                                      std::unique_ptr<ByteStream> stream, const ClientOptions& options);
// Sends the head (and the whole body) of `request` on a call of make_call.
Task<void> send_head(ClientCall& call, const ClientRequest& request, std::string host, RequestBody body);

// Connects; TLS certificates are verified against the system's authorities or options.ca_file. A certificate
// of ours that cannot be read, or whose key is another's, is Code::invalid_argument.
Task<std::unique_ptr<ByteStream>> connect(boost::asio::any_io_executor executor, Url url,
                                          ClientOptions options);

// Calls one server. Belongs to the loop thread; calls may overlap.
class Client {
 public:
  Client(boost::asio::any_io_executor executor, Url url, ClientOptions options = {});
  ~Client();

  // The collected answer, whatever its status. Idempotent methods (GET, HEAD, PUT, DELETE, OPTIONS) are tried
  // again after connection failures and 502, 503, 504 (Retry-After is honoured up to ten seconds); the last
  // answer stands.
  Task<ClientResponse> send(ClientRequest request);
  // The same for those who need status and headers alone: never tried again after the server has said
  // anything, and the answer's body is empty. What there is of it is dropped if it is little, and not waited
  // for if it is much or slow.
  Task<ClientResponse> send_for_head(ClientRequest request);
  // A streaming call on a connection of its own; never tried again.
  Task<std::unique_ptr<ClientCall>> open(ClientRequest request, RequestBody body = RequestBody::whole);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace atl::net
