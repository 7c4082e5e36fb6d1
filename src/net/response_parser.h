#pragma once

#include "net/client.h"
#include "net/piece_parser.h"

namespace atl::net {

// For one answer. Refers to the response, which must outlive it. A head beyond 256 KiB is an error of the
// parser. Internal to the room.
class ResponseParser final : public PieceParser<false> {
 public:
  explicit ResponseParser(ClientResponse& response)
      : PieceParser(response.headers, 256U << 10), response_(response) {}

 private:
  void on_response_impl(int code, string_view, int, error_code&) override { response_.status = code; }

  ClientResponse& response_;
};

}  // namespace atl::net
