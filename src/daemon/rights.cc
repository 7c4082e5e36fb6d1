// Who may ask, how much, and what happens when that ends: the part of the wiring that is about rights.
#include "api/e2b/dialect.h"
#include "api/governance/governance.h"
#include "api/mcp/mcp.h"
#include "auth/attempts.h"
#include "auth/keys.h"
#include "auth/oidc/provider.h"
#include "auth/provider.h"
#include "auth/role.h"
#include "auth/tenants.h"
#include "auth/vouched.h"
#include "base/log.h"
#include "config/configuration.h"
#include "daemon/auditing.h"
#include "daemon/bounds.h"
#include "daemon/daemon.h"
#include "daemon/indexing.h"
#include "daemon/network.h"
#include "daemon/toolkit.h"
#include "net/server.h"
#include "os/offload.h"
#include "quota/book.h"
#include "quota/inventory.h"
#include "registry/tenant_entries.h"
#include "session/local_service.h"
#include "skill/library.h"
#include "store/store.h"
#include "volume/volumes.h"

namespace atl::daemon {

Result<void> Daemon::build_identities() {
  roles_ = std::make_unique<auth::Roles>();
  TRY(read_roles(*roles_));
  keys_ = std::make_unique<auth::Keys>(*store_);
  keys_->set_roles(roles_.get());
  tenants_ = std::make_unique<auth::Tenants>(*store_);
  auth::AttemptLimits limits;
  limits.delay_max = configuration_.duration("auth.delay_max");
  attempts_ = std::make_unique<auth::Attempts>(limits);
  identities_.push_back(std::make_unique<auth::KeyProvider>(*keys_));
  trusted_proxies_ = TRY(ranges_of(configuration_, "auth.proxies"));
  return add_identities();
}

// Without a registry directory there are none, and no such directory.
std::string Daemon::roles_directory() const {
  const std::string& registry = configuration_.text("registry");
  return registry.empty() ? std::string() : registry + "/roles";
}

Result<void> Daemon::read_roles(auth::Roles& roles) const {
  return roles.load(roles_directory());
}

// apply_roles() ends what is open with keys whose rights became less. Callers without a key, such as those
// with a token of an issuer, are found here by the role that they were let in with.
void Daemon::use_roles(auth::Roles roles) {
  *roles_ = std::move(roles);
  keys_->apply_roles();
  server_->cut_if([&](const void* grant) {
    const auto* one = static_cast<const api::Grant*>(grant);
    if (!one->by_key || keys_->find(one->who.key_id)) return false;
    const std::string& home = one->who.looks_from.empty() ? one->who.tenant : one->who.looks_from;
    const auto now = roles_->find(home, one->who.role);
    return one->permission != api::Permission::none && (!now || !now->contains({one->permission}));
  });
}

// A provider of one's own is one class (auth/provider.h) and one line here.
Result<void> Daemon::add_identities() {
  if (const std::string& issuer = configuration_.text("auth.oidc.issuer"); !issuer.empty()) {
    auth::oidc::Options options;
    options.issuer = issuer;
    options.audience = configuration_.text("auth.oidc.audience");
    std::tie(options.claim, options.roles) =
        TRY(auth::parse_claim_map(configuration_.text("auth.oidc.roles"), "auth.oidc.roles"));
    options.skew =
        std::chrono::duration_cast<std::chrono::seconds>(configuration_.duration("auth.oidc.skew"));
    options.ca_file = configuration_.text("auth.oidc.ca");
    identities_.push_back(TRY(auth::oidc::Provider::make(loop_.get_executor(), std::move(options), *roles_)));
  }
  if (const std::string& subjects = configuration_.text("auth.mtls.subjects"); !subjects.empty()) {
    if (configuration_.text("auth.mtls.ca").empty() || configuration_.text("tls.listen").empty())
      return fail(
          Error(Code::invalid_argument,
                "auth.mtls.subjects needs auth.mtls.ca, which says whose certificates count, and tls.listen")
              .with_field("auth.mtls.ca"));
    auth::RoleMap map = TRY(auth::RoleMap::parse(subjects, "auth.mtls.subjects"));
    identities_.push_back(std::make_unique<auth::CertificateProvider>(std::move(map), *roles_));
  }
  if (const std::string& header = configuration_.text("auth.proxy.user_header"); !header.empty()) {
    if (trusted_proxies_.empty())
      return fail(Error(Code::invalid_argument,
                        "auth.proxy.user_header is believed from nobody: name the proxies in auth.proxies")
                      .with_field("auth.proxies"));
    auth::ProxyProvider::Options options;
    options.proxies = trusted_proxies_;
    options.user_header = header;
    options.groups_header = configuration_.text("auth.proxy.groups_header");
    options.roles = TRY(auth::RoleMap::parse(configuration_.text("auth.proxy.roles"), "auth.proxy.roles"));
    identities_.push_back(std::make_unique<auth::ProxyProvider>(std::move(options), *roles_));
  }
  return {};
}

// The settings session.count and rate.*, which are older than quotas, are the defaults of every tenant and
// every key that has no quota of its own.
Result<void> Daemon::build_quotas() {
  quota::Quotas defaults;
  if (const std::int64_t count = configuration_.integer("session.count"); count > 0)
    defaults[quota::Quota::sessions] = static_cast<std::uint64_t>(count);
  quotas_ = std::make_unique<quota::QuotaBook>(*store_, defaults, Clock::machine(),
                                               TRY(key_quotas_of(configuration_)));
  inventory_ = std::make_unique<quota::Inventory>(*quotas_);
  add_meters();
  tenants_->on_quotas([this](const auth::Tenant& tenant) {
    auto quotas = quota::Quotas::parse(tenant.quotas);
    if (quotas) return quotas_->set_tenant(tenant.name, *quotas);
    log::error("the quotas of a tenant are damaged and it gets none of anything", {{"tenant", tenant.name}});
    quota::Quotas nothing;
    // All but the rates of requests, so that the tenant's admin can still call and repair it.
    for (std::size_t at = 0; at < quota::kQuotaCount; ++at)
      if (const auto one = static_cast<quota::Quota>(at);
          one != quota::Quota::requests_per_second && one != quota::Quota::requests_burst)
        nothing[one] = 0;
    quotas_->set_tenant(tenant.name, nothing);
  });
  keys_->on_quotas([this](const store::KeyRow& key) {
    if (auto quotas = quota::Quotas::parse(key.quotas)) quotas_->set_key(key.key_id, *quotas);
  });
  return {};
}

// Sessions that are paused on the disk, uploads and templates are added by those who keep them.
void Daemon::add_meters() {
  using quota::Quota;
  inventory_->add(Quota::stored_mb, [this](std::string tenant) -> Task<std::uint64_t> {
    CO_TRY(const std::int64_t bytes, co_await store_->stored_bytes(std::move(tenant)));
    co_return static_cast<std::uint64_t>(bytes);
  });
  inventory_->add(Quota::stored_mb, [this](std::string tenant) -> Task<std::uint64_t> {
    return volumes_->bytes_of(std::move(tenant));
  });
  inventory_->add(Quota::stored_mb, [this](std::string tenant) -> Task<std::uint64_t> {
    auto look = [library = skills_.get(), tenant]() -> Result<std::uint64_t> {
      return library->bytes_of(tenant);
    };
    return lookers_->run<std::uint64_t>(tenant, std::move(look));
  });
  inventory_->add(Quota::stored_mb, [this](std::string tenant) -> Task<std::uint64_t> {
    auto look = [index = &indexing_->index(), tenant] { return index->bytes_of(tenant); };
    return lookers_->run<std::uint64_t>(tenant, std::move(look));
  });
  inventory_->add(Quota::volumes, [this](std::string tenant) -> Task<std::uint64_t> {
    CO_TRY(const auto all, co_await volumes_->list(std::move(tenant)));
    co_return all.size();
  });
}

// Calls that change keys and tenants are let finish: they are short, and a caller that ends its own key gets
// the answer.
void Daemon::end_on_revocation() {
  keys_->on_end([this](const std::string& key_id) {
    if (mcp_) mcp_->end_key(key_id);
    server_->cut_if([&](const void* grant) {
      const auto* one = static_cast<const api::Grant*>(grant);
      return one->by_key && one->who.key_id == key_id && one->permission != api::Permission::keys;
    });
  });
  tenants_->on_close([this](const std::string& tenant) {
    server_->cut_if([&](const void* grant) {
      const auto* one = static_cast<const api::Grant*>(grant);
      const std::string& home = one->who.looks_from.empty() ? one->who.tenant : one->who.looks_from;
      return home == tenant && one->permission != api::Permission::tenants;
    });
  });
}

boost::asio::awaitable<void> Daemon::reread() {
  const auto check = [](const Result<void>& done, const char* what) {
    if (!done) log::warn(what, {{"error", done.error().message()}});
  };
  check(co_await tenants_->reload(), "the tenants could not be read again");
  check(co_await keys_->reload(), "the keys could not be read again");
  check(co_await keys_->save_last_uses(), "when keys were used could not be stored");
  check(co_await quotas_->save(), "what was consumed could not be stored");
}

boost::asio::awaitable<void> Daemon::remove_tenants() {
  for (const std::string& name : tenants_->due()) {
    auto removed = co_await remove_tenant(name);
    auditing_->tell("tenant.remove", name, name, removed ? nullptr : &removed.error());
    if (removed) log::info("a tenant was removed", {{"tenant", name}});
    if (!removed)
      log::warn("a tenant could not be removed yet",
                {{"tenant", name}, {"error", removed.error().message()}});
  }
}

// What lies on the disk goes first: rows that are gone name nothing that could be found again.
Task<void> Daemon::remove_tenant(std::string name) {
  auth::Principal owner;
  owner.tenant = name;
  for (const session::Session& session : service_->peek_all())
    if (session.tenant == name) CO_CHECK(co_await service_->destroy(owner, session.session_id));
  const std::string every;
  for (std::string cursor;;) {
    CO_TRY(const auto page, co_await service_->list_snapshots(owner, every, 1000, cursor));
    for (const session::Snapshot& one : page.items)
      CO_CHECK(co_await service_->remove_snapshot(owner, one.snapshot_id));
    if (page.next_cursor.empty()) break;
    cursor = page.next_cursor;
  }
  CO_TRY(const auto volumes, co_await volumes_->list(name));
  for (const volume::Volume& one : volumes) CO_CHECK(co_await volumes_->remove(name, one.id));
  CO_CHECK(co_await remove_belongings(name));
  auto forget = [index = &indexing_->index(), name] { return index->forget_tenant(name); };
  CO_CHECK(co_await lookers_->run<void>(name, std::move(forget)));
  CO_CHECK(co_await tenants_->forget(name));
  co_return co_await keys_->reload();
}

Task<void> Daemon::remove_belongings(std::string name) {
  CO_CHECK(co_await e2b_->forget_tenant(name));
  tenant_entries_->forget(name);
  CO_TRY(auto declared, declared_storages(configuration_, data_));
  auto storages = std::make_shared<sandbox::emulated::Storages>(storage_kinds(data_), std::move(declared));
  auto work = [library = skills_.get(), name, storages]() -> Result<void> {
    TRY(library->remove_all(name));
    return storages->discard_tenant(name);
  };
  co_return co_await lookers_->run<void>(name, std::move(work));
}

void Daemon::mount_governance() {
  api::governance::Dependencies dependencies;
  dependencies.admission = admission_.get();
  dependencies.keys = keys_.get();
  dependencies.tenants = tenants_.get();
  dependencies.roles = roles_.get();
  dependencies.quotas = quotas_.get();
  dependencies.inventory = inventory_.get();
  dependencies.store = store_.get();
  dependencies.grace =
      std::chrono::duration_cast<std::chrono::seconds>(configuration_.duration("tenants.grace"));
  api::governance::mount(server_->router(), dependencies);
}

}  // namespace atl::daemon
