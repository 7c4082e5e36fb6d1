#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "os/task.h"
#include "store/store.h"

namespace atl::auth {

// active: its credentials open. suspended: nothing opens, nothing is lost. removing: as suspended, and gone
// for good at a known time.
enum class TenantState : std::uint8_t { active, suspended, removing };
std::string_view to_string(TenantState state);

struct Tenant {
  std::string name;
  TenantState state = TenantState::active;
  WallTime created_at;
  std::optional<WallTime> remove_at;
  std::string quotas = "{}";  // JSON; src/quota reads it
};

// The tenants of this installation, in memory; the store has them. Belongs to the loop thread. Store and
// clock must outlive it. `default` is always there and can be neither suspended nor removed.
class Tenants {
 public:
  explicit Tenants(store::Store& store, Clock& clock = Clock::machine()) : store_(store), clock_(clock) {}

  // Reads them again: other processes make tenants too, by making a key.
  Task<void> reload();
  // Whether credentials of the tenant open anything. False of a tenant that is not known.
  bool is_open(std::string_view name) const;
  // Code::not_found.
  Result<Tenant> get(std::string_view name) const;
  std::vector<Tenant> list() const;

  // Code::already_exists, or Code::invalid_argument with the field `name`.
  Task<Tenant> create(std::string name);
  // Code::conflict for `default`; a tenant that is being removed becomes active again.
  Task<Tenant> set_suspended(std::string name, bool suspended);
  // Closed at once, and gone after `grace`. Code::conflict for `default`.
  Task<Tenant> remove(std::string name, std::chrono::seconds grace);
  Task<Tenant> set_quotas(std::string name, std::string quotas);
  // Whose time has come.
  std::vector<std::string> due() const;
  // The rows of a tenant that is due; what lies on the disk went before.
  Task<void> forget(std::string name);

  // Called when a tenant is closed, so that what it has open ends.
  void on_close(std::function<void(const std::string& name)> listener) { listener_ = std::move(listener); }
  // Called when its quotas changed.
  void on_quotas(std::function<void(const Tenant& tenant)> listener) {
    quota_listener_ = std::move(listener);
  }

 private:
  Task<Tenant> save(Tenant tenant);
  Result<Tenant> changeable(const std::string& name) const;

  store::Store& store_;
  Clock& clock_;
  std::map<std::string, Tenant, std::less<>> tenants_;
  std::function<void(const std::string& name)> listener_;
  std::function<void(const Tenant& tenant)> quota_listener_;
  std::uint64_t changes_ = 0;
};

}  // namespace atl::auth
