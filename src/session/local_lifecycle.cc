// Creating, pausing, ending.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <filesystem>

#include "base/ids.h"
#include "base/log.h"
#include "os/event.h"
#include "session/codec.h"
#include "session/local_service.h"
#include "session/network.h"
#include "session/retry.h"

namespace atl::session {
namespace {

constexpr std::size_t kMapEntriesMax = 256;
constexpr std::size_t kMapBytesMax = 64U << 10;
constexpr std::size_t kSecretBytes = 20;

Result<void> check_map(const TextMap& map, std::string_view field) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : map) bytes += key.size() + value.size();
  if (map.size() > kMapEntriesMax || bytes > kMapBytesMax) {
    return fail(Error(Code::too_large, fmt::format("{} holds at most {} entries and {} bytes", field,
                                                   kMapEntriesMax, kMapBytesMax))
                    .with_field(std::string(field)));
  }
  return {};
}

Result<void> check_env(const TextMap& env) {
  for (const auto& [name, value] : env) {
    const bool good = !name.empty() && name.find('=') == std::string::npos &&
                      name.find('\0') == std::string::npos && value.find('\0') == std::string::npos;
    if (!good) {
      return fail(Error(Code::invalid_argument, "a variable has a name without '=', and no NUL byte")
                      .with_field("env"));
    }
  }
  return check_map(env, "env");
}

template <class T>
void merge(std::optional<T>& into, const std::optional<T>& from) {
  if (from) into = from;
}

void merge(registry::LimitsPatch& into, const registry::LimitsPatch& from) {
  merge(into.memory_bytes, from.memory_bytes);
  merge(into.cpu_cores, from.cpu_cores);
  merge(into.wall_time, from.wall_time);
  merge(into.cpu_time, from.cpu_time);
  merge(into.processes_max, from.processes_max);
  merge(into.disk_bytes, from.disk_bytes);
  merge(into.inodes_max, from.inodes_max);
  merge(into.open_files_max, from.open_files_max);
  merge(into.output_bytes, from.output_bytes);
  merge(into.io_bytes_per_second, from.io_bytes_per_second);
}

Result<void> check_volumes(const TextMap& volumes) {
  for (const auto& [path, name] : volumes) {
    const bool good = path.size() > 1 && path.starts_with('/') && path.find("..") == std::string::npos &&
                      path.find('\0') == std::string::npos;
    if (!good) {
      return fail(Error(Code::invalid_argument, fmt::format("volume '{}' needs an absolute path inside", name))
                      .with_field("volumes"));
    }
  }
  return check_map(volumes, "volumes");
}

void fill_in(const LocalRequest& from, sandbox::Spec& spec) {
  spec.host_mounts = from.host_mounts;
  spec.required_walls = from.required_walls;
  if (from.layers) spec.layers = *from.layers, spec.trusted_layers = false;
  if (from.hostname) spec.hostname = *from.hostname;
  if (from.user) spec.user = *from.user;
  if (from.working_directory) spec.working_directory = *from.working_directory;
  if (from.sudo) spec.sudo = *from.sudo;
}

// What goes wrong while a sandbox is made, in terms of whoever asked for one.
Error for_caller(Error error, const LocalRequest& local) {
  const auto as = [&](Code code, std::string message) {
    return Error(code, std::move(message)).with_detail(error.detail());
  };
  // What ran out is the machine's, and nothing that this caller could give back.
  if (error.code() == Code::resource_exhausted) return as(Code::unavailable, error.message());
  // A file of ours that is missing or closed to us is no answer about what the caller named. Somebody on this
  // machine may have named directories.
  const bool is_ours = error.field().empty() && local.host_mounts.empty() && !local.layers &&
                       (error.code() == Code::not_found || error.code() == Code::permission_denied ||
                        error.code() == Code::already_exists || error.code() == Code::not_a_directory);
  if (is_ours) return as(Code::provider_failed, "make the sandbox: " + error.message());
  return error;
}

Error unknown(std::string_view what, const std::string& name, std::string field) {
  return Error(Code::invalid_argument, fmt::format("no {} is called '{}'", what, name))
      .with_field(std::move(field));
}

}  // namespace

sandbox::Provider* LocalService::provider_named(const std::string& name) const {
  for (sandbox::Provider* provider : parts_.providers) {
    if (provider->name() == name) return provider;
  }
  return nullptr;
}

void LocalService::give_secrets(Session& facts) {
  facts.secret = random_hex(kSecretBytes);
  facts.traffic_token = random_hex(kSecretBytes);
}

bool LocalService::complete_secrets(Session& facts) const {
  bool changed = false;
  for (std::string* secret : {&facts.secret, &facts.traffic_token}) {
    if (!secret->empty()) continue;
    *secret = random_hex(kSecretBytes);
    changed = true;
  }
  if (options_.ports == Ports::closed && facts.ports == Ports::open) {
    facts.ports = Ports::closed;
    changed = true;
  }
  return changed;
}

// A session that exists in memory only, in state creating, with everything decided but its sandbox.
Task<LocalService::LivePtr> LocalService::draft(const Principal& who, CreateRequest request) {
  const registry::Registry& registry = *parts_.registry;
  const registry::Agent* agent = nullptr;
  if (!request.agent.empty()) {
    agent = registry.agent(request.agent);
    if (agent == nullptr) co_return fail(unknown("agent", request.agent, "agent"));
  }
  const auto choose = [](const std::string& asked, const std::string& agents, const std::string& otherwise) {
    return !asked.empty() ? asked : !agents.empty() ? agents : otherwise;
  };
  auto live = std::make_shared<Live>(parts_.executor);
  Session& facts = live->facts;
  facts.agent = request.agent;
  facts.environment =
      choose(request.environment, agent ? agent->environment : "", options_.default_environment);
  const registry::Environment* environment = registry.environment(facts.environment);
  if (environment == nullptr) co_return fail(unknown("environment", facts.environment, "environment"));
  CO_CHECK(registry::check_usable(*environment));
  facts.provider = choose(request.provider, agent ? agent->provider : "", options_.default_provider);
  live->provider = provider_named(facts.provider);
  if (live->provider == nullptr) co_return fail(unknown("provider", facts.provider, "provider"));
  facts.policy = choose(request.policy, agent ? agent->policy : "", environment->policy);
  if (registry.policies().find(facts.policy) == nullptr)
    co_return fail(unknown("policy", facts.policy, "policy"));
  facts.policy_mode = request.policy_mode;
  if (!request.skills.empty()) {
    co_return fail(Error(Code::invalid_argument, "there are no skills yet").with_field("skills"));
  }

  CO_CHECK(registry::check(request.limits, options_.ceilings));
  registry::LimitsPatch limits = agent ? agent->limits : registry::LimitsPatch{};
  merge(limits, request.limits);
  facts.limits = registry.sandbox_limits(*environment, limits);
  registry::clamp(facts.limits, options_.ceilings);
  facts.wall_time_set = limits.wall_time || environment->limits.wall_time;
  facts.network = request.network.value_or(agent && agent->network ? *agent->network : environment->network);
  if (request.network_if_possible && !live->provider->traits().network) {
    facts.network = sandbox::Network::none;
    request.egress = {};
  }
  if (facts.network != sandbox::Network::none && !live->provider->traits().network) {
    co_return fail(
        Error(Code::unsupported, fmt::format("provider {} lacks the trait 'network'", facts.provider))
            .with_field("network"));
  }
  facts.egress = std::move(request.egress);
  CO_CHECK(check_network(facts.network, facts.egress, parts_.outside));
  CO_CHECK(co_await check_proxy(facts.egress));
  facts.env = environment->env;
  if (agent) facts.env.insert(agent->env.begin(), agent->env.end());
  for (auto& [name, value] : request.env) facts.env.insert_or_assign(name, std::move(value));
  CO_CHECK(check_env(facts.env));
  CO_CHECK(check_map(request.metadata, "metadata"));
  facts.metadata = std::move(request.metadata);
  facts.attributes = std::move(request.attributes);

  give_secrets(facts);
  facts.data_plane = request.data_plane;
  facts.ports = options_.ports == Ports::closed ? Ports::closed : request.ports;

  CO_CHECK(check_volumes(request.volumes));
  facts.volumes = std::move(request.volumes);

  facts.session_id = new_session_id();
  facts.sandbox_id = new_sandbox_id();
  facts.tenant = who.tenant;
  facts.key_id = who.key_id;
  facts.created_at = facts.last_used_at = parts_.clock->now();
  live->last_used = parts_.clock->steady();
  facts.extend_on_use = request.extend_on_use;
  facts.on_expiry = request.on_expiry;
  facts.auto_resume = request.auto_resume;
  UpdateRequest first;
  first.ttl = request.ttl ? *request.ttl : agent && agent->ttl ? *agent->ttl : options_.default_ttl;
  CO_CHECK(apply(*live, first));
  live->incarnation = facts.sandbox_id;
  live->local = std::move(request.local);
  co_return live;
}

Task<std::vector<sandbox::HostMount>> LocalService::volume_mounts(const Session& facts) {
  std::vector<sandbox::HostMount> mounts;
  for (const auto& [path, name] : facts.volumes) {
    if (parts_.volumes == nullptr)
      co_return fail(Error(Code::unsupported, "this service keeps no volumes").with_field("volumes"));
    CO_TRY(const volume::Volume volume, co_await parts_.volumes->get(facts.tenant, name));
    CO_TRY(std::string directory, co_await parts_.volumes->mountable(volume));
    const auto ids = volume::Volumes::keeps_ids() ? sandbox::MountIds::inside : sandbox::MountIds::owner;
    mounts.push_back({std::move(directory), path, true, ids});
  }
  co_return mounts;
}

// Asked of the guest together: each answer alone would cost two changes of processes.
Task<void> LocalService::furnish(LivePtr live) {
  using namespace boost::asio::experimental::awaitable_operators;
  auto make_output = [](std::shared_ptr<sandbox::Sandbox> in) -> Task<void> {
    std::string path(kOutputDirectory), user;
    auto made = co_await in->files().make_directory(std::move(path), std::move(user));
    // A user of an image may not be allowed to make it: what is not there holds no artifacts.
    if (!made && made.error().code() != Code::already_exists && made.error().code() != Code::permission_denied)
      co_return fail(std::move(made).error().context("make the output directory"));
    co_return Result<void>{};
  };
  auto open = [](LocalService* self, LivePtr to) -> Task<void> {
    CO_TRY(auto rules, compile_rules(to->facts.egress, self->parts_.outside));
    auto opened = co_await self->open_network(to, std::move(rules));
    if (!opened) co_return fail(std::move(opened).error().context("open the network"));
    co_return opened;
  };
  if (live->facts.network != sandbox::Network::egress) co_return co_await make_output(live->sandbox);
  auto [output, network] = co_await (make_output(live->sandbox) && open(this, live));
  CO_CHECK(std::move(output));
  co_return std::move(network);
}

Task<void> LocalService::build(LivePtr live, std::optional<std::string> from, Kernels kernels) {
  const registry::Environment* environment = parts_.registry->environment(live->facts.environment);
  if (environment == nullptr) co_return fail(unknown("environment", live->facts.environment, "environment"));
  CO_TRY(const auto volumes, co_await volume_mounts(live->facts));
  sandbox::Spec spec;
  spec.id = live->incarnation;
  // An emulated machine has no root filesystem to stack; where the host's view would do, so does its own.
  if (live->provider->traits().real_processes || !environment->host_fallback) {
    const std::string snapshot = from ? std::filesystem::path(*from).filename().string() : std::string();
    CO_TRY(LayerUse::Taken taken, layer_use_.take(live->incarnation, *environment, snapshot));
    spec.layers = std::move(taken.paths);
    spec.trusted_layers = !spec.layers.empty() && parts_.registry->ships(taken.recipe);
  }
  spec.snapshot = std::move(from);
  spec.with_kernels = kernels == Kernels::carried;
  spec.user = environment->user;
  spec.working_directory = environment->working_directory;
  spec.sudo = environment->sudo;
  // The host's view stands in without the environment's packages.
  if (!spec.layers.empty() || !environment->host_fallback) spec.preimport = environment->preimport;
  spec.network = live->facts.network;
  spec.limits = live->facts.limits;
  spec.env = live->facts.env;
  fill_in(live->local, spec);
  spec.host_mounts.insert(spec.host_mounts.end(), volumes.begin(), volumes.end());
  auto make = [live, spec = std::move(spec)]() -> Task<std::unique_ptr<sandbox::Sandbox>> {
    auto made = co_await live->provider->create(spec);
    if (!made) co_return fail(for_caller(std::move(made).error(), live->local));
    co_return std::move(*made);
  };
  auto go_on = [this] { return !ending_; };
  auto made = co_await with_retries<std::unique_ptr<sandbox::Sandbox>>(parts_.executor, "create a sandbox",
                                                                       std::move(make), go_on);
  if (!made) {
    layer_use_.end_sandbox(live->incarnation);
    co_return fail(std::move(made).error());
  }
  live->sandbox = std::move(*made);
  live->facts.isolation = live->sandbox->isolation();
  live->facts.left_behind = live->sandbox->revival().left_behind;
  find_default_kernels(*live, kernels == Kernels::carried ? "it could not be brought here"
                                                          : "only files were brought here");
  live->outputs_seen.clear();
  live->proxy.reset();
  live->trusts_authority = false;
  live->output_empty_since.reset();
  if (auto furnished = co_await furnish(live); !furnished) {
    CO_CHECK(co_await live->sandbox->stop());
    live->sandbox.reset();
    co_return fail(for_caller(std::move(furnished).error(), live->local));
  }
  boost::asio::co_spawn(parts_.executor, watch_end(live, live->sandbox), boost::asio::detached);
  co_return Result<void>{};
}

void LocalService::find_default_kernels(Live& live, const std::string& why_lost) {
  live.default_kernels.clear(), live.restarted_kernels.clear();
  const auto kernels = live.sandbox->kernels();
  for (const auto& [word, id] : std::exchange(live.facts.default_contexts, {})) {
    const auto language = sandbox::parse_language(word);
    if (!language) continue;
    const auto found = std::ranges::find(kernels, id, [](const auto& kernel) { return kernel->info().id; });
    if (found != kernels.end()) {
      live.default_kernels[*language] = *found;
      live.facts.default_contexts.emplace(word, id);
      continue;
    }
    const auto named = std::ranges::find_if(live.facts.left_behind, [&id = id](const std::string& what) {
      return what.find(id) != std::string::npos;
    });
    live.lost_kernels[*language] = named == live.facts.left_behind.end() ? why_lost : *named;
  }
}

Result<void> LocalService::admit(const std::string& tenant, const Live* one) const {
  // No more sandboxes stand than sessions live: mostly nothing needs to be counted.
  const bool has_room = options_.sandboxes_max == 0 || live_.size() < options_.sandboxes_max;
  if (options_.running_per_tenant == 0 && has_room) return {};
  std::size_t running = 0, standing = 0;
  for (const auto& [id, live] : live_) {
    if (live.get() == one) continue;
    const bool runs =
        live->facts.state == State::creating || live->facts.state == State::running || live->waking;
    running += runs && live->facts.tenant == tenant ? 1 : 0;
    standing += runs || live->sandbox ? 1 : 0;
  }
  if (options_.running_per_tenant > 0 && running >= options_.running_per_tenant)
    return fail(Code::resource_exhausted,
                fmt::format("{} sessions run, and no more may at once: end or pause one", running));
  // What is paused in memory stands already.
  const bool stands = one != nullptr && one->sandbox;
  if (options_.sandboxes_max > 0 && !stands && standing >= options_.sandboxes_max)
    return fail(Code::unavailable, "this machine has no room for another sandbox; try again later");
  return {};
}

// From a draft to a session that answers, or to nothing at all.
Task<Session> LocalService::bring_up(LivePtr live, std::optional<std::string> from, Kernels kernels) {
  const SteadyTime started = parts_.clock->steady();
  if (ending_) co_return fail(Code::unavailable, "the service is ending");
  if (auto admitted = admit(live->facts.tenant, nullptr); !admitted) {
    if (parts_.observer != nullptr)
      parts_.observer->create_failed(live->facts.provider, admitted.error().code());
    co_return fail(std::move(admitted).error());
  }
  live_[live->facts.session_id] = live;
  by_sandbox_[live->facts.sandbox_id] = live;
  if (parts_.observer != nullptr) parts_.observer->changed(live->facts, State::creating, State::creating);
  CO_TRY(auto hold, co_await live->lifecycle.take());
  Result<void> built = co_await build(live, std::move(from), kernels);
  if (built) {
    // Lists go by the order in which sessions are stored, and so do these times.
    live->facts.created_at = live->facts.last_used_at = parts_.clock->now();
    live->last_used = parts_.clock->steady();
    enter(live, State::running, "");
    built = co_await save(live);
    if (!built) {
      auto stopped = co_await live->sandbox->stop();
      enter(live, State::lost, "it could not be stored");
    }
  } else {
    enter(live, State::failed, built.error().message());
    auto saved = co_await save(live);
    if (!saved) log::warn("a failed session could not be stored", {{"error", saved.error().message()}});
  }
  if (!built) {
    forget(live);
    if (parts_.observer != nullptr)
      parts_.observer->create_failed(live->facts.provider, built.error().code());
    co_return fail(std::move(built).error().context("create session"));
  }
  live->next_sample = parts_.clock->steady();
  if (parts_.observer != nullptr) parts_.observer->created(live->facts, parts_.clock->steady() - started);
  co_return live->facts;
}

Task<Session> LocalService::create(Principal who, CreateRequest request) {
  std::optional<std::string> from;
  std::string snapshot_id;
  if (!request.snapshot.empty()) {
    Principal owner = who;
    if (!request.snapshot_tenant.empty()) owner.tenant = request.snapshot_tenant;
    CO_TRY(const Snapshot source, co_await get_snapshot(std::move(owner), request.snapshot));
    if (request.provider.empty()) request.provider = source.provider;
    if (request.environment.empty()) request.environment = source.environment;
    if (request.provider != source.provider) {
      co_return fail(Error(Code::invalid_argument,
                           fmt::format("snapshot {} is of provider {}", source.snapshot_id, source.provider))
                         .with_field("provider"));
    }
    snapshot_id = source.snapshot_id;
    from = snapshot_path(snapshot_id);
  }
  CO_TRY(LivePtr live, co_await draft(who, std::move(request)));
  live->facts.snapshot = std::move(snapshot_id);
  co_return co_await bring_up(std::move(live), std::move(from));
}

Task<Session> LocalService::pause(Principal who, std::string id, PauseRequest request) {
  CO_TRY(LivePtr found, co_await live(std::move(who), id));
  CO_TRY(auto hold, co_await found->lifecycle.take());
  if (found->facts.state != State::running) {
    co_return fail(Code::conflict, fmt::format("session {} is {}", id, to_string(found->facts.state)));
  }
  if (!found->provider->traits().pause) {
    co_return fail(Code::unsupported,
                   fmt::format("provider {} lacks the trait 'pause'", found->facts.provider));
  }
  CO_CHECK(co_await pause_held(found, request));
  co_return found->facts;
}

Task<void> LocalService::pause_held(LivePtr live, PauseRequest request) {
  const During pausing(live->facts.pausing);
  if (request.on_disk) co_return co_await hibernate_held(live, request, "by request, on disk");
  CO_CHECK(co_await pause_sandbox(live));
  if (live->facts.state != State::running) {
    co_return fail(Code::conflict,
                   fmt::format("session {} is {}", live->facts.session_id, to_string(live->facts.state)));
  }
  enter(live, State::paused, kByRequest);
  co_return co_await save(live);
}

Task<void> LocalService::pause_sandbox(LivePtr live) {
  auto call = [in = live->sandbox] { return in->pause(); };
  auto go_on = [live, in = live->sandbox] { return live->sandbox == in; };
  return with_retries<void>(parts_.executor, "pause a sandbox", std::move(call), std::move(go_on));
}

Task<void> LocalService::resume_held(LivePtr live) {
  CO_CHECK(admit(live->facts.tenant, live.get()));
  const During waking(live->waking);
  const std::string woken = live->facts.hibernation, older = live->facts.snapshot;
  if (woken.empty()) {
    auto call = [in = live->sandbox] { return in->resume(); };
    auto go_on = [live, in = live->sandbox] { return live->sandbox == in; };
    CO_CHECK(co_await with_retries<void>(parts_.executor, "resume a sandbox", std::move(call), std::move(go_on)));
    CO_CHECK(co_await reopen_network(live));
  } else {
    CO_CHECK(co_await wake_held(live));
  }
  enter(live, State::running, "");
  set_end(*live, live->facts.ttl, false);
  live->facts.last_used_at = parts_.clock->now();
  live->last_used = parts_.clock->steady();
  CO_CHECK(co_await save(live));
  if (woken.empty()) co_return Result<void>();
  // Read by now, and as large as the kernels are.
  live->provider->discard_kernels(snapshot_path(woken));
  if (older != woken) discard_states(*live, {older});
  co_return Result<void>();
}

Task<Session> LocalService::resume(Principal who, std::string id,
                                   std::optional<std::chrono::milliseconds> ttl) {
  CO_TRY(LivePtr found, co_await live(std::move(who), id));
  CO_TRY(auto hold, co_await found->lifecycle.take());
  if (found->facts.state == State::running) co_return found->facts;
  if (found->facts.state != State::paused) {
    co_return fail(Code::conflict, fmt::format("session {} is {}", id, to_string(found->facts.state)));
  }
  UpdateRequest change;
  change.ttl = ttl;
  CO_CHECK(apply(*found, change));
  CO_CHECK(co_await resume_held(found));
  co_return found->facts;
}

// The end is true even when it cannot be stored at once (the disk is full, say): the sandbox is gone either way. Until it is
// stored the session stays in memory, so that nobody is told by the store that it runs.
Task<void> LocalService::stop_held(LivePtr live, State end, std::string reason) {
  if (is_final(live->facts.state)) co_return Result<void>{};
  if (end == State::stopped) enter(live, State::stopping, reason);
  const std::shared_ptr<sandbox::Sandbox> sandbox = live->sandbox;
  Result<void> stopped{};
  if (sandbox) stopped = co_await sandbox->stop();
  if (!stopped) {
    log::error("a sandbox did not end cleanly",
               {{"session", live->facts.session_id}, {"error", stopped.error().message()}});
    reason += reason.empty() ? "" : "; ";
    reason += "its sandbox did not end cleanly: " + stopped.error().message();
    end = State::lost;
  }
  enter(live, end, reason);
  live->default_kernels.clear();
  live->proxy.reset();
  live->sandbox.reset();
  layer_use_.end_sandbox(live->incarnation);
  discard_states(*live, {live->facts.snapshot, live->facts.hibernation});
  co_return co_await store_end(live);
}

Task<void> LocalService::store_end(LivePtr live) {
  auto saved = co_await save(live);
  if (saved) {
    forget(live);
    co_return Result<void>{};
  }
  live->unsaved = true;
  log::warn("the end of a session could not be stored and will be tried again",
            {{"session", live->facts.session_id}, {"error", saved.error().message()}});
  co_return Result<void>{};
}

Task<Session> LocalService::destroy(Principal who, std::string id) {
  LivePtr found = find(id);
  if (!found) co_return co_await stored(who, std::move(id));
  if (found->facts.tenant != who.tenant) co_return fail(Code::not_found, fmt::format("no session {}", id));
  CO_TRY(auto hold, co_await found->lifecycle.take());
  CO_CHECK(co_await stop_held(found, State::stopped, "by request"));
  co_return found->facts;
}

// Somebody else may have replaced the sandbox (restore) or ended it (destroy) meanwhile: then this end is no
// news.
boost::asio::awaitable<void> LocalService::watch_end(LivePtr live,
                                                     std::shared_ptr<sandbox::Sandbox> sandbox) {
  auto why = co_await sandbox->ended();
  if (live->sandbox != sandbox || live->facts.state == State::stopping || is_final(live->facts.state))
    co_return;
  auto hold = co_await live->lifecycle.take();
  if (!hold || live->sandbox != sandbox || is_final(live->facts.state)) co_return;
  const std::string reason = "its sandbox ended: " + (why ? *why : why.error().message());
  log::warn("a sandbox ended by itself", {{"session", live->facts.session_id}, {"reason", reason}});
  if (auto ended = co_await stop_held(live, State::lost, reason); !ended) {
    log::error("a lost session could not be stored", {{"error", ended.error().message()}});
  }
}

// All at once: each waits for its own processes to be gone, and none for another's.
Task<void> LocalService::shut_down(std::string reason) {
  ending_ = true;
  clockwork_.cancel();
  std::vector<LivePtr> all;
  // Those that are on the disk go on with the next service.
  for (const auto& [id, live] : live_)
    if (live->facts.hibernation.empty()) all.push_back(live);
  auto left = std::make_shared<std::size_t>(all.size());
  auto changed = std::make_shared<os::Event>(parts_.executor);
  for (const LivePtr& live : all) {
    boost::asio::co_spawn(parts_.executor, end_for_good(live, reason),
                          [left, changed](const std::exception_ptr&, const Result<void>&) {
                            if (--*left == 0) changed->notify();
                          });
  }
  while (*left > 0) CO_CHECK(co_await changed->wait());
  co_return Result<void>{};
}

Task<void> LocalService::end_for_good(LivePtr live, std::string reason) {
  CO_TRY(auto hold, co_await live->lifecycle.take());
  if (is_final(live->facts.state)) co_return co_await store_end(live);
  if (live->facts.state == State::paused) {
    const auto kept = co_await keep_paused(live);
    if (kept) co_return Result<void>{};
    log::warn("a paused session could not be kept and ends",
              {{"session", live->facts.session_id}, {"error", kept.error().message()}});
  }
  if (auto ended = co_await stop_held(live, State::stopped, std::move(reason)); !ended) {
    log::error("a session could not be ended", {{"error", ended.error().message()}});
  }
  co_return Result<void>{};
}

}  // namespace atl::session
