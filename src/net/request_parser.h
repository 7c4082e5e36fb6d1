#pragma once

#include <optional>

#include "net/piece_parser.h"

namespace atl::net {

// For one request. Refers to the request, which must outlive it. Beast checks the grammar of HTTP; what is
// beyond that (head_rules.h) is checked when the head is complete. Internal to the room.
class RequestParser final : public PieceParser<true> {
 public:
  // A head beyond header_bytes_max is an error of the parser. The body has no limit here.
  RequestParser(Request& request, std::size_t header_bytes_max)
      : PieceParser(request.headers, header_bytes_max), request_(request) {}

  // 11 for HTTP/1.1, 10 for HTTP/1.0. Valid when the head is complete.
  int version() const { return version_; }
  // What the head announces, known before any byte of the body. Nothing of a chunked body.
  std::optional<std::uint64_t> length() const {
    const auto announced = content_length();
    return announced ? std::optional(*announced) : std::nullopt;
  }

 private:
  void on_request_impl(boost::beast::http::verb, string_view method, string_view target, int version,
                       error_code&) override {
    request_.method_word.assign(method.data(), method.size());
    request_.method = net::parse_method(request_.method_word);
    request_.target.assign(target.data(), target.size());
    version_ = version;
  }

  Request& request_;
  int version_ = 11;
};

}  // namespace atl::net
