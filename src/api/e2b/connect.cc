#include "api/e2b/connect.h"

#include "base/json.h"

namespace atl::api::e2b::connect {
namespace {

constexpr char kMessage = 0;
constexpr char kEndStream = 2;

std::string framed(char flags, std::string_view json) {
  auto size = static_cast<std::uint32_t>(json.size());
  std::string out;
  out.reserve(5 + json.size());
  out += flags;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xff);
  out += json;
  return out;
}

std::string error_object(const Error& error) {
  std::string out = R"({"code":)";
  json::append_quoted(out, row(error.code()).connect_code);
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
  return framed(kEndStream, R"({"error":)" + error_object(error) + R"(,"metadata":{}})");
}

Result<std::string_view> open_envelope(std::string_view body) {
  if (body.size() < 5) return fail(Code::invalid_argument, "the request is not one whole envelope");
  if (body[0] != kMessage)
    return fail(Code::invalid_argument, "compressed or unknown envelopes are not accepted");
  std::uint32_t size = 0;
  for (int i = 1; i < 5; ++i)
    size = size << 8 | static_cast<unsigned char>(body[static_cast<std::size_t>(i)]);
  std::string_view message = body.substr(5);
  if (message.size() != size) return fail(Code::invalid_argument, "the request is not one whole envelope");
  return message;
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
  return net::Response::json(http_status(row(error.code()).connect_code), error_object(error));
}

}  // namespace atl::api::e2b::connect
