#include "daemon/daemon.h"

#include <fmt/ranges.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>
#include <limits>

#include "api/admission/admission.h"
#include "api/e2b/dialect.h"
#include "api/mcp/mcp.h"
#include "api/rest/rest.h"
#include "auth/attempts.h"
#include "auth/keys.h"
#include "auth/provider.h"
#include "auth/role.h"
#include "auth/tenants.h"
#include "base/log.h"
#include "config/checked.h"
#include "config/configuration.h"
#include "config/document.h"
#include "daemon/auditing.h"
#include "daemon/bounds.h"
#include "daemon/certificate.h"
#include "daemon/data_directory.h"
#include "daemon/data_lock.h"
#include "daemon/http_settings.h"
#include "daemon/indexing.h"
#include "daemon/local_access.h"
#include "daemon/network.h"
#include "daemon/providers.h"
#include "daemon/storage_plugins.h"
#include "daemon/telemetry.h"
#include "daemon/tenant_secrets.h"
#include "daemon/toolkit.h"
#include "daemon/volume_disks.h"
#include "egress/authority.h"
#include "egress/dial_budget.h"
#include "egress/machine.h"
#include "layer/store.h"
#include "net/server.h"
#include "os/file.h"
#include "os/privileges.h"
#include "quota/book.h"
#include "quota/inventory.h"
#include "registry/tenant_entries.h"
#include "sandbox/emulated/virtual.h"
#include "sandbox/native/native.h"
#include "session/audited/observer.h"
#include "session/audited/service.h"
#include "session/authorized_service.h"
#include "session/local_service.h"
#include "store/blobs.h"
#include "store/store.h"
#include "tools/tool_executor.h"
#include "tools/tool_registry.h"
#include "vault/vault.h"
#include "volume/volumes.h"

namespace atl::daemon {
namespace {

Result<store::Durability> durability(const config::Configuration& configuration) {
  const std::string& word = configuration.text("store.durability");
  if (word == "process") return store::Durability::process;
  if (word == "power") return store::Durability::power;
  return fail(Code::invalid_argument, "store.durability is process or power, got '" + word + "'");
}

std::size_t worker_count(const config::Configuration& configuration) {
  auto asked = configuration.integer("workers");
  return asked > 0 ? static_cast<std::size_t>(asked) : std::max(2U, std::thread::hardware_concurrency());
}

}  // namespace

Daemon::Daemon(boost::asio::io_context& loop, const config::Configuration& configuration)
    : loop_(loop), configuration_(configuration) {}

Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::build(boost::asio::io_context& loop,
                                              const config::Configuration& configuration) {
  // Memory of large blocks, such as bodies, goes back to the machine when it is freed. By default the
  // allocator raises this threshold and keeps such blocks, so that memory which a flood of requests took
  // would never come back.
  ::mallopt(M_MMAP_THRESHOLD, 512 << 10);
  std::unique_ptr<Daemon> daemon(new Daemon(loop, configuration));
  TRY(daemon->divide_descriptors());
  net::ServerOptions serving = TRY(server_options(configuration, daemon->descriptors_));
  daemon->data_ = TRY(data_directory(configuration));
  // Before anything in it is read: the files of a running service look like those that a dead one left.
  daemon->lock_ = std::make_unique<DataLock>(TRY(DataLock::take(daemon->data_)));
  daemon->registry_ =
      std::make_unique<registry::Registry>(TRY(registry::Registry::load(configuration.text("registry"))));
  daemon->layers_ = TRY(layer::Store::open(daemon->data_ + "/layers"));
  daemon->registry_->attach(*daemon->layers_);
  TRY(daemon->open_skills());
  TRY(daemon->start_providers());
  TRY(daemon->give_up_root());
  daemon->workers_ = std::make_unique<os::FairPool>(loop.get_executor(), worker_count(configuration));
  daemon->lookers_ = std::make_unique<os::FairPool>(loop.get_executor(), worker_count(configuration));
  const store::Durability wanted = TRY(durability(configuration));
  daemon->store_ = TRY(store::Store::open(daemon->data_, wanted));
  daemon->auditing_ = TRY(Auditing::open(
      configuration, daemon->data_,
      wanted == store::Durability::power ? audit::Durability::power : audit::Durability::process));
  TRY(daemon->build_identities());
  volume::VolumeOptions volumes;
  volumes.bytes_max = configuration.bytes("volume.bytes");
  volumes.inodes_max = TRY(bound_of(configuration, "volume.inodes"));
  volumes.count_max = static_cast<std::uint32_t>(configuration.integer("volume.count"));
  // Files can belong to every id inside only where root gives them away: otherwise all of a volume is one
  // user's, as its directory is.
  if (volume::Volumes::keeps_ids())
    daemon->volume_disks_ = std::make_unique<VolumeDisks>(*daemon->providers_.front());
  daemon->volumes_ = TRY(volume::Volumes::open(*daemon->store_, daemon->data_ + "/volumes", volumes,
                                               daemon->volume_disks_.get()));
  daemon->vault_ = TRY(vault::Vault::open(*daemon->store_, daemon->data_ + "/secrets.key"));
  daemon->server_ = std::make_unique<net::Server>(loop.get_executor(), std::move(serving));
  TRY(daemon->build_service());
  TRY(daemon->build_tools());
  TRY(daemon->set_access_sink());
  daemon->mount_basics();
  return daemon;
}

// The directories that the spawner may touch for this service. It is told once, while the service is still
// root, and accepts no others later.
static sandbox::native::RootPaths spawner_roots(const std::string& data, const registry::Registry& registry,
                                                skill::Library& skills, bool stays_root) {
  sandbox::native::RootPaths roots;
  roots.layers = {data + "/layers/trees"};
  roots.snapshots = {data + "/snapshots"};
  roots.mounts = {{.path = data + "/volumes", .writable = true}};
  for (const std::string& directory : skills.roots())
    roots.mounts.push_back({.path = directory, .writable = false});
  if (!stays_root) roots.trusted.emplace();
  for (const auto& [name, environment] : registry.environments()) {
    roots.layers.insert(roots.layers.end(), environment.layers.begin(), environment.layers.end());
    if (roots.trusted && registry.ships(environment.made_by)) roots.trusted->insert(environment.layers);
  }
  return roots;
}

Result<void> Daemon::divide_descriptors() {
  const std::uint64_t limit = TRY(os::raise_descriptor_limit());
  descriptors_ = TRY(os::divide_descriptors(limit));
  dials_ =
      std::make_unique<egress::DialBudget>(egress::DialLimits{.of_machine = descriptors_.egress,
                                                              .of_tenant = descriptors_.egress_of_tenant,
                                                              .of_session = descriptors_.egress_of_session});
  return {};
}

Result<void> Daemon::open_skills() {
  skill::Library::Options options = TRY(skill_options(configuration_, data_));
  skills_ = TRY(skill::Library::open(std::move(options)));
  TRY(registry_->add_checker("skills", [this](const registry::Entry& entry) -> Result<void> {
    auto declared = declared_skill(entry);
    if (!declared) return fail(std::move(declared).error());
    return skills_->check(*declared);
  }));
  auto declared = TRY(declared_skills(*registry_));
  return skills_->declare(std::move(declared));
}

Result<void> Daemon::reload() {
  auto done = read_registry_again();
  const Error* error = done ? nullptr : &done.error();
  auditing_->tell("registry.reload", "registry", {}, error);
  return done;
}

Result<void> Daemon::read_registry_again() {
  // Roles that cannot be read, and declared skills that the checker of open_skills() does not agree to, keep
  // the registry from changing.
  auth::Roles roles;
  TRY(read_roles(roles));
  TRY(registry_->reload());
  auto declared = TRY(declared_skills(*registry_));
  TRY(skills_->declare(std::move(declared)));
  use_roles(std::move(roles));
  return {};
}

Result<void> Daemon::start_providers() {
  auto declared = TRY(declared_storages(configuration_, data_));
  const auto plugins =
      TRY(storage_plugins(declared, configuration_.list("tools.plugins"), plugin_sockets(data_)));
  TRY(start_native(plugins));
  TRY(keep_storage_plugins(plugins));
  auto storages = std::make_shared<sandbox::emulated::Storages>(storage_kinds(data_), std::move(declared));
  providers_.push_back(sandbox::emulated::make(loop_.get_executor(), std::move(storages)));
  TRY(start_optional_providers());
  const std::string& asked = configuration_.text("provider.default");
  if (!asked.empty() && asked != "auto" && !session::is_provider_name(asked))
    return fail(Error(Code::invalid_argument,
                      fmt::format("no provider is called '{}': there are {}", config::shown(asked),
                                  fmt::join(session::kProviderNames, ", ")))
                    .with_field("provider.default"));
  const auto absent = std::ranges::find(absent_providers_, asked, &session::AbsentProvider::name);
  if (absent != absent_providers_.end())
    return fail(Error(Code::unsupported, fmt::format("start the provider {}: {}", asked, absent->reason))
                    .with_field("provider.default"));
  default_provider_ = !asked.empty() ? asked : std::string(providers_.front()->name());
  return {};
}

Result<void> Daemon::start_optional_providers() {
  const ProviderContext context{.executor = loop_.get_executor(),
                                .configuration = configuration_,
                                .data = data_,
                                .layers = spawner_roots(data_, *registry_, *skills_, true).layers,
                                .installation = TRY(installation_id(data_)),
                                .secret = [this](std::string tenant, std::string name) -> Task<std::string> {
                                  return vault_->reveal(std::move(tenant), std::move(name));
                                }};
  for (const OptionalProvider& one : optional_providers()) {
    auto started = one.start(context);
    if (started)
      providers_.push_back(std::move(*started));
    else
      absent_providers_.push_back({std::string(one.name), started.error().message(), one.traits});
  }
  return {};
}

Result<void> Daemon::keep_storage_plugins(const std::vector<StoragePlugin>& plugins) {
  if (plugins.empty()) return {};
  if (!absent_providers_.empty())
    return fail(Error(Code::unsupported,
                      fmt::format("the storage '{}' is a plugin, which runs in a native sandbox: {}",
                                  plugins.front().name, absent_providers_.front().reason))
                    .with_field("storages"));
  storage_plugins_ = std::make_unique<StoragePlugins>(loop_.get_executor(), providers_.front().get(),
                                                      data_ + "/plugin-host", plugins);
  return {};
}

Result<void> Daemon::start_native(const std::vector<StoragePlugin>& plugins) {
  sandbox::native::NativeOptions options;
  options.spawner.roots = spawner_roots(data_, *registry_, *skills_, configuration_.text("run_as").empty());
  for (std::string& directory : TRY(plugin_mounts(configuration_, data_)))
    options.spawner.roots.mounts.push_back({.path = std::move(directory)});
  for (const StoragePlugin& plugin : plugins)
    for (const std::string& directory : {plugin.path, plugin.socket_place})
      options.spawner.roots.mounts.push_back({.path = directory, .writable = true});
  options.spawner.run_directory = data_ + "/run";
  options.spawner.cgroup_parent = configuration_.text("native.cgroup_parent");
  options.spawner.image_directory = data_ + "/sandboxes";
  options.spawner.favor_dynmods = configuration_.boolean("native.favor_dynmods");
  std::error_code error;
  for (const std::string& directory :
       {options.spawner.run_directory, options.spawner.image_directory, data_ + "/snapshots"}) {
    std::filesystem::create_directories(directory, error);
    if (error) return fail(errno_error(error.value(), "create " + directory));
  }
  const registry::Ceilings ceilings = TRY(ceilings_of(configuration_, data_));
  TRY(os::make_directories(data_ + "/volumes", 0700));
  for (const auto& [name, environment] : registry_->environments()) {
    // Environments that differ in nothing a sandbox sees share one pool.
    if (name != "host" && name != "base") continue;
    const auto ready =
        static_cast<std::uint32_t>(configuration_.integer(name == "base" ? "e2b.pool" : "native.pool"));
    if (ready == 0) continue;
    sandbox::native::PoolOptions pool;
    pool.environment = name;
    pool.spec.layers = environment.layers;
    pool.spec.trusted_layers = !environment.layers.empty() && registry_->ships(environment.made_by);
    pool.spec.preimport = environment.preimport;
    pool.spec.sudo = environment.sudo;
    pool.spec.network = environment.network;
    pool.spec.limits = registry_->sandbox_limits(environment, {});
    // The same values as a session's, otherwise no request would match the pool.
    registry::clamp(pool.spec.limits, ceilings);
    pool.ready = ready;
    // The layers of ready sandboxes stay on the disk, but they do not keep anybody from removing the
    // environment.
    TRY(layers_->refer({.holder = "pool-" + name, .layers = environment.digests, .process = ::getpid()},
                       layer::Durability::unsynced));
    if (environment.default_language) pool.warm = {*environment.default_language};
    options.pools.push_back(std::move(pool));
  }
  auto native = sandbox::native::start(loop_.get_executor(), std::move(options));
  if (native) {
    providers_.push_back(std::move(*native));
  } else {
    log::warn("the provider native does not work here", {{"error", native.error().message()}});
    absent_providers_.push_back({"native", native.error().message() + "; `atoll doctor` says more",
                                 sandbox::native::native_traits()});
  }
  return {};
}

Result<void> Daemon::give_up_root() {
  const std::string& name = configuration_.text("run_as");
  if (::geteuid() != 0) {
    if (name.empty()) return {};
    return fail(Error(Code::invalid_argument, "only root can become another user").with_field("run_as"));
  }
  if (name.empty()) return os::keep_file_capabilities();
  const os::Account account = TRY(os::find_account(name));
  // What lies in there and belongs to root becomes the user's; snapshots and layers belong to ids of
  // sandboxes.
  TRY_CONTEXT("give the data directory to " + name,
              os::give_directory(data_, account, {"snapshots", "layers", "run", "sandboxes"}));
  return os::become(account);
}

Result<void> Daemon::build_service() {
  blobs_ = TRY(store::Blobs::open(data_ + "/artifacts"));
  std::string installation = TRY(installation_id(data_));
  telemetry_ = TRY(Telemetry::open(configuration_, data_, std::move(installation)));
  indexing_ = TRY(Indexing::open(configuration_, data_));
  indexing_->use_secrets(loop_.get_executor(), [this](std::string name) -> Task<std::string> {
    return vault_->reveal("default", std::move(name));
  });
  telemetry_->watch(*indexing_);
  telemetry_->watch(*store_);
  telemetry_->watch(*server_);
  telemetry_->watch(*auditing_);
  for (const auto& provider : providers_) telemetry_->watch(*provider);
  for (const auto& absent : absent_providers_) telemetry_->watch(absent);
  session::LocalService::Dependencies dependencies;
  dependencies.executor = loop_.get_executor();
  dependencies.store = store_.get();
  dependencies.blobs = blobs_.get();
  dependencies.registry = registry_.get();
  for (const auto& provider : providers_) dependencies.providers.push_back(provider.get());
  for (const auto& absent : absent_providers_) dependencies.providers.add_absent(absent);
  dependencies.clock = &Clock::machine();
  observer_ = std::make_unique<session::audited::AuditedObserver>(telemetry_->observer(), auditing_->log());
  dependencies.observer = observer_.get();
  dependencies.workers = workers_.get();
  dependencies.layers = layers_.get();
  dependencies.volumes = volumes_.get();
  dependencies.skills = skills_.get();
  tenant_entries_ = std::make_unique<registry::TenantEntries>(*store_, *registry_, lookers_.get());
  machine_ = std::make_unique<egress::Machine>(loop_.get_executor());
  authority_ = TRY(egress::Authority::create());
  dependencies.dials = dials_.get();
  dependencies.outside.resolver = machine_.get();
  dependencies.outside.connector = machine_.get();
  dependencies.outside.authority = authority_.get();
  dependencies.outside.internal_proxies = TRY(ranges_of(configuration_, "network.proxies"));
  dependencies.outside.internal = TRY(internal_addresses(configuration_));
  dependencies.secrets = [this](const std::string& tenant) {
    return std::make_shared<TenantSecrets>(*vault_, *auditing_, tenant);
  };
  TRY(build_quotas());
  dependencies.controller = quotas_.get();
  dependencies.inventory = inventory_.get();
  session::ServiceOptions options;
  options.default_provider = default_provider_;
  if (const std::string& rules = configuration_.text("provider.rules"); !rules.empty()) {
    const config::Document document = TRY(config::Document::load(rules));
    options.provider_rules = TRY(session::ProviderRules::parse(document));
  }
  options.snapshot_directory = data_ + "/snapshots";
  options.default_ttl = configuration_.duration("session.ttl");
  options.idle_after = configuration_.duration("session.idle");
  options.to_disk_after = configuration_.duration("session.to_disk");
  options.sandboxes_max = TRY(count_of(configuration_, "session.machine_count"));
  // As many as the limit of open files allows: each keeps streams, a process handle and its upper directory
  // open.
  constexpr std::uint64_t kDescriptorsOfSandbox = 6;
  if (options.sandboxes_max == 0)
    options.sandboxes_max = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        descriptors_.sandboxes / kDescriptorsOfSandbox, std::numeric_limits<std::uint32_t>::max()));
  options.keep_ended = configuration_.duration("keep.sessions");
  options.keep_records = configuration_.duration("keep.records");
  options.record_bytes_max = static_cast<std::int64_t>(configuration_.bytes("keep.record_bytes"));
  options.ceilings = TRY(ceilings_of(configuration_, data_));
  options.keeping = TRY(keeping_of(configuration_));
  options.ports = configuration_.boolean("ports.public") ? session::Ports::open : session::Ports::closed;
  service_ = std::make_unique<session::LocalService>(std::move(dependencies), std::move(options));
  authorized_ = std::make_unique<session::AuthorizedService>(*service_);
  audited_ = std::make_unique<session::audited::AuditedService>(loop_.get_executor(), *authorized_,
                                                                auditing_->log());
  trail_ = std::make_unique<api::AuditTrail>(auditing_->log());
  admission_ = std::make_unique<api::Admission>(api::Admission::Dependencies{.keys = keys_.get(),
                                                                             .providers = &identities_,
                                                                             .tenants = tenants_.get(),
                                                                             .attempts = attempts_.get(),
                                                                             .proxies = &trusted_proxies_,
                                                                             .controller = quotas_.get(),
                                                                             .service = audited_.get(),
                                                                             .volumes = volumes_.get()});
  admission_->set_trail(trail_.get());
  end_on_revocation();
  return {};
}

Result<void> Daemon::build_tools() {
  tools_ = TRY(tools::ToolRegistry::open(registry_.get()));
  tools::ToolExecutor::Options options;
  options.plugin_directories = configuration_.list("tools.plugins");
  options.plugin_host = data_ + "/plugin-host";
  options.workers = lookers_.get();
  // What a call ran inside is told by the session service; the call itself, by whoever made it.
  options.on_finished = [this](const session::ExecutionRecord& record) {
    if (const auto session = service_->peek(record.session_id)) indexing_->finished(*session, record, {});
  };
  tool_executor_ = std::make_unique<tools::ToolExecutor>(loop_.get_executor(), audited_.get(), tools_.get(),
                                                         &Clock::machine(), std::move(options));
  telemetry_->watch(*tool_executor_);
  indexing_->watch(*registry_, *tools_, *skills_);
  return {};
}

// A session of a path is as the caller wrote it: an id of a session or of its sandbox.
static log::Subject whose(const net::Request& request) {
  log::Subject about;
  if (!request.grant) return about;
  const api::Grant& grant = api::grant_of(request);
  about.tenant = grant.who.tenant;
  if (grant.session)
    about.session_id = grant.session->session_id;
  else if (request.path.starts_with("/api/sessions/"))
    about.session_id = request.param("id");
  return about;
}

Result<void> Daemon::set_access_sink() {
  net::AccessSink log_line;
  if (const std::string& target = configuration_.text("log.access"); !target.empty()) {
    log_line = TRY(net::open_access_log(loop_.get_executor(), target));
  }
  server_->set_subject_of(whose);
  server_->set_access_sink([this, log_line = std::move(log_line)](const net::Access& access) {
    telemetry_->metrics().served(access);
    if (log_line) log_line(access);
  });
  return {};
}

void Daemon::mount_rest(const std::string& address) {
  api::rest::Dependencies dependencies;
  dependencies.executor = loop_.get_executor();
  dependencies.service = audited_.get();
  dependencies.admission = admission_.get();
  dependencies.metrics = &telemetry_->metrics();
  dependencies.events = &telemetry_->events();
  dependencies.followers = &telemetry_->followers();
  dependencies.health = &telemetry_->health();
  dependencies.index = &indexing_->index();
  dependencies.refresh_index = [this](const std::string& tenant) { return indexing_->refresher(tenant); };
  dependencies.catch_up_index = [this] { indexing_->catch_up(); };
  dependencies.data = data_;
  dependencies.tools = tools_.get();
  dependencies.tool_executor = tool_executor_.get();
  dependencies.registry = registry_.get();
  dependencies.tenant_entries = tenant_entries_.get();
  dependencies.skills = skills_.get();
  dependencies.inventory = inventory_.get();
  dependencies.workers = lookers_.get();
  // Who asked for it is in the entry of the route.
  dependencies.reload = [this] { return read_registry_again(); };
  std::string domain = configuration_.text("e2b.domain");
  if (domain.empty()) {
    const auto colon = address.rfind(':');
    domain = "localhost" +
             (address.starts_with("http") && colon != std::string::npos ? address.substr(colon) : "");
  }
  dependencies.sandbox_url = "http://{port}-{sandbox_id}." + domain;
  dependencies.spool_directory = data_;
  api::rest::mount(server_->router(), std::move(dependencies));
}

// Sandbox hosts are https for E2B's clients, so the TLS listener names them where there is one.
void Daemon::mount_e2b(std::vector<std::string> addresses) {
  std::string domain = configuration_.text("e2b.domain");
  if (domain.empty()) {
    const std::string& address = addresses.back();
    domain = "e2b.localhost" + (address.starts_with("http") ? address.substr(address.rfind(':')) : "");
  }
  e2b_ = std::make_unique<api::e2b::Dialect>(api::e2b::Context{
      loop_.get_executor(), *audited_, *admission_, *keys_, *store_, *volumes_, *vault_, Clock::machine(),
      [domain] { return domain; }, data_ + "/e2b", stored_bounds_of(configuration_), inventory_.get(),
      [this](net::Exchange& exchange, const session::Session& session) {
        return mcp_->serve_sandbox(exchange, session);
      }});
  e2b_->mount(*server_);
}

boost::asio::awaitable<void> Daemon::refresh_keys() {
  constexpr std::chrono::seconds kEvery(2);
  boost::asio::steady_timer timer(loop_);
  while (!stopping_) {
    timer.expires_after(kEvery);
    boost::system::error_code ignored;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    if (stopping_) co_return;
    co_await reread();
    co_await remove_tenants();
  }
}

boost::asio::awaitable<void> Daemon::watch_registry() {
  constexpr std::chrono::seconds kEvery(1);
  boost::asio::steady_timer timer(loop_);
  while (!stopping_) {
    timer.expires_after(kEvery);
    boost::system::error_code ignored;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    if (stopping_ || (!registry_->is_outdated() && !roles_->is_outdated(roles_directory()))) continue;
    if (auto done = reload(); !done)
      log::error("the registry changed and cannot be used; what was there stays",
                 {{"error", done.error().message()}});
  }
}

void Daemon::mount_basics() {
  net::Router& router = server_->router();
  router.add(net::Method::get, "/health", admission_->rule(api::for_anybody()),
             [](net::Request& request) -> Task<net::Response> {
               // E2B's clients name themselves, and their service has nothing to add.
               const bool brief = request.headers.get("User-Agent").starts_with("e2b-");
               net::Response response =
                   brief ? net::Response::empty(204) : net::Response::json(200, R"({"status":"ok"})");
               response.headers.add("Cache-Control", "no-store");
               co_return response;
             });
  router.add(net::Method::get, "/version", admission_->rule(api::for_anybody()),
             [](net::Request&) -> Task<net::Response> {
               co_return net::Response::json(200, R"({"name":"atoll","version":")" ATOLL_VERSION R"("})");
             });
}

// The key that is made at the first start is shown once on the terminal, to the person who started the
// service.
Task<Daemon::Key> Daemon::check_key() {
  CO_CHECK(co_await keys_->reload());
  const std::string& preset = configuration_.text("api_key");
  const bool is_first = keys_->empty();
  if (preset.empty() && !is_first) co_return Key::there;
  for (const char* setting : {"listen", "tls.listen"}) {
    const std::string& address = configuration_.text(setting);
    if (!preset.empty() || address.empty() || is_local(address)) continue;
    co_return fail(
        Error(Code::invalid_argument,
              "listening beyond this machine needs a key first: make one with 'atoll keys create' or "
              "give one as api_key, got " +
                  address)
            .with_field(setting));
  }
  if (preset.empty()) co_return Key::wanted;
  CO_TRY(const auto created, co_await keys_->create(auth::kDefaultTenant, "preset", preset));
  auditing_->tell("key.preset", created.row.key_id, created.row.tenant);
  co_return Key::there;
}

Result<std::vector<std::string>> Daemon::listen() {
  std::vector<std::string> addresses;
  std::string plain = TRY(server_->listen(configuration_.text("listen")));
  addresses.push_back(plain.starts_with("unix:") ? plain : "http://" + plain);
  const std::string& secure = configuration_.text("tls.listen");
  if (!secure.empty()) {
    net::Certificate certificate =
        TRY(load_certificate(data_, configuration_.text("tls.certificate"), configuration_.text("tls.key")));
    if (const std::string& path = configuration_.text("auth.mtls.ca"); !path.empty())
      certificate.client_ca_pem = TRY(config::read_input(path, 1U << 20));
    std::shared_ptr<net::TlsContext> context = TRY(net::TlsContext::make(certificate));
    std::string address = TRY(server_->listen(secure, context));
    addresses.push_back("https://" + address);
  }
  return addresses;
}

Task<Ready> Daemon::start() {
  Ready ready;
  CO_CHECK(co_await tenants_->reload());
  CO_CHECK(co_await quotas_->start());
  CO_CHECK(co_await tenant_entries_->load());
  if (storage_plugins_) CO_CHECK(co_await storage_plugins_->start());
  CO_CHECK(co_await service_->start());
  audited_->tell_adopted();
  CO_TRY(const Key key, co_await check_key());
  CO_TRY(ready.addresses, listen());
  // Nothing is served before this coroutine waits again.
  mount_rest(ready.addresses.front());
  mount_governance();
  mount_e2b(ready.addresses);
  CO_CHECK(mount_mcp());
  // Only after all addresses could be opened: otherwise a failed start would make a key that nobody ever
  // sees. Until then every key is refused.
  if (key == Key::wanted) {
    CO_TRY(auto created, co_await keys_->create("default", "first", ""));
    auditing_->tell("key.create", created.row.key_id, created.row.tenant);
    ready.new_key = std::move(created.key);
  }
  LocalAccess access{ready.addresses.front(), auth::new_key()};
  keys_->set_local_key(access.key);
  CO_CHECK(write_local_access(data_, access));
  boost::asio::co_spawn(loop_, refresh_keys(), boost::asio::detached);
  telemetry_->start(loop_);
  if (configuration_.boolean("registry_watch"))
    boost::asio::co_spawn(loop_, watch_registry(), boost::asio::detached);
  co_return ready;
}

boost::asio::awaitable<void> Daemon::stop() {
  stopping_ = true;
  telemetry_->stop();
  remove_local_access(data_);
  if (mcp_) mcp_->close();
  co_await server_->stop(configuration_.duration("http.stop_time"));
  if (auto ended = co_await service_->shut_down("the service was stopped"); !ended) {
    log::error("sessions could not be ended", {{"error", ended.error().message()}});
  }
  if (storage_plugins_) (void)co_await storage_plugins_->stop();
  for (const auto& provider : providers_) {
    if (auto down = co_await provider->shut_down(); !down) {
      log::error("a provider could not be shut down", {{"error", down.error().message()}});
    }
  }
  if (auto saved = co_await quotas_->save(); !saved)
    log::error("what was consumed could not be stored", {{"error", saved.error().message()}});
  workers_->join();
  lookers_->join();
  auditing_->close();
}

void Daemon::abandon() {
  for (const auto& provider : providers_) provider->abandon();
}

}  // namespace atl::daemon
