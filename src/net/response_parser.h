#pragma once

#include <boost/beast/http/basic_parser.hpp>

#include "net/client.h"

namespace atl::net {

// An answer's head into our own types, its body piece by piece. Internal to the room.
// For one answer. Refers to the response, which must outlive it. A head beyond 256 KiB is an error of the
// parser; trailers are dropped.
class ResponseParser final : public boost::beast::http::basic_parser<false> {
 public:
  explicit ResponseParser(ClientResponse& response) : response_(response) {
    header_limit(256U << 10);
    body_limit(boost::none);
  }
  // Body bytes parsed since the last take.
  std::string& piece() { return piece_; }

 private:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  void on_request_impl(boost::beast::http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int code, string_view, int, error_code&) override { response_.status = code; }
  void on_field_impl(boost::beast::http::field, string_view name, string_view value, error_code&) override {
    if (!head_done_) response_.headers.add(std::string(name), std::string(value));
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

  ClientResponse& response_;
  std::string piece_;
  bool head_done_ = false;
};

}  // namespace atl::net
