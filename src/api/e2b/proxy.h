#pragma once

#include <memory>

#include "api/e2b/context.h"
#include "net/client.h"
#include "net/router.h"

struct ssl_ctx_st;

namespace atl::api::e2b {

// Any other port of a sandbox: HTTP and WebSocket are passed through, both ways, as they flow.
class Proxy {
 public:
  explicit Proxy(Context& context);
  void mount(net::Router& router);

 private:
  Task<void> pass(net::Exchange& exchange);
  // TLS to a server that its owner says speaks it; its certificate proves nothing and need not.
  Task<std::unique_ptr<sandbox::ByteStream>> secure(std::unique_ptr<sandbox::ByteStream> stream);
  net::Response refusal(const Error& error, const net::Request& request, const Target& target) const;
  Task<void> forward(net::Exchange& exchange, const Target& target, net::ClientCall& call);

  Context& context_;
  std::unique_ptr<ssl_ctx_st, void (*)(ssl_ctx_st*)> tls_;
};

}  // namespace atl::api::e2b
