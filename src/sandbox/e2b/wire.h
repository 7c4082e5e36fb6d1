#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// E2B's forms of messages and errors, from the client's side. Everything here comes from another service and
// is not trusted: readings of absent or wrong members give the empty value, never an exception.
namespace atl::sandbox::e2b {

using Object = boost::json::object;

// JSON of an answer; Code::provider_failed if it is none, or no object.
Result<Object> parse_answer(std::string_view body);

std::string text_in(const Object& object, std::string_view name);
// Also written as text, as proto3 writes 64 bits.
std::int64_t integer_in(const Object& object, std::string_view name);
double number_in(const Object& object, std::string_view name);
bool flag_in(const Object& object, std::string_view name);
const Object* object_in(const Object& object, std::string_view name);
const boost::json::array* array_in(const Object& object, std::string_view name);

// Connect-RPC: one byte of flags, four of length, JSON.
std::string envelope(std::string_view json);

struct Envelope {
  bool is_last = false;  // the end of the stream, with an error in it or none
  std::string text;
};

// Cuts a stream of bytes into envelopes.
class EnvelopeReader {
 public:
  void add(std::string_view bytes) { pending_ += bytes; }
  // Nothing while no envelope is whole. Code::provider_failed for one that nobody would send.
  Result<std::optional<Envelope>> next();

 private:
  std::string pending_;
};

// What the other side's refusal means for our caller. A refused key is not the caller's: it is
// Code::provider_failed. What may pass is Code::unavailable.
Error control_error(int status, std::string_view body);
// The same for Connect-RPC: by its word, or by the status if the body has none.
Error rpc_error(int status, std::string_view body);
Error rpc_error(std::string_view code, std::string message);

}  // namespace atl::sandbox::e2b
