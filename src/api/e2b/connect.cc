#include "api/e2b/connect.h"

#include <fmt/format.h>

#include "base/json.h"
#include "net/error_header.h"

namespace atl::api::e2b::connect {
namespace {

constexpr char kMessage = 0;
constexpr char kEndStream = 2;
constexpr std::size_t kHead = 5;

// The length that a message's head tells.
Result<std::uint32_t> size_in(std::string_view head) {
  if (head[0] != kMessage)
    return fail(Code::invalid_argument, "compressed or unknown envelopes are not accepted");
  std::uint32_t size = 0;
  for (std::size_t i = 1; i < kHead; ++i) size = size << 8 | static_cast<unsigned char>(head[i]);
  return size;
}

std::string framed(char flags, std::string_view json) {
  auto size = static_cast<std::uint32_t>(json.size());
  std::string out;
  out.reserve(5 + json.size());
  out += flags;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xff);
  out += json;
  return out;
}

std::string error_object(const Error& error, std::string_view code) {
  std::string out = R"({"code":)";
  json::append_quoted(out, code);
  out += R"(,"message":)";
  json::append_quoted(out, error.message());
  out += '}';
  return out;
}

}  // namespace

std::string envelope(std::string_view json) {
  return framed(kMessage, json);
}

std::string end_of_stream() {
  return framed(kEndStream, "{}");
}

std::string end_of_stream(const Error& error) {
  return framed(kEndStream,
                R"({"error":)" + error_object(error, row(error.code()).connect_code) + R"(,"metadata":{}})");
}

Result<std::string_view> open_envelope(std::string_view body) {
  if (body.size() < kHead) return fail(Code::invalid_argument, "the request is not one whole envelope");
  const std::uint32_t size = TRY(size_in(body));
  std::string_view message = body.substr(5);
  if (message.size() != size) return fail(Code::invalid_argument, "the request is not one whole envelope");
  return message;
}

Result<std::optional<std::string>> EnvelopeReader::next() {
  if (pending_.size() < kHead) return std::optional<std::string>();
  const std::uint32_t size = TRY(size_in(pending_));
  if (size > message_max_)
    return fail(Code::too_large,
                fmt::format("a message of {} bytes, at most {} are accepted", size, message_max_));
  if (pending_.size() < kHead + size) return std::optional<std::string>();
  std::string message = pending_.substr(kHead, size);
  pending_.erase(0, kHead + size);
  return std::optional<std::string>(std::move(message));
}

int http_status(std::string_view code) {
  static constexpr std::pair<std::string_view, int> kStatuses[] = {{"canceled", 499},
                                                                   {"unknown", 500},
                                                                   {"invalid_argument", 400},
                                                                   {"deadline_exceeded", 504},
                                                                   {"not_found", 404},
                                                                   {"already_exists", 409},
                                                                   {"permission_denied", 403},
                                                                   {"resource_exhausted", 429},
                                                                   {"failed_precondition", 400},
                                                                   {"aborted", 409},
                                                                   {"out_of_range", 400},
                                                                   {"unimplemented", 501},
                                                                   {"internal", 500},
                                                                   {"unavailable", 503},
                                                                   {"data_loss", 500},
                                                                   {"unauthenticated", 401}};
  for (auto [name, status] : kStatuses) {
    if (name == code) return status;
  }
  return 500;
}

net::Response error_response(const Error& error) {
  return error_response(error, row(error.code()).connect_code);
}

net::Response error_response(const Error& error, std::string_view code) {
  net::Response response = net::Response::json(http_status(code), error_object(error, code));
  net::name_error(response, error.code());
  return response;
}

}  // namespace atl::api::e2b::connect
