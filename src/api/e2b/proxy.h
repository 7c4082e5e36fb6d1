#pragma once

#include "api/e2b/context.h"
#include "net/client.h"
#include "net/router.h"

namespace atl::api::e2b {

// Any other port of a sandbox: HTTP and WebSocket are passed through, both ways, as they flow.
class Proxy {
 public:
  explicit Proxy(Context& context) : context_(context) {}
  void mount(net::Router& router);

 private:
  Task<void> pass(net::Exchange& exchange);
  Task<void> forward(net::Exchange& exchange, const Target& target, net::ClientCall& call);

  Context& context_;
};

}  // namespace atl::api::e2b
