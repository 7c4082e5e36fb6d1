#pragma once

#include "auth/keys.h"

// Nobody grants what they lack: the one place that decides which keys somebody may make and look after,
// whatever dialect is spoken.
namespace atl::auth {

// Code::permission_denied that names the permission `who` lacks and would grant. A key of another tenant
// needs Permission::tenants. What the caller's own key is bound to (networks, an end) binds the new one too:
// members of `wanted` that are left open are filled in, those that go beyond are Code::permission_denied.
Result<void> check_grant(const Principal& who, const Keys& keys, NewKey& wanted);

// Whether `who` may see this key and end it. Code::not_found otherwise: keys of other tenants do not exist.
Result<void> check_reach(const Principal& who, const store::KeyRow& key);
// Whether `who` may have its secret, which rotation shows: only if it opens nothing that `who` lacks,
// from nowhere else and no longer.
Result<void> check_secret_of(const Principal& who, const Keys& keys, const store::KeyRow& key);

// A key like the caller's own, with its role and what it is narrowed to.
NewKey like(const Principal& who, const Keys& keys);

}  // namespace atl::auth
