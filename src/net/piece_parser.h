#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <string>

#include "net/http.h"

namespace atl::net {

// What the parsers of requests and of answers share: header fields go straight into our own type, the body
// comes piece by piece. Internal to the room. Refers to the headers, which must outlive it.
template <bool is_request>
class PieceParser : public boost::beast::http::basic_parser<is_request> {
 public:
  // Body bytes parsed since the last take.
  std::string& piece() { return piece_; }

 protected:
  using error_code = boost::beast::error_code;
  using string_view = boost::beast::string_view;

  PieceParser(Headers& headers, std::size_t header_bytes_max) : headers_(headers) {
    this->header_limit(static_cast<std::uint32_t>(header_bytes_max));
    this->body_limit(boost::none);  // ours: it depends on the route, or on who asked
  }

  void on_request_impl(boost::beast::http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int, string_view, int, error_code&) override {}

 private:
  void on_field_impl(boost::beast::http::field, string_view name, string_view value, error_code&) override {
    if (head_done_) return;  // trailers are dropped: nothing may arrive after routing
    headers_.add(std::string(name), std::string(value));
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

  Headers& headers_;
  std::string piece_;
  bool head_done_ = false;
};

}  // namespace atl::net
