#pragma once

#include "api/e2b/context.h"
#include "net/router.h"

namespace atl::api::e2b {

// API keys of a tenant, and access tokens, which are keys with a list of their own. A caller that may make
// keys can make others like its own, never with more rights; a new key is shown once and kept hashed. E2B's
// own administration of machines, /nodes and /admin, is refused. Belongs to the loop thread and must outlive
// the router that it is mounted on.
class Credentials {
 public:
  explicit Credentials(Context& context) : context_(context) {}
  void mount(net::Router& router);

 private:
  using Handler = Task<net::Response> (Credentials::*)(net::Request& request, auth::Principal who);
  void add(net::Router& router, net::Method method, std::string_view path, Rule rule, Handler handler);

  Task<net::Response> list_keys(net::Request& request, auth::Principal who);
  Task<net::Response> create_key(net::Request& request, auth::Principal who);
  Task<net::Response> rename_key(net::Request& request, auth::Principal who);
  Task<net::Response> remove_key(net::Request& request, auth::Principal who);
  Task<net::Response> create_token(net::Request& request, auth::Principal who);
  Task<net::Response> remove_token(net::Request& request, auth::Principal who);
  Task<net::Response> refuse(net::Request& request, auth::Principal who);

  Task<auth::Keys::Created> make(const net::Request& request, auth::Principal who, std::string kind);
  // One of the tenant's that is in force. Code::not_found otherwise.
  Task<store::KeyRow> find(auth::Principal who, std::string id, std::string kind);

  Context& context_;
};

}  // namespace atl::api::e2b
