// Who may ask, how much, and what happens when that ends: the part of the wiring that is about rights.
#include "api/governance/governance.h"
#include "auth/attempts.h"
#include "auth/keys.h"
#include "auth/oidc/provider.h"
#include "auth/provider.h"
#include "auth/role.h"
#include "auth/tenants.h"
#include "auth/vouched.h"
#include "base/log.h"
#include "config/configuration.h"
#include "daemon/daemon.h"
#include "daemon/network.h"
#include "net/server.h"
#include "quota/book.h"
#include "session/local_service.h"
#include "store/store.h"
#include "volume/volumes.h"

namespace atl::daemon {

Result<void> Daemon::build_identities() {
  roles_ = std::make_unique<auth::Roles>();
  if (const std::string& registry = configuration_.text("registry"); !registry.empty())
    TRY(roles_->load(registry + "/roles"));
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

// Settings from before there were quotas are what every tenant has that no quota of its own says otherwise.
Result<void> Daemon::build_quotas() {
  quota::Quotas defaults;
  if (const std::int64_t count = configuration_.integer("session.count"); count > 0)
    defaults[quota::Quota::sessions] = static_cast<std::uint64_t>(count);
  quotas_ = std::make_unique<quota::QuotaBook>(*store_, defaults);
  tenants_->on_quotas([this](const auth::Tenant& tenant) {
    auto quotas = quota::Quotas::parse(tenant.quotas);
    if (quotas) return quotas_->set_tenant(tenant.name, *quotas);
    log::error("the quotas of a tenant are damaged and it gets none of anything", {{"tenant", tenant.name}});
    quota::Quotas nothing;
    for (std::size_t at = 0; at < quota::kQuotaCount; ++at) nothing[static_cast<quota::Quota>(at)] = 0;
    quotas_->set_tenant(tenant.name, nothing);
  });
  keys_->on_quotas([this](const store::KeyRow& key) {
    if (auto quotas = quota::Quotas::parse(key.quotas)) quotas_->set_key(key.key_id, *quotas);
  });
  return {};
}

// Calls that change keys and tenants are short, and whoever ends their own key is to hear that it worked.
void Daemon::end_on_revocation() {
  keys_->on_end([this](const std::string& key_id) {
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
  CO_CHECK(co_await tenants_->forget(name));
  co_return co_await keys_->reload();
}

void Daemon::mount_governance() {
  api::governance::Dependencies dependencies;
  dependencies.admission = admission_.get();
  dependencies.keys = keys_.get();
  dependencies.tenants = tenants_.get();
  dependencies.roles = roles_.get();
  dependencies.quotas = quotas_.get();
  dependencies.store = store_.get();
  dependencies.grace =
      std::chrono::duration_cast<std::chrono::seconds>(configuration_.duration("tenants.grace"));
  api::governance::mount(server_->router(), dependencies);
}

}  // namespace atl::daemon
