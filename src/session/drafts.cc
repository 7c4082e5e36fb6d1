#include "session/drafts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/ids.h"
#include "registry/provider_wishes.h"
#include "session/environment_choice.h"

namespace atl::session {
namespace {

constexpr std::size_t kSecretBytes = 20;

// What is mounted over these would take a sandbox its devices, its users or its programs.
bool is_systems_own(const std::string& path) {
  const std::string plain = std::filesystem::path(path + "/").lexically_normal().string();
  constexpr std::string_view kTrees[] = {"/proc/", "/sys/", "/dev/"};
  constexpr std::string_view kPlaces[] = {"/",       "/bin/", "/etc/",  "/lib/",
                                          "/lib64/", "/run/", "/sbin/", "/usr/"};
  return std::ranges::any_of(kTrees, [&](std::string_view tree) { return plain.starts_with(tree); }) ||
         std::ranges::find(kPlaces, plain) != std::end(kPlaces);
}

Result<void> check_volumes(const TextMap& volumes) {
  for (const auto& [path, name] : volumes) {
    const bool good = path.size() > 1 && path.starts_with('/') && path.find("..") == std::string::npos &&
                      path.find('\0') == std::string::npos;
    if (!good) {
      return fail(
          Error(Code::invalid_argument, fmt::format("volume '{}' needs an absolute path inside", name))
              .with_field("volumes"));
    }
    if (is_systems_own(path))
      return fail(Error(Code::invalid_argument,
                        fmt::format("volume '{}' cannot be mounted at '{}', which the sandbox itself needs: "
                                    "name another directory",
                                    name, path))
                      .with_field("volumes"));
  }
  return check_map(volumes, "volumes");
}

Error unknown_name(std::string_view what, const std::string& name) {
  return Error(Code::invalid_argument, fmt::format("no {} is called '{}'", what, name))
      .with_field(std::string(what));
}

// Whether a provider has walls of these names, it says itself.
Result<void> check_walls(const std::vector<std::string>& names) {
  constexpr std::size_t kNamesMax = 32, kLengthMax = 64;
  const auto wrong = [](const std::string& problem) {
    return fail(Error(Code::invalid_argument,
                      problem + ": name walls as the isolation of a session does, such as \"memory_limit\"")
                    .with_field("required_walls"));
  };
  if (names.size() > kNamesMax) return wrong(fmt::format("more than {} walls are required", kNamesMax));
  const auto is_part = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  for (const std::string& name : names)
    if (name.empty() || name.size() > kLengthMax || !std::ranges::all_of(name, is_part))
      return wrong("an entry of 'required_walls' is no name of a wall");
  return {};
}

void give_secrets(Session& facts) {
  facts.secret = random_hex(kSecretBytes);
  facts.traffic_token = random_hex(kSecretBytes);
}

// The first that is not empty: what was asked for, what the agent names, the default.
std::string first_of(const std::string& asked, const std::string& agents, const std::string& otherwise) {
  return !asked.empty() ? asked : !agents.empty() ? agents : otherwise;
}

constexpr const char* kAuto = "auto";

// Empty: it works.
std::string why_it_does_not_work(const Providers& providers, const std::string& name) {
  const auto found = require_provider(providers, name);
  return found ? "" : found.error().message();
}

Result<sandbox::Provider*> use_provider(const Providers& providers, const std::string& name, Session& facts) {
  sandbox::Provider* const found = TRY(require_provider(providers, name));
  facts.provider = found->name();
  return found;
}

// A policy may be there to keep hostile code behind certain walls: no request, agent, environment, rule or
// fallback leads to others.
Result<sandbox::Provider*> demanded_by(const std::string& policy, const Providers& providers,
                                       const std::string& name, const std::string& asked, Session& facts) {
  if (!asked.empty() && asked != kAuto && asked != name)
    return fail(Error(Code::permission_denied,
                      fmt::format("policy {} demands the provider {}, not {}: name that one or none, or "
                                  "another policy",
                                  policy, name, asked))
                    .with_field("provider"));
  auto found = use_provider(providers, name, facts);
  if (!found)
    return fail(
        std::move(found).error().context(fmt::format("policy {} demands the provider {}", policy, name)));
  facts.provider_reason = fmt::format("policy {} demands it", policy);
  return found;
}

Result<sandbox::Provider*> with_fallback(const Providers& providers, std::string name,
                                         const std::vector<std::string>& fallback, Session& facts) {
  auto found = use_provider(providers, name, facts);
  for (const std::string& next : fallback) {
    if (found) break;
    // A name that no provider has is a mistake, which a fallback must not hide.
    if (found.error().code() == Code::invalid_argument) break;
    std::string why = fmt::format("fallback: {}", found.error().message());
    found = use_provider(providers, next, facts);
    facts.provider_reason = std::move(why);
  }
  return found;
}

}  // namespace

bool Drafts::complete_secrets(Session& facts) const {
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

// What the rules of "auto" look at. The environment may be one that the registry does not know.
Situation Drafts::situation_of(const CreateRequest& request, const registry::Agent& agent,
                               const std::string& environment, const std::string& tenant) const {
  Situation situation;
  const std::string name = environment.empty() ? options_.default_environment : environment;
  const registry::Environment* const declared = dependencies_.registry->environment(name);
  situation.environment = environment.empty() && !request.image.empty() ? request.image : name;
  situation.image = !request.image.empty() || (declared != nullptr && is_only_image(*declared));
  if (declared != nullptr && declared->default_language)
    situation.language = to_string(*declared->default_language);
  situation.policy =
      first_of(request.policy, agent.policy, declared != nullptr ? declared->policy : "standard");
  situation.tenant = tenant;
  situation.load = machine_load();
  return situation;
}

// A name that nobody gave, "auto" or an image leaves the choice to us.
Result<sandbox::Provider*> Drafts::choose_provider(const CreateRequest& request, const registry::Agent& agent,
                                                   const std::string& environment, const std::string& tenant,
                                                   Session& facts) const {
  const Providers& providers = dependencies_.providers;
  std::string name = first_of(request.provider, agent.provider, "");
  const Situation situation = situation_of(request, agent, environment, tenant);
  const registry::Registry& registry = *dependencies_.registry;
  if (const std::string demanded = demanded_provider(registry, situation.policy); !demanded.empty())
    return demanded_by(situation.policy, providers, demanded, name, facts);
  const bool is_open = name.empty() || name == kAuto;
  const std::string preferred = is_open ? preferred_provider(registry, situation.environment) : "";
  std::string passed_over;
  if (!preferred.empty()) {
    const std::string why_not = why_it_does_not_work(providers, preferred);
    if (why_not.empty()) {
      facts.provider_reason = fmt::format("the environment {} prefers it", situation.environment);
      return use_provider(providers, preferred, facts);
    }
    passed_over = fmt::format("the environment {} prefers {}: {}", situation.environment, preferred, why_not);
  }
  if (name.empty() && situation.image) {
    name = "docker";
    facts.provider_reason = "the sandbox is made from an image";
  }
  if (name.empty()) name = options_.default_provider;
  if (name == kAuto) {
    const auto why_not = [&](const std::string& one) { return why_it_does_not_work(providers, one); };
    ProviderDecision decision = TRY(options_.provider_rules.choose(situation, why_not));
    name = std::move(decision.provider);
    facts.provider_reason = std::move(decision.reason);
  }
  if (!passed_over.empty())
    facts.provider_reason += (facts.provider_reason.empty() ? "" : "; ") + passed_over;
  return with_fallback(providers, std::move(name), request.fallback, facts);
}

Result<Drafts::Choice> Drafts::choose(const CreateRequest& request, const std::string& tenant,
                                      Session& facts) const {
  const registry::Registry& registry = *dependencies_.registry;
  static const registry::Agent nobody;
  Choice choice;
  if (!request.agent.empty()) {
    const registry::Agent* named = registry.agent(request.agent, facts.tenant);
    if (named == nullptr) return fail(unknown_name("agent", request.agent));
    choice.agent = *named;
    facts.agent = named->name;
  }
  facts.registry_version = registry.version();
  const registry::Agent& agent = choice.agent ? *choice.agent : nobody;
  const std::string wanted = first_of(request.environment, agent.environment, "");
  choice.provider = TRY(choose_provider(request, agent, wanted, tenant, facts));
  choice.environment = TRY(choose_environment(registry, choice.provider->traits(), wanted, request.image,
                                              options_.default_environment, facts));
  facts.policy = first_of(request.policy, agent.policy, choice.environment->policy);
  if (registry.policies().find(facts.policy) == nullptr) return fail(unknown_name("policy", facts.policy));
  // What the choice was made for may have been another policy than the environment has in the end.
  const std::string demanded = demanded_provider(registry, facts.policy);
  if (!demanded.empty() && demanded != facts.provider)
    TRY(demanded_by(facts.policy, dependencies_.providers, demanded, facts.provider, facts));
  facts.policy_mode = request.policy_mode;
  return choice;
}

Task<void> Drafts::set_toolkit(const CreateRequest& request, const Choice& choice, Session& facts) const {
  static const registry::Agent nobody;
  const registry::Agent& agent = choice.agent ? *choice.agent : nobody;
  facts.tools = agent.tools;
  facts.prompt = agent.prompt;
  facts.storage = first_of(request.storage, agent.storage, std::string());
  if (!facts.storage.empty())
    CO_CHECK(choice.provider->check_storage({facts.storage, facts.tenant, facts.session_id}));
  if (dependencies_.skills == nullptr || !dependencies_.skills->are_there()) {
    if (request.skills.empty()) co_return Result<void>();
    co_return fail(Error(Code::invalid_argument, "this service has no skills").with_field("skills"));
  }
  std::vector<std::string> names = request.skills.empty() ? agent.skills : request.skills;
  if (names.empty()) co_return Result<void>();
  auto look = [skills = dependencies_.skills, tenant = facts.tenant, of = facts.agent,
               names = std::move(names)] { return skills->choose(tenant, of, names); };
  CO_TRY(facts.skills,
         co_await dependencies_.skills->off_loop<std::vector<SkillUse>>(facts.tenant, std::move(look)));
  if (facts.skills.empty()) co_return Result<void>();
  // Each is mounted twice, and a sandbox has room for 64 mounts.
  constexpr std::size_t kMountedMax = 30;
  const bool is_mounted = choice.provider->traits().mounts && facts.skills.size() <= kMountedMax;
  facts.skill_view = is_mounted ? SkillView::link : SkillView::copy;
  // An image decides about the directory; SessionLifecycle tells those sandboxes when they are there.
  if (!choice.provider->traits().images)
    SessionSkills::add_variables(
        request.local.working_directory.value_or(choice.environment->working_directory), facts.env);
  co_return Result<void>();
}

Result<void> Drafts::set_limits(const CreateRequest& request, const Choice& choice, Session& facts) const {
  TRY(registry::check(request.limits, options_.ceilings));
  registry::LimitsPatch limits = choice.agent ? choice.agent->limits : registry::LimitsPatch{};
  registry::merge(request.limits, limits);
  facts.limits = dependencies_.registry->sandbox_limits(*choice.environment, limits);
  registry::clamp(facts.limits, options_.ceilings);
  facts.wall_time_set = limits.wall_time || choice.environment->limits.wall_time;
  return {};
}

Task<void> Drafts::set_network(CreateRequest& request, const Choice& choice, Session& facts) const {
  const bool has_network = choice.provider->traits().network;
  const auto usual =
      choice.agent && choice.agent->network ? *choice.agent->network : choice.environment->network;
  facts.network = request.network.value_or(usual);
  if (!request.network && choice.agent) request.egress = choice.agent->egress;
  if (request.network_if_possible && !has_network) {
    facts.network = sandbox::Network::none;
    request.egress = {};
  }
  if (facts.network != sandbox::Network::none && !has_network) {
    co_return fail(
        Error(Code::unsupported, fmt::format("provider {} lacks the trait 'network'", facts.provider))
            .with_field("network"));
  }
  facts.egress = std::move(request.egress);
  co_return co_await dependencies_.networks->check(facts.network, facts.egress);
}

Result<void> Drafts::set_maps(CreateRequest& request, const Choice& choice, Session& facts) const {
  facts.env = choice.environment->env;
  if (choice.agent) facts.env.insert(choice.agent->env.begin(), choice.agent->env.end());
  for (auto& [name, value] : request.env) facts.env.insert_or_assign(name, std::move(value));
  TRY(check_env(facts.env));
  TRY(check_map(request.metadata, "metadata"));
  TRY(check_volumes(request.volumes));
  facts.metadata = std::move(request.metadata);
  facts.attributes = std::move(request.attributes);
  facts.volumes = std::move(request.volumes);
  return {};
}

Task<LivePtr> Drafts::create(Principal who, CreateRequest request) const {
  Session facts;
  facts.tenant = who.tenant;
  CO_TRY(const Choice choice, choose(request, who.tenant, facts));
  CO_CHECK(set_limits(request, choice, facts));
  CO_CHECK(co_await set_network(request, choice, facts));
  CO_CHECK(set_maps(request, choice, facts));
  CO_CHECK(co_await set_toolkit(request, choice, facts));
  give_secrets(facts);
  CO_CHECK(check_walls(request.required_walls));
  facts.required_walls = request.required_walls;
  facts.data_plane = request.data_plane;
  facts.ports = options_.ports == Ports::closed ? Ports::closed : request.ports;
  sandbox::Spec kind;
  kind.image = facts.image, kind.limits = facts.limits;
  facts.session_id = choice.provider->reserve_session(kind);
  if (facts.session_id.empty()) facts.session_id = new_session_id();
  facts.sandbox_id = new_sandbox_id();
  facts.key_id = who.key_id;
  facts.created_at = facts.last_used_at = dependencies_.clock->now();
  facts.extend_on_use = request.extend_on_use;
  facts.on_expiry = request.on_expiry;
  facts.auto_resume = request.auto_resume;
  UpdateRequest first;
  const bool has_agent_ttl = choice.agent && choice.agent->ttl;
  first.ttl = request.ttl.value_or(has_agent_ttl ? *choice.agent->ttl : options_.default_ttl);
  std::string incarnation = facts.sandbox_id;
  auto live = std::make_shared<Live>(dependencies_.executor, *dependencies_.clock, std::move(facts),
                                     std::move(incarnation), choice.provider, std::move(request.local));
  live->set_trace(who.trace);
  CO_CHECK(dependencies_.table->apply(*live, first));
  co_return live;
}

Result<LivePtr> Drafts::copy(const Principal& who, const Live& source, const UpdateRequest& changes) const {
  Session facts = source.facts();
  facts.session_id = new_session_id();
  facts.sandbox_id = new_sandbox_id();
  facts.key_id = who.key_id;
  facts.state = State::creating;
  facts.pausing = false;
  facts.reason.clear();
  facts.created_at = facts.last_used_at = dependencies_.clock->now();
  facts.parent = source.facts().session_id;
  give_secrets(facts);
  facts.default_contexts = source.interpreters().contexts();
  UpdateRequest complete = changes;
  if (!complete.ttl) complete.ttl = facts.ttl;
  std::string incarnation = facts.sandbox_id;
  auto child = std::make_shared<Live>(dependencies_.executor, *dependencies_.clock, std::move(facts),
                                      std::move(incarnation), source.provider());
  child->set_trace(who.trace);
  child->interpreters().copy_losses(source.interpreters());
  TRY(dependencies_.table->apply(*child, complete));
  return child;
}

}  // namespace atl::session
