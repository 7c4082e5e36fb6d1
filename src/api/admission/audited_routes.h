#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/log.h"
#include "auth/permission.h"
#include "net/http.h"

namespace atl::api {

// Who writes the entry of a call that was let in.
enum class Writer : std::uint8_t {
  admission,  // we, because nothing behind the route does
  service,    // the audited session service; here only refusals are written
  nobody,     // it neither changes nor reveals anything of anybody's
};

// How calls of a route stand in the audit log.
struct AuditedRoute {
  net::Method method = net::Method::other;
  std::string_view pattern;  // as in the router
  std::string_view action;
  Writer writer = Writer::service;
  audit::Kind kind = audit::Kind::change;
  // What was touched: the name of a segment of the path, or with a leading dot a member of the JSON answer.
  std::string_view object = {};
};

// The row of a request: by its path, otherwise one that only names the permission, so that a refusal always
// has an action. Never fails: a route that nobody thought of is written by the admission unless its
// permission is one that the session service serves.
AuditedRoute audited_route(net::Method method, std::string_view path, auth::Permission permission);

// The object of a call: from the path, or from the answer's body once there is one.
std::string object_of(const AuditedRoute& route, std::string_view path, std::string_view body);

}  // namespace atl::api
