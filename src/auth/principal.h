#pragma once

#include <memory>
#include <set>
#include <string>

#include "auth/permission.h"
#include "base/trace.h"

namespace atl::auth {

// The tenant whose admins have rights over the machine and over the other tenants.
inline constexpr const char* kDefaultTenant = "default";

// What a credential is narrowed to beyond its permissions. Empty members narrow nothing.
struct Scopes {
  std::set<std::string, std::less<>> sessions;  // session or sandbox ids
  std::string environment;                      // sessions of this environment only
  bool operator==(const Scopes&) const = default;
  bool empty() const { return sessions.empty() && environment.empty(); }
};

// Who is asking. A tenant sees its own sessions and nothing else, not even that others exist. Made by the
// admission (or by the process itself) and handed on by value: a copy does not follow later changes of its
// key or role. One that was made from nothing may do nothing.
struct Principal {
  // "key_..."; "oidc:...", "mtls:..." or "proxy:..." of identities that no key of ours stands for; empty for
  // the process itself (atoll run, reconciliation).
  std::string key_id;
  std::string tenant;
  std::string role = {};  // its name; "session", "volume", "upload" for secrets that stand for a key
  PermissionSet permissions = {};
  std::shared_ptr<const Scopes> scopes = {};  // null: none
  std::string address = {};                   // of the client; "unix" for a local socket
  std::string request_id = {};
  // Whose key it is, if that is another tenant than the one it looks into (Permission::tenants_look).
  std::string looks_from = {};
  std::string name = {};      // of the key, or the subject of an identity; for logs
  trace::Context trace = {};  // the request's span, for spans of what is done for it

  bool may(Permission permission) const { return permissions.has(permission); }
  bool operator==(const Principal&) const = default;
};

}  // namespace atl::auth
