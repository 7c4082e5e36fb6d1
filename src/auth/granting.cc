#include "auth/granting.h"

#include <fmt/format.h>

#include <algorithm>

#include "auth/denial.h"

namespace atl::auth {
namespace {

Result<void> check_covered(const Principal& who, PermissionSet granted) {
  const PermissionSet beyond = granted - who.permissions;
  if (!beyond.empty()) return fail(missing_permission(beyond.first()));
  return {};
}

Result<void> check_networks(const std::vector<std::string>& own, std::vector<std::string>& wanted) {
  if (own.empty()) return {};
  if (wanted.empty()) {
    wanted = own;
    return {};
  }
  for (const std::string& text : wanted) {
    const egress::Cidr range = TRY(egress::Cidr::parse(text));
    const bool inside = std::ranges::any_of(own, [&](const std::string& one) {
      const auto mine = egress::Cidr::parse(one);
      return mine && mine->contains(range);
    });
    if (!inside)
      return fail(Error(Code::permission_denied, fmt::format("your own key may not be used from {}", text))
                      .with_field("networks"));
  }
  return {};
}

// What binds the key of `who` binds what it gives out: what is left open is filled in, what goes beyond is
// refused.
Result<void> bind_like_grantor(const Principal& who, const Keys& keys, std::vector<std::string>& networks,
                               std::optional<WallTime>& expires_at) {
  const auto own = keys.find(who.key_id);
  if (!own) return {};
  const Narrowing narrowing = TRY(Keys::narrowing_of(*own));
  TRY(check_networks(narrowing.networks, networks));
  if (!own->expires_at) return {};
  if (expires_at && *expires_at > *own->expires_at)
    return fail(Error(Code::permission_denied, "your own key ends earlier than that")
                    .with_field("expires_in_seconds"));
  if (!expires_at) expires_at = own->expires_at;
  return {};
}

}  // namespace

Result<void> check_reach(const Principal& who, const store::KeyRow& key) {
  if (key.tenant == who.tenant || who.may(Permission::tenants)) return {};
  return fail(Code::not_found, fmt::format("no key {} in force", key.key_id));
}

Result<void> check_grant(const Principal& who, const Keys& keys, NewKey& wanted) {
  if (!who.may(Permission::keys)) return fail(missing_permission(Permission::keys));
  if (wanted.tenant != who.tenant && !who.may(Permission::tenants))
    return fail(missing_permission(Permission::tenants));
  const PermissionSet granted = TRY(keys.permissions_of(wanted.tenant, wanted.role, wanted.narrowing));
  TRY(check_covered(who, granted));
  return bind_like_grantor(who, keys, wanted.narrowing.networks, wanted.expires_at);
}

Result<void> check_secret_of(const Principal& who, const Keys& keys, const store::KeyRow& key) {
  TRY(check_reach(who, key));
  const Narrowing narrowing = TRY(Keys::narrowing_of(key));
  // A role that is gone gives nothing.
  const auto granted = keys.permissions_of(key.tenant, key.role, narrowing);
  TRY(check_covered(who, granted ? *granted : PermissionSet()));
  // Unlike a new key this one is as it is: what would have to be filled in is too much.
  auto networks = narrowing.networks;
  auto expires_at = key.expires_at;
  TRY(bind_like_grantor(who, keys, networks, expires_at));
  if (networks == narrowing.networks && expires_at == key.expires_at) return {};
  return fail(Code::permission_denied,
              "this key is good for longer or from more networks than yours, and its secret would be yours");
}

NewKey like(const Principal& who, const Keys& keys) {
  NewKey key;
  key.tenant = who.tenant;
  key.role = who.role;
  const auto whole = keys.permissions_of(who.tenant, who.role, {});
  if (!whole || *whole != who.permissions) key.narrowing.permissions = who.permissions;
  return key;
}

}  // namespace atl::auth
