#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "os/descriptor_budget.h"
#include "os/fair_pool.h"
#include "os/task.h"
#include "session/providers.h"

namespace boost::asio {
class thread_pool;
}
namespace atl::api {
class Admission;
class AuditTrail;
}  // namespace atl::api
namespace atl::api::e2b {
class Dialect;
}
namespace atl::api::mcp {
class Dialect;
}
namespace atl::auth {
class Attempts;
class IdentityProvider;
class Keys;
class Roles;
class Tenants;
}  // namespace atl::auth
namespace atl::config {
class Configuration;
}
namespace atl::egress {
class Authority;
class Cidr;
class DialBudget;
class Machine;
}  // namespace atl::egress
namespace atl::layer {
class Store;
}
namespace atl::net {
class Server;
}
namespace atl::quota {
class Inventory;
class QuotaBook;
}  // namespace atl::quota
namespace atl::registry {
class Registry;
class TenantEntries;
}  // namespace atl::registry
namespace atl::sandbox {
class Provider;
}
namespace atl::session {
class AuthorizedService;
class LocalService;
}  // namespace atl::session
namespace atl::session::audited {
class AuditedObserver;
class AuditedService;
}  // namespace atl::session::audited
namespace atl::skill {
class Library;
}
namespace atl::store {
class Blobs;
class Store;
}  // namespace atl::store
namespace atl::tools {
class ToolExecutor;
class ToolRegistry;
}  // namespace atl::tools
namespace atl::vault {
class Vault;
}
namespace atl::volume {
class Disks;
class Volumes;
}  // namespace atl::volume

// Wiring: a running service from a configuration. Nothing here decides anything about sandboxes.
namespace atl::daemon {

class Auditing;
class DataLock;
class Indexing;
class StoragePlugins;
struct StoragePlugin;
class Telemetry;

struct Ready {
  std::vector<std::string> addresses;  // "http://127.0.0.1:8000", ...
  std::string new_key;                 // an API key made just now, to be shown once; else empty
};

// Everything a service consists of, in the order of construction: it owns all of it, and each part may refer
// to those before it. Belongs to the loop thread. The loop and the configuration must outlive it.
class Daemon {
 public:
  // Opens what is on disk; listens to nobody yet.
  static Result<std::unique_ptr<Daemon>> build(boost::asio::io_context& loop,
                                               const config::Configuration& configuration);
  ~Daemon();

  // Reconciles, makes the first key, mounts the dialects and listens. A failure leaves nothing running.
  Task<Ready> start();
  // Everything that is served once start() succeeded, for whoever checks every route.
  const net::Server& server() const { return *server_; }
  // Lets requests finish (http.stop_time), then ends everything in reverse order.
  boost::asio::awaitable<void> stop();
  // Reads the registry again, and what it says about skills: all of it, or an error that names the file, and
  // then everything is as it was.
  Result<void> reload();
  // For a process that ends at once, while stop() may be under way: sandboxes end without being waited for.
  void abandon();

 private:
  Daemon(boost::asio::io_context& loop, const config::Configuration& configuration);
  enum class Key { there, wanted };
  // Whether a key is to be made up. Refuses to listen beyond this machine without one.
  Task<Key> check_key();
  // What reload() does, without an entry in the audit log.
  Result<void> read_registry_again();
  // Before anything is opened or started: how many open files there are, and who may have how many.
  Result<void> divide_descriptors();
  Result<std::vector<std::string>> listen();
  // Before the first thread: the spawner is forked off this process.
  Result<void> start_providers();
  // What sandboxes of storage plugins see is told to the spawner.
  Result<void> start_native(const std::vector<StoragePlugin>& plugins);
  Result<void> keep_storage_plugins(const std::vector<StoragePlugin>& plugins);
  Result<void> start_optional_providers();
  // After the spawner was started, before the first thread: from here on the service has no power over the
  // machine.
  Result<void> give_up_root();
  Result<void> build_service();
  Result<void> build_tools();
  Result<void> set_access_sink();
  void mount_basics();
  void mount_rest(const std::string& address);
  void mount_governance();
  void mount_e2b(std::vector<std::string> addresses);
  Result<void> mount_mcp();
  // Who may ask: roles, keys, tenants and the other ways to show who one is.
  Result<void> build_identities();
  Result<void> add_identities();
  std::string roles_directory() const;
  // Roles of tenants, from the registry directory.
  Result<void> read_roles(auth::Roles& roles) const;
  // From now on these count, also for what is open.
  void use_roles(auth::Roles roles);
  // Quotas of tenants over those that the settings give to all.
  Result<void> build_quotas();
  // Reads what others changed in the store: keys, tenants and their quotas.
  boost::asio::awaitable<void> reread();
  // Tenants whose time has come, with everything that is theirs.
  boost::asio::awaitable<void> remove_tenants();
  Task<void> remove_tenant(std::string name);
  // What such a tenant has beside sessions, snapshots and volumes: uploads, skills, registry entries, shared
  // storages.
  Task<void> remove_belongings(std::string name);
  // Where things lie that tenants keep.
  void add_meters();
  // Ends what somebody has open who may no longer ask.
  void end_on_revocation();
  // Keys and tenants that `atoll keys` made or revoked meanwhile.
  boost::asio::awaitable<void> refresh_keys();
  // The setting registry_watch.
  boost::asio::awaitable<void> watch_registry();
  Result<void> open_skills();

  boost::asio::io_context& loop_;
  const config::Configuration& configuration_;
  std::string data_;
  std::unique_ptr<DataLock> lock_;
  std::unique_ptr<layer::Store> layers_;
  std::unique_ptr<registry::Registry> registry_;
  std::unique_ptr<skill::Library> skills_;
  std::vector<std::unique_ptr<sandbox::Provider>> providers_;
  std::vector<session::AbsentProvider> absent_providers_;
  std::unique_ptr<StoragePlugins> storage_plugins_;  // null: there are none
  std::string default_provider_;
  // Two pools: one reads long code, the other looks things up on the disk. Much of one does not hold up the
  // other.
  std::unique_ptr<os::FairPool> workers_, lookers_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Auditing> auditing_;
  std::unique_ptr<store::Blobs> blobs_;
  std::unique_ptr<auth::Roles> roles_;
  std::unique_ptr<registry::TenantEntries> tenant_entries_;
  std::unique_ptr<auth::Keys> keys_;
  std::unique_ptr<auth::Tenants> tenants_;
  std::unique_ptr<auth::Attempts> attempts_;
  std::unique_ptr<quota::QuotaBook> quotas_;
  std::unique_ptr<quota::Inventory> inventory_;
  std::vector<std::unique_ptr<auth::IdentityProvider>> identities_;
  std::vector<egress::Cidr> trusted_proxies_;
  std::unique_ptr<volume::Disks> volume_disks_;
  std::unique_ptr<volume::Volumes> volumes_;
  std::unique_ptr<vault::Vault> vault_;
  std::unique_ptr<Indexing> indexing_;
  std::unique_ptr<Telemetry> telemetry_;
  std::unique_ptr<egress::Machine> machine_;
  std::unique_ptr<egress::Authority> authority_;
  os::DescriptorBudget descriptors_;
  std::unique_ptr<egress::DialBudget> dials_;
  std::unique_ptr<session::audited::AuditedObserver> observer_;
  std::unique_ptr<session::LocalService> service_;
  // Layers around the service: first the check of rights, then the record of what was done.
  std::unique_ptr<session::AuthorizedService> authorized_;
  // What everybody but this class sees of it.
  std::unique_ptr<session::audited::AuditedService> audited_;
  std::unique_ptr<tools::ToolRegistry> tools_;
  std::unique_ptr<tools::ToolExecutor> tool_executor_;
  std::unique_ptr<api::AuditTrail> trail_;
  std::unique_ptr<api::Admission> admission_;
  std::unique_ptr<api::e2b::Dialect> e2b_;
  std::unique_ptr<api::mcp::Dialect> mcp_;
  std::unique_ptr<net::Server> server_;
  bool stopping_ = false;
};

}  // namespace atl::daemon
