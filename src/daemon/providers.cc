#include "daemon/providers.h"

#include "base/ids.h"
#include "config/configuration.h"
#include "os/file.h"
#include "sandbox/docker/docker.h"
#include "sandbox/docker/seccomp_profile.h"
#include "sandbox/e2b/e2b.h"
#include "sandbox/gvisor/gvisor.h"
#include "sandbox/native/filter.h"

namespace atl::daemon {
namespace {

Result<sandbox::docker::EngineAddress> docker_engine(const config::Configuration& configuration) {
  return sandbox::docker::find_engine(
      {configuration.text("provider.docker.host"), configuration.text("provider.docker.certificates")},
      sandbox::docker::Surroundings::machine());
}

// The broker's socket, and files that the engine binds into containers by their paths. With run_as the
// service becomes the owner of the data directory, where it could put something else in their place.
std::string docker_directory(const ProviderContext& context) {
  if (context.configuration.text("run_as").empty()) return context.data + "/run/docker";
  return "/run/atoll/docker-" + context.installation;
}

Result<std::unique_ptr<sandbox::Provider>> start_docker(const ProviderContext& context) {
  const config::Configuration& configuration = context.configuration;
  sandbox::docker::DockerOptions options;
  options.engine = TRY(docker_engine(configuration));
  options.run_directory = docker_directory(context);
  options.snapshot_directory = context.data + "/snapshots";
  options.installation = context.installation;
  options.images = configuration.list("provider.docker.images");
  options.may_pull = configuration.boolean("provider.docker.pull");
  const std::string& registry = configuration.text("registry");
  options.recipes =
      TRY(sandbox::docker::Recipes::read(registry.empty() ? registry : registry + "/containers"));
  options.build_network = configuration.text("provider.docker.build_network");
  options.default_image = configuration.text("provider.docker.image");
  options.pool = static_cast<std::uint32_t>(configuration.integer("provider.docker.pool"));
  options.seccomp_profile = sandbox::docker::seccomp_profile(sandbox::native::allowed_system_calls(),
                                                             sandbox::native::refused_system_calls());
  return sandbox::docker::start(context.executor, std::move(options));
}
Result<sandbox::Isolation> probe_docker(const ProviderContext& context) {
  constexpr std::chrono::seconds kPatience{5};
  return sandbox::docker::probe(TRY(docker_engine(context.configuration)), kPatience);
}

Result<std::unique_ptr<sandbox::Provider>> start_gvisor(const ProviderContext& context) {
  const config::Configuration& configuration = context.configuration;
  sandbox::gvisor::GvisorOptions options;
  options.runsc = configuration.text("provider.gvisor.runsc");
  options.run_directory = context.data + "/run/gvisor";
  options.roots.layers = context.layers;
  options.roots.snapshots = {context.data + "/snapshots"};
  options.roots.writable_mounts = {context.data + "/volumes"};
  options.ready = static_cast<std::uint32_t>(configuration.integer("provider.gvisor.pool"));
  options.warm = {sandbox::Language::python};
  return sandbox::gvisor::start(context.executor, std::move(options));
}
Result<sandbox::Isolation> probe_gvisor(const ProviderContext& context) {
  return sandbox::gvisor::probe(context.configuration.text("provider.gvisor.runsc"));
}

// A tenant's own secret goes first, then the operator's key.
Task<std::string> remote_key(ProviderContext context, std::string tenant) {
  const std::string& name = context.configuration.text("provider.e2b.api_key_secret");
  if (!name.empty() && !tenant.empty() && context.secret) {
    auto own = co_await context.secret(std::move(tenant), name);
    if (own) co_return std::move(*own);
    if (own.error().code() != Code::not_found) co_return fail(std::move(own).error());
  }
  co_return context.configuration.text("provider.e2b.api_key");
}

sandbox::e2b::E2bOptions e2b_options(const ProviderContext& context) {
  const config::Configuration& configuration = context.configuration;
  sandbox::e2b::E2bOptions options;
  options.api_url = configuration.text("provider.e2b.api_url");
  options.sandbox_url = configuration.text("provider.e2b.sandbox_url");
  options.templates = configuration.map("provider.e2b.templates");
  options.count_max = static_cast<std::uint32_t>(configuration.integer("provider.e2b.count"));
  options.installation = context.installation;
  if (!context.data.empty()) options.tenants_file = context.data + "/e2b-provider-tenants";
  options.key = [context](std::string tenant) { return remote_key(context, std::move(tenant)); };
  return options;
}

Result<void> check_e2b(const ProviderContext& context) {
  const bool has_key = !context.configuration.text("provider.e2b.api_key").empty() ||
                       !context.configuration.text("provider.e2b.api_key_secret").empty();
  if (!has_key)
    return fail(
        Code::unsupported,
        "there is no key: set provider.e2b.api_key (ATOLL_PROVIDER_E2B_API_KEY), or the name of tenants' "
        "secrets as provider.e2b.api_key_secret; docs/guides/e2b-provider.md");
  return sandbox::e2b::check(e2b_options(context));
}

Result<sandbox::Isolation> probe_e2b(const ProviderContext& context) {
  TRY(check_e2b(context));
  TRY(sandbox::e2b::try_out(e2b_options(context)));
  return sandbox::Isolation();
}

Result<std::unique_ptr<sandbox::Provider>> start_e2b(const ProviderContext& context) {
  TRY(check_e2b(context));
  return sandbox::e2b::make(context.executor, e2b_options(context));
}

const OptionalProvider kProviders[] = {
    {"docker", sandbox::docker::docker_traits(), start_docker, probe_docker},
    {"gvisor", sandbox::gvisor::kTraits, start_gvisor, probe_gvisor},
    {"e2b", sandbox::e2b::remote_traits(), start_e2b, probe_e2b},
};

}  // namespace

std::span<const OptionalProvider> optional_providers() {
  return kProviders;
}

Result<std::string> installation_id(const std::string& data) {
  constexpr std::size_t kBytes = 8;
  const std::string path = data + "/installation";
  if (auto known = os::read_file(path, 64)) {
    if (known->size() == 2 * kBytes) return std::move(*known);
    return fail(Code::data_loss,
                path + " does not hold the id of this installation: remove it to get a new one");
  }
  std::string made = random_hex(kBytes);
  TRY(os::write_file_durably(path, made));
  return made;
}

}  // namespace atl::daemon
