#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "egress/proxy.h"

struct ssl_ctx_st;

namespace atl::egress {

// The machine's own resolver (getaddrinfo, off the loop) and TCP, with a time-out of ten seconds each.
// Upstream certificates are verified against the system's trust.
class Machine final : public Resolver, public Connector {
 public:
  explicit Machine(boost::asio::any_io_executor executor);
  ~Machine() override;

  Task<std::vector<Address>> resolve(std::string name) override;
  Task<std::unique_ptr<ByteStream>> connect(Address address, std::uint16_t port) override;
  Task<std::unique_ptr<ByteStream>> secure(std::unique_ptr<ByteStream> stream, std::string name) override;

 private:
  boost::asio::any_io_executor executor_;
  ssl_ctx_st* context_;
};

}  // namespace atl::egress
