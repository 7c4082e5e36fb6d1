#pragma once

#include <cstdint>

#include "auth/permission.h"

namespace atl::api {

using auth::Permission;

// What a request must show before anything of its body is read.
enum class Credential : std::uint8_t {
  none,     // nothing: health and version of the service itself
  key,      // an API key or access token in force: X-API-Key, or Authorization: Bearer
  sandbox,  // nothing, but the sandbox must be there, and its port's traffic token where ports are closed
  secret,  // the session's secret (X-Access-Token), or a key of its tenant; nothing where the session is open
  file,    // the same, or a signature made with the secret
  context,  // the same as secret, or the session's traffic token: what E2B's clients send with these calls
  port,     // the session's traffic token or a key of its tenant where ports are closed, else nothing
  volume,   // the volume's own token
  upload,   // a one-time token in the path
};

// Calls that end or release something are never limited: whoever is throttled must be able to stop.
enum class Rate : std::uint8_t { counted, never };

// Whose things a call is about.
enum class Reach : std::uint8_t {
  session,   // of sessions, which the session service looks up, or of nobody's in particular
  tenant,    // of a whole tenant: not for keys that are bound to some sessions or to one environment
  contents,  // the same, and what a tenant has put there: not for those who look in from another tenant
};

// Who may call a route, what for, and whether it counts. A route without one does not compile, and one whose
// permission is unset does not start.
struct Rule {
  Credential credential;
  Permission permission = Permission::unset;
  Rate rate = Rate::counted;
  Reach reach = Reach::session;

  constexpr Rule ending() const { return {credential, permission, Rate::never, reach}; }
  constexpr Rule of_tenant() const { return {credential, permission, rate, Reach::tenant}; }
  constexpr Rule of_contents() const { return {credential, permission, rate, Reach::contents}; }
};

constexpr Rule for_anybody() {
  return {Credential::none, Permission::none};
}
constexpr Rule with_key(Permission permission) {
  return {Credential::key, permission};
}
// For everybody whom we know, whatever they may do.
constexpr Rule with_any_key() {
  return {Credential::key, Permission::none};
}
constexpr Rule with_secret(Permission permission) {
  return {Credential::secret, permission};
}

}  // namespace atl::api
