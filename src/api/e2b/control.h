#pragma once

#include "api/e2b/context.h"
#include "api/e2b/templates.h"
#include "net/router.h"

namespace atl::api::e2b {

// The control plane's sandboxes: both generations of create and connect, list, get, kill, timeout, refreshes,
// pause, resume, fork, network. Belongs to the loop thread and must outlive the router that it is mounted on.
class Control {
 public:
  Control(Context& context, Templates& templates) : context_(context), templates_(templates) {}
  void mount(net::Router& router);

 private:
  using Handler = Task<net::Response> (Control::*)(net::Request& request, auth::Principal who);
  void add(net::Router& router, net::Method method, std::string_view path, Rule rule, Handler handler);

  Task<net::Response> create(net::Request& request, auth::Principal who);
  Task<net::Response> connect(net::Request& request, auth::Principal who);
  Task<net::Response> resume(net::Request& request, auth::Principal who);
  Task<net::Response> list(net::Request& request, auth::Principal who);
  Task<net::Response> get(net::Request& request, auth::Principal who);
  Task<net::Response> kill(net::Request& request, auth::Principal who);
  Task<session::Session> running_session(const net::Request& request, auth::Principal who);
  Task<net::Response> set_timeout(net::Request& request, auth::Principal who);
  Task<net::Response> refresh(net::Request& request, auth::Principal who);
  Task<net::Response> pause(net::Request& request, auth::Principal who);
  Task<net::Response> fork(net::Request& request, auth::Principal who);
  Task<net::Response> update_network(net::Request& request, auth::Principal who);

  // Paused to running. `memory` false: only the files go on.
  Task<session::Session> wake(auth::Principal who, session::Session session, std::chrono::milliseconds ttl,
                              std::optional<bool> memory);
  Task<void> start_template(auth::Principal who, const session::Session& session,
                            const TemplateSettings& settings);
  Object sandbox_object(const session::Session& session) const;
  Object listed_object(const session::Session& session) const;

  Context& context_;
  Templates& templates_;
};

}  // namespace atl::api::e2b
