#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

// JSON-RPC 2.0 as MCP uses it: one message at a time, ids are texts or whole numbers.
namespace atl::api::mcp {

namespace bj = boost::json;

// Codes of the protocol. Those below -32000 are JSON-RPC's, the others MCP's.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;
inline constexpr int kRefused = -32000;  // no connection, no key, too many
inline constexpr int kUnknownConnection = -32001;
inline constexpr int kResourceNotFound = -32002;  // until 2025-11-25; then invalid parameters
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUnsupportedRevision = -32022;

inline constexpr std::size_t kUriMax = 4'096;  // of what is watched, which is kept

// Why a request gets an error instead of a result.
struct Fault {
  int code = kInternalError;
  std::string message;
  bj::value data = nullptr;  // null: none
  int status = 200;          // of HTTP, if nothing was sent before it
};

// How a method ends: a result, or why there is none.
using Reply = std::variant<bj::object, Fault>;

struct Message {
  enum class Kind : std::uint8_t { request, notification, response };
  Kind kind = Kind::request;
  bj::value id = nullptr;  // null of notifications
  std::string method;      // empty of responses
  bj::object params;
  bj::object body;  // of responses: the whole message
};

// Code::invalid_argument that says what is wrong; `id` is set as far as it could be read.
Result<Message> read_message(const bj::value& document, bj::value& id);

bj::object result_message(const bj::value& id, bj::object result);
bj::object fault_message(const bj::value& id, const Fault& fault);
bj::object notification(std::string_view method, bj::object params);

// What programs act on, as in every other dialect: code, category, retryable.
bj::object error_facts(Code code);
// An Error of ours outside of a tool's call, which has results of its own for that.
Fault fault_of(const Error& error);

// Members of objects whose types are not known. Null or empty if they are not there or of another type.
const bj::object* object_in(const bj::object& from, std::string_view name);
std::string text_in(const bj::object& from, std::string_view name, std::string otherwise = "");
double number_in(const bj::object& from, std::string_view name, double otherwise);
bool flag_in(const bj::object& from, std::string_view name);

}  // namespace atl::api::mcp
