#pragma once

#include <memory>

#include "api/e2b/context.h"
#include "net/server.h"

namespace atl::api::e2b {

// The protocol of E2B's clients on top of the session service: control plane, sandbox plane, code
// interpreter, port proxy. Owns its planes; what Context refers to must outlive it. Belongs to the loop
// thread.
class Dialect {
 public:
  explicit Dialect(Context context);
  ~Dialect();
  // Adds its sites to the server; the dialect must outlive the server's connections.
  void mount(net::Server& server);
  // What a tenant that is being removed has here beside its rows in the store: uploads, and the names under
  // which others find its public templates.
  Task<void> forget_tenant(std::string tenant);

 private:
  struct Planes;
  std::unique_ptr<Planes> planes_;
};

}  // namespace atl::api::e2b
