#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

// The Connect protocol as E2B's clients use it: JSON, unary calls and server streams.
namespace atl::api::e2b::connect {

// 1 flag byte, 4 bytes big-endian length, JSON.
std::string envelope(std::string_view json);
// The last envelope of a stream (flag 2): `{}`, or the error.
std::string end_of_stream();
std::string end_of_stream(const Error& error);

// The one message of a server stream's request. Code::invalid_argument for a compressed, cut or second
// envelope.
Result<std::string_view> open_envelope(std::string_view body);

// The messages of a client's stream, as they come in pieces.
class EnvelopeReader {
 public:
  explicit EnvelopeReader(std::size_t message_max) : message_max_(message_max) {}
  void add(std::string_view bytes) { pending_ += bytes; }
  // Nothing: more bytes are needed. Code::invalid_argument for a compressed envelope, Code::too_large.
  Result<std::optional<std::string>> next();
  // True between two messages: a stream may end only there.
  bool is_between() const { return pending_.empty(); }

 private:
  std::size_t message_max_;
  std::string pending_;
};

// The HTTP status of a Connect code; 500 for a word that is none.
int http_status(std::string_view connect_code);
// {"code":"not_found","message":"..."} with its status.
net::Response error_response(const Error& error);
net::Response error_response(const Error& error, std::string_view code);

}  // namespace atl::api::e2b::connect
