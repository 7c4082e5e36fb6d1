#include "auth/tenants.h"

#include <fmt/format.h>

#include "auth/principal.h"
#include "config/checked.h"

namespace atl::auth {
namespace {

constexpr std::size_t kTenantNameMax = 64;

TenantState state_of(std::string_view word) {
  if (word == "active") return TenantState::active;
  // A word of a later version closes the tenant.
  return word == "removing" ? TenantState::removing : TenantState::suspended;
}

Error no_tenant(std::string_view name) {
  return Error(Code::not_found, fmt::format("no tenant {}", config::shown(name)));
}

}  // namespace

std::string_view to_string(TenantState state) {
  switch (state) {
    case TenantState::active: return "active";
    case TenantState::suspended: return "suspended";
    case TenantState::removing: return "removing";
  }
  return "suspended";
}

Task<void> Tenants::reload() {
  std::vector<store::TenantRow> rows;
  for (std::uint64_t seen = changes_ + 1; seen != changes_;) {
    seen = changes_;
    CO_TRY(rows, co_await store_.list_tenants());
  }
  std::map<std::string, Tenant, std::less<>> before = std::move(tenants_);
  tenants_.clear();
  for (store::TenantRow& row : rows) {
    Tenant tenant{row.name, state_of(row.state), row.created_at, row.remove_at, std::move(row.quotas)};
    tenants_.emplace(row.name, std::move(tenant));
  }
  tenants_.try_emplace(kDefaultTenant, Tenant{kDefaultTenant, TenantState::active, clock_.now(), {}, "{}"});
  for (const auto& [name, tenant] : tenants_) {
    const auto old = before.find(name);
    if (quota_listener_ && (old == before.end() || old->second.quotas != tenant.quotas))
      quota_listener_(tenant);
  }
  for (const auto& [name, tenant] : before)
    if (tenant.state == TenantState::active && !is_open(name) && listener_) listener_(name);
  co_return Result<void>{};
}

bool Tenants::is_open(std::string_view name) const {
  const auto found = tenants_.find(name);
  return found != tenants_.end() && found->second.state == TenantState::active;
}

Result<Tenant> Tenants::get(std::string_view name) const {
  const auto found = tenants_.find(name);
  if (found == tenants_.end()) return fail(no_tenant(name));
  return found->second;
}

std::vector<Tenant> Tenants::list() const {
  std::vector<Tenant> all;
  for (const auto& [name, tenant] : tenants_) all.push_back(tenant);
  return all;
}

Task<Tenant> Tenants::save(Tenant tenant) {
  store::TenantRow row;
  row.name = tenant.name;
  row.state = to_string(tenant.state);
  row.created_at = tenant.created_at;
  row.changed_at = clock_.now();
  row.remove_at = tenant.remove_at;
  row.quotas = tenant.quotas;
  CO_CHECK(co_await store_.put_tenant(std::move(row)));
  ++changes_;
  tenants_.insert_or_assign(tenant.name, tenant);
  if (tenant.state != TenantState::active && listener_) listener_(tenant.name);
  co_return tenant;
}

Result<Tenant> Tenants::changeable(const std::string& name) const {
  Tenant tenant = TRY(get(name));
  if (name == kDefaultTenant)
    return fail(Code::conflict, "the tenant default looks after the others and cannot be closed");
  return tenant;
}

Task<Tenant> Tenants::create(std::string name) {
  if (auto good = config::Checked("name", name).name(kTenantNameMax); !good) co_return fail(good.error());
  if (tenants_.contains(name))
    co_return fail(Code::already_exists, fmt::format("there is a tenant {}", name));
  Tenant tenant;
  tenant.name = std::move(name);
  tenant.created_at = clock_.now();
  co_return co_await save(std::move(tenant));
}

Task<Tenant> Tenants::set_suspended(std::string name, bool suspended) {
  CO_TRY(Tenant tenant, changeable(name));
  tenant.state = suspended ? TenantState::suspended : TenantState::active;
  tenant.remove_at.reset();
  co_return co_await save(std::move(tenant));
}

Task<Tenant> Tenants::remove(std::string name, std::chrono::seconds grace) {
  CO_TRY(Tenant tenant, changeable(name));
  tenant.state = TenantState::removing;
  tenant.remove_at = clock_.now() + grace;
  co_return co_await save(std::move(tenant));
}

Task<Tenant> Tenants::set_quotas(std::string name, std::string quotas) {
  CO_TRY(Tenant tenant, get(name));
  tenant.quotas = std::move(quotas);
  CO_TRY(Tenant saved, co_await save(std::move(tenant)));
  if (quota_listener_) quota_listener_(saved);
  co_return saved;
}

std::vector<std::string> Tenants::due() const {
  const WallTime now = clock_.now();
  std::vector<std::string> names;
  for (const auto& [name, tenant] : tenants_)
    if (tenant.state == TenantState::removing && tenant.remove_at && *tenant.remove_at <= now)
      names.push_back(name);
  return names;
}

Task<void> Tenants::forget(std::string name) {
  CO_CHECK(co_await store_.remove_tenant(name));
  ++changes_;
  tenants_.erase(name);
  co_return Result<void>{};
}

}  // namespace atl::auth
