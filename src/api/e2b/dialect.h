#pragma once

#include <memory>

#include "api/e2b/context.h"
#include "net/server.h"

namespace atl::api::e2b {

// The wire of E2B's clients over the session door: control plane, sandbox plane, code interpreter, port
// proxy.
class Dialect {
 public:
  explicit Dialect(Context context);
  ~Dialect();
  // Adds its sites to the server; the dialect must outlive the server's connections.
  void mount(net::Server& server);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace atl::api::e2b
