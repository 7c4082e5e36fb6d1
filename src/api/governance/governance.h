#pragma once

#include <chrono>

#include "api/admission/admission.h"
#include "auth/keys.h"
#include "auth/role.h"
#include "auth/tenants.h"
#include "net/router.h"
#include "quota/book.h"
#include "quota/inventory.h"
#include "store/store.h"

namespace atl::api::governance {

// What the routes use. Everything outlives the router; all pointers must be set.
struct Dependencies {
  const Admission* admission = nullptr;
  auth::Keys* keys = nullptr;
  auth::Tenants* tenants = nullptr;
  const auth::Roles* roles = nullptr;
  quota::QuotaBook* quotas = nullptr;
  const quota::Inventory* inventory = nullptr;
  store::Store* store = nullptr;
  Clock* clock = &Clock::machine();
  std::chrono::seconds grace{0};  // between the removal of a tenant and its end
};

// Adds /api/whoami, /api/roles, /api/keys, /api/tenants and /api/usage to the router of the REST dialect. The
// router's error renderer must be set already. Handlers run on the loop thread.
void mount(net::Router& router, const Dependencies& dependencies);

}  // namespace atl::api::governance
