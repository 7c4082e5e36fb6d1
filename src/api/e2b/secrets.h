#pragma once

#include "api/e2b/context.h"
#include "net/router.h"

namespace atl::api::e2b {

// Secrets of the control plane. Values go in and never come out.
class Secrets {
 public:
  explicit Secrets(Context& context) : context_(context) {}
  void mount(net::Router& router);

 private:
  using Handler = Task<net::Response> (Secrets::*)(net::Request& request, auth::Principal who);
  void add(net::Router& router, net::Method method, std::string_view path, Rule rule, Handler handler);

  Task<net::Response> create(net::Request& request, auth::Principal who);
  Task<net::Response> list(net::Request& request, auth::Principal who);
  Task<net::Response> get(net::Request& request, auth::Principal who);
  Task<net::Response> update(net::Request& request, auth::Principal who);
  Task<net::Response> remove(net::Request& request, auth::Principal who);

  Context& context_;
};

}  // namespace atl::api::e2b
