#include "api/mcp/message.h"

#include <fmt/format.h>

#include "base/error.h"

namespace atl::api::mcp {
namespace {

constexpr std::size_t kIdMax = 256;

bool is_id(const bj::value& value) {
  if (const auto* text = value.if_string()) return text->size() <= kIdMax;
  return value.is_int64() || value.is_uint64();
}

}  // namespace

Result<Message> read_message(const bj::value& document, bj::value& id) {
  const bj::object* object = document.if_object();
  if (object == nullptr)
    return fail(Code::invalid_argument, document.is_array()
                                            ? "batches are no part of this protocol: send one "
                                              "message at a time"
                                            : "a message is a JSON object");
  if (text_in(*object, "jsonrpc") != "2.0") return fail(Code::invalid_argument, "'jsonrpc' is \"2.0\"");
  Message message;
  if (const bj::value* given = object->if_contains("id")) {
    if (!is_id(*given))
      return fail(Code::invalid_argument, "'id' is a whole number or a text of at most 256 characters");
    id = message.id = *given;
  }
  const bj::value* method = object->if_contains("method");
  if (method == nullptr) {
    const bool is_response = object->contains("result") || object->contains("error");
    if (!is_response || message.id.is_null()) return fail(Code::invalid_argument, "'method' is missing");
    message.kind = Message::Kind::response;
    message.body = *object;
    return message;
  }
  if (!method->is_string()) return fail(Code::invalid_argument, "'method' is a text");
  message.method = method->get_string();
  message.kind = message.id.is_null() ? Message::Kind::notification : Message::Kind::request;
  if (const bj::value* params = object->if_contains("params")) {
    if (!params->is_object()) return fail(Code::invalid_argument, "'params' is an object");
    message.params = params->get_object();
  }
  return message;
}

bj::object result_message(const bj::value& id, bj::object result) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}};
}

bj::object fault_message(const bj::value& id, const Fault& fault) {
  bj::object error{{"code", fault.code}, {"message", fault.message}};
  if (!fault.data.is_null()) error["data"] = fault.data;
  bj::object message{{"jsonrpc", "2.0"}};
  // A message whose id could not be read is answered without one.
  if (!id.is_null()) message["id"] = id;
  message["error"] = std::move(error);
  return message;
}

bj::object notification(std::string_view method, bj::object params) {
  return {{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}};
}

bj::object error_facts(Code code) {
  const CodeRow& facts = row(code);
  return {{"code", facts.name}, {"category", to_string(facts.category)}, {"retryable", facts.retryable}};
}

Fault fault_of(const Error& error) {
  const CodeRow& facts = row(error.code());
  const bool is_ours = facts.category == Category::internal || facts.category == Category::provider;
  return {is_ours ? kInternalError : kInvalidParams, error.message(), error_facts(error.code()), 200};
}

const bj::object* object_in(const bj::object& from, std::string_view name) {
  const bj::value* value = from.if_contains(name);
  return value == nullptr ? nullptr : value->if_object();
}

std::string text_in(const bj::object& from, std::string_view name, std::string otherwise) {
  const bj::value* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : otherwise;
}

double number_in(const bj::object& from, std::string_view name, double otherwise) {
  const bj::value* value = from.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>() : otherwise;
}

bool flag_in(const bj::object& from, std::string_view name) {
  const bj::value* value = from.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

}  // namespace atl::api::mcp
