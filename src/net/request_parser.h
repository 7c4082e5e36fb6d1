#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <optional>
#include <string>

#include "net/http.h"

namespace atl::net {

// The head straight into our own types, the body piece by piece. Internal to the room.
// For one request. Refers to the request, which must outlive it. Beast checks the grammar of HTTP; what is
// beyond that (head_rules.h) is checked when the head is complete.
class RequestParser final : public boost::beast::http::basic_parser<true> {
 public:
  // A head beyond header_bytes_max is an error of the parser. The body has no limit here.
  RequestParser(Request& request, std::size_t header_bytes_max) : request_(request) {
    header_limit(static_cast<std::uint32_t>(header_bytes_max));
    body_limit(boost::none);  // ours: it depends on the route
  }

  // Body bytes parsed since the last take.
  std::string& piece() { return piece_; }
  // 11 for HTTP/1.1, 10 for HTTP/1.0. Valid when the head is complete.
  int version() const { return version_; }
  // What the head announces, known before any byte of the body. Nothing of a chunked body.
  std::optional<std::uint64_t> length() const {
    const auto announced = content_length();
    return announced ? std::optional(*announced) : std::nullopt;
  }

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, string_view method, string_view target, int version,
                       error_code&) override {
    request_.method_word.assign(method.data(), method.size());
    request_.method = net::parse_method(request_.method_word);
    request_.target.assign(target.data(), target.size());
    version_ = version;
  }
  void on_response_impl(int, string_view, int, error_code&) override {}
  void on_field_impl(boost::beast::http::field, string_view name, string_view value, error_code&) override {
    if (head_done_) return;  // trailers are dropped: nothing may arrive after routing
    request_.headers.add(std::string(name), std::string(value));
  }
  void on_header_impl(error_code&) override { head_done_ = true; }
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code&) override {
    piece_.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code&) override {
    piece_.append(body.data(), body.size());
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  Request& request_;
  std::string piece_;
  int version_ = 11;
  bool head_done_ = false;
};

}  // namespace atl::net
