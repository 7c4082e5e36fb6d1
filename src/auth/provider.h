#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/keys.h"
#include "auth/principal.h"
#include "os/task.h"

namespace atl::auth {

// What a request shows of its caller, before its body is read. Everything in it is untrusted but `peer` and
// `tls_subject`.
struct Presented {
  std::string credential;   // X-API-Key, else the bearer token; empty: none
  std::string address;      // of the client; behind a trusted proxy the one that the proxy names
  std::string peer;         // of the connection itself; "unix" for a local socket
  std::string tls_subject;  // of a client certificate that our authority verified; empty: none
  std::function<std::string(std::string_view name)> header = {};  // empty text: absent
};

// A way to find out who asks. Asked in the order of the configuration until one knows. Belongs to the loop
// thread.
class IdentityProvider {
 public:
  virtual ~IdentityProvider() = default;
  // For messages and logs: "keys", "oidc".
  virtual std::string_view name() const = 0;
  // The principal with its tenant, role and permissions. Nothing: what is shown is none of this provider's,
  // the next one is asked. An Error: it is this provider's and not good, nobody else is asked;
  // Code::unauthenticated for a bad credential, Code::unavailable if it could not be found out.
  virtual Task<std::optional<Principal>> identify(const Presented& shown) = 0;
};
using IdentityProviders = std::vector<std::unique_ptr<IdentityProvider>>;

// Our own keys: everything that has their form.
class KeyProvider final : public IdentityProvider {
 public:
  explicit KeyProvider(const Keys& keys) : keys_(keys) {}
  std::string_view name() const override { return "keys"; }
  Task<std::optional<Principal>> identify(const Presented& shown) override;

 private:
  const Keys& keys_;
};

}  // namespace atl::auth
