#include "sandbox/e2b/wire.h"

#include <fmt/format.h>

#include <charconv>

#include "base/bytes.h"
#include "base/json.h"

namespace atl::sandbox::e2b {
namespace {

constexpr std::size_t kHeadBytes = 5;
constexpr std::size_t kEnvelopeMax = 64U << 20;
constexpr std::size_t kMessageMax = 500;
constexpr unsigned kLastFlag = 0x02, kCompressedFlag = 0x01;

// Text of another service, for a message of ours.
std::string shortened(std::string text) {
  text = to_valid_utf8(text);
  if (text.size() <= kMessageMax) return text;
  text.resize(kMessageMax);
  return to_valid_utf8(text) + "...";
}

std::string message_in(std::string_view body) {
  auto parsed = json::parse(body);
  if (!parsed || !parsed->is_object()) return shortened(std::string(body.substr(0, kMessageMax)));
  return shortened(text_in(parsed->get_object(), "message"));
}

Error refused_key() {
  return Error(Code::provider_failed,
               "the remote service refused the key: check provider.e2b.api_key, or the secret that "
               "provider.e2b.api_key_secret names");
}

std::string_view code_of_status(int status) {
  switch (status) {
    case 400: return "invalid_argument";
    case 401: return "unauthenticated";
    case 403: return "permission_denied";
    case 404: return "not_found";
    case 409: return "already_exists";
    case 413:
    case 429: return "resource_exhausted";
    case 499: return "canceled";
    case 501: return "unimplemented";
    case 502:
    case 503: return "unavailable";
    case 504: return "deadline_exceeded";
    default: return "internal";
  }
}

}  // namespace

Result<Object> parse_answer(std::string_view body) {
  if (body.empty()) return Object();
  auto parsed = json::parse(body, {.max_bytes = kEnvelopeMax});
  if (!parsed || !parsed->is_object())
    return fail(Code::provider_failed, "the remote service answered with something that is no JSON object");
  return std::move(parsed->get_object());
}

std::string text_in(const Object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::int64_t integer_in(const Object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  if (found == nullptr) return 0;
  if (found->is_int64()) return found->get_int64();
  if (found->is_uint64()) return static_cast<std::int64_t>(found->get_uint64());
  if (found->is_double()) return static_cast<std::int64_t>(found->get_double());
  std::int64_t number = 0;
  if (found->is_string()) {
    const auto& digits = found->get_string();
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
  }
  return number;
}

double number_in(const Object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  if (found != nullptr && found->is_double()) return found->get_double();
  return static_cast<double>(integer_in(object, name));
}

bool flag_in(const Object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  return found != nullptr && found->is_bool() && found->get_bool();
}

const Object* object_in(const Object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

const boost::json::array* array_in(const Object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  return found != nullptr && found->is_array() ? &found->get_array() : nullptr;
}

std::string envelope(std::string_view json) {
  std::string framed(kHeadBytes, '\0');
  for (int i = 0; i < 4; ++i)
    framed[static_cast<std::size_t>(1 + i)] = static_cast<char>(json.size() >> (24 - 8 * i) & 0xff);
  framed += json;
  return framed;
}

Result<std::optional<Envelope>> EnvelopeReader::next() {
  if (pending_.size() < kHeadBytes) return std::optional<Envelope>();
  const auto flags = static_cast<unsigned char>(pending_[0]);
  std::size_t size = 0;
  for (std::size_t i = 1; i < kHeadBytes; ++i) size = size << 8 | static_cast<unsigned char>(pending_[i]);
  if ((flags & kCompressedFlag) != 0 || size > kEnvelopeMax)
    return fail(Code::provider_failed, "the remote service sent a message that cannot be read");
  if (pending_.size() < kHeadBytes + size) return std::optional<Envelope>();
  Envelope whole{(flags & kLastFlag) != 0, pending_.substr(kHeadBytes, size)};
  pending_.erase(0, kHeadBytes + size);
  return std::optional<Envelope>(std::move(whole));
}

Error control_error(int status, std::string_view body) {
  const std::string said = message_in(body);
  const auto as = [&](Code code) { return Error(code, fmt::format("the remote service: {}", said)); };
  switch (status) {
    case 400:
    case 422: return as(Code::invalid_argument);
    case 401:
    case 403: return refused_key();
    case 404: return as(Code::not_found);
    case 409: return as(Code::conflict);
    case 413: return as(Code::too_large);
    case 429: return as(Code::unavailable);
    case 501: return as(Code::unsupported);
    case 507: return as(Code::no_space);
    default: break;
  }
  if (status >= 500) return as(Code::unavailable);
  return Error(Code::provider_failed, fmt::format("the remote service answered with status {}", status));
}

Error rpc_error(std::string_view code, std::string message) {
  message = shortened(std::move(message));
  if (message.empty()) message = fmt::format("the remote sandbox answered '{}'", code);
  struct Meaning {
    std::string_view word;
    Code code;
  };
  static constexpr Meaning kMeanings[] = {{"invalid_argument", Code::invalid_argument},
                                          {"not_found", Code::not_found},
                                          {"already_exists", Code::already_exists},
                                          {"permission_denied", Code::permission_denied},
                                          {"resource_exhausted", Code::unavailable},
                                          {"failed_precondition", Code::conflict},
                                          {"aborted", Code::conflict},
                                          {"out_of_range", Code::invalid_argument},
                                          {"unimplemented", Code::unsupported},
                                          {"unavailable", Code::unavailable},
                                          {"deadline_exceeded", Code::deadline_exceeded},
                                          {"canceled", Code::canceled},
                                          {"data_loss", Code::data_loss}};
  // A user that the sandbox does not have is refused with the same word as a bad token.
  if (code == "unauthenticated") {
    const bool user = message.find("user") != std::string::npos;
    return Error(user ? Code::invalid_argument : Code::provider_failed, std::move(message));
  }
  for (const Meaning& meaning : kMeanings)
    if (meaning.word == code) return Error(meaning.code, std::move(message));
  return Error(Code::provider_failed, std::move(message));
}

Error rpc_error(int status, std::string_view body) {
  auto parsed = json::parse(body);
  if (parsed && parsed->is_object()) {
    const std::string word = text_in(parsed->get_object(), "code");
    if (!word.empty()) return rpc_error(word, text_in(parsed->get_object(), "message"));
  }
  if (status == 507) return Error(Code::no_space, message_in(body));
  return rpc_error(code_of_status(status), message_in(body));
}

}  // namespace atl::sandbox::e2b
