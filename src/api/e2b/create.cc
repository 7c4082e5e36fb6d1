#include "api/e2b/create.h"

#include <fmt/format.h>

#include "base/ids.h"

namespace atl::api::e2b {
namespace {

constexpr std::int64_t kTimeoutMax = 30LL * 24 * 3600;

Result<std::chrono::milliseconds> timeout_of(const Object& message, bool second_generation) {
  std::int64_t seconds = TRY(integer(message, "timeout")).value_or(second_generation ? 300 : 15);
  if (seconds <= 0) return fail(Code::invalid_argument, "Timeout must be greater than 0");
  if (seconds > kTimeoutMax) return fail(Code::invalid_argument, "Timeout cannot be greater than 720 hours");
  return std::chrono::seconds(seconds);
}

Result<void> read_lifecycle(const Object& message, session::CreateRequest& request) {
  bool pause = TRY(boolean_or(message, "autoPause", false));
  auto memory = TRY(boolean(message, "autoPauseMemory"));
  bool resume = false;
  if (const Object* given = TRY(object(message, "autoResume")))
    resume = TRY(boolean_or(*given, "enabled", false));
  if (memory && !pause) return fail(Code::invalid_argument, "autoPauseMemory requires autoPause");
  if (memory && !*memory && resume)
    return fail(Code::invalid_argument, "autoResume requires a memory snapshot");
  if (memory && !*memory) request.attributes[attribute::kColdAfterPause] = "true";
  request.on_expiry = pause ? session::OnExpiry::pause : session::OnExpiry::destroy;
  request.auto_resume = resume;
  return {};
}

// Ports whose servers speak TLS, as " 3000 8443 ".
Result<std::string> https_ports(const Object& network) {
  const Array* ports = TRY(array(network, "httpsPorts"));
  std::string written;
  if (ports == nullptr) return written;
  for (const auto& port : *ports) {
    if (!port.is_int64() || port.get_int64() < 1 || port.get_int64() > 65535)
      return fail(Code::invalid_argument, "httpsPorts: a port is a number from 1 to 65535");
    if (port.get_int64() == kEnvdPort || port.get_int64() == kInterpreterPort)
      return fail(Code::invalid_argument,
                  fmt::format("httpsPorts: port {} is not yours to list", port.get_int64()));
    written += fmt::format("{}{} ", written.empty() ? " " : "", port.get_int64());
  }
  return written;
}

Result<void> read_network(const Object& message, session::CreateRequest& request, const Seal& seal) {
  auto internet = TRY(boolean(message, "allow_internet_access"));
  if (internet) request.attributes[attribute::kInternet] = *internet ? "true" : "false";
  const Object* given = TRY(object(message, "network"));
  auto egress = TRY(read_egress(given == nullptr ? Object{} : *given, internet.value_or(true), seal));
  request.network = egress.mode;
  request.egress = std::move(egress.rules);
  // Nobody asked for anything: what the provider can give.
  request.network_if_possible = given == nullptr;
  if (given == nullptr) return {};
  if (!TRY(boolean_or(*given, "allowPublicTraffic", true))) {
    request.ports = session::Ports::closed;
  }
  std::string mask = TRY(text_or(*given, "maskRequestHost", ""));
  if (!mask.empty()) request.attributes[attribute::kMaskHost] = mask;
  std::string secured = TRY(https_ports(*given));
  if (!secured.empty()) request.attributes[attribute::kHttpsPorts] = std::move(secured);
  request.attributes[attribute::kNetwork] = to_text(shown_network(*given));
  return {};
}

Result<void> read_volumes(const Object& message, session::CreateRequest& request) {
  const Array* mounts = TRY(array(message, "volumeMounts"));
  if (mounts == nullptr) return {};
  for (const auto& item : *mounts) {
    if (!item.is_object()) return fail(Code::invalid_argument, "a volume mount must be an object");
    std::string name = TRY(text_or(item.as_object(), "name", ""));
    std::string path = TRY(text_or(item.as_object(), "path", ""));
    if (name.empty() || path.empty())
      return fail(Code::invalid_argument, "a volume mount needs a name and a path");
    if (!request.volumes.emplace(path, name).second)
      return fail(Code::invalid_argument, fmt::format("two volumes cannot be mounted at '{}'", path));
  }
  return {};
}

}  // namespace

void apply_template(const Template& made_from, session::CreateRequest& request) {
  const TemplateSettings& settings = made_from.settings;
  request.environment = settings.environment;
  request.provider = settings.provider;
  request.snapshot = made_from.snapshot;
  request.snapshot_tenant = made_from.tenant;
  request.attributes[attribute::kTemplate] = made_from.id;
  if (!made_from.name.empty()) request.attributes[attribute::kAlias] = made_from.name;
  if (!settings.user.empty()) request.attributes[attribute::kUser] = settings.user;
  if (!settings.working_directory.empty())
    request.attributes[attribute::kDirectory] = settings.working_directory;
  if (settings != TemplateSettings{.environment = settings.environment})
    request.attributes[attribute::kSettings] = settings.to_json();
  for (const auto& [name, value] : settings.env) request.env.emplace(name, value);
  // How programs find out that they are in a sandbox of this kind, and in which.
  request.env.emplace("E2B_SANDBOX", "true");
  request.env.emplace("E2B_TEMPLATE_ID", made_from.id);
  if (settings.cpu_count) request.limits.cpu_cores = static_cast<double>(*settings.cpu_count);
  if (settings.memory_mb) request.limits.memory_bytes = static_cast<std::uint64_t>(*settings.memory_mb) << 20;
  if (settings.disk_mb) request.limits.disk_bytes = static_cast<std::uint64_t>(*settings.disk_mb) << 20;
}

Result<session::CreateRequest> create_request(const Object& message, bool second_generation,
                                              const Seal& seal) {
  session::CreateRequest request;
  request.policy_mode = session::PolicyMode::audit;
  request.ttl = TRY(timeout_of(message, second_generation));
  request.metadata = TRY(text_map(message, "metadata"));
  request.env = TRY(text_map(message, "envVars"));
  TRY(read_lifecycle(message, request));
  TRY(read_network(message, request, seal));
  // The second generation knows no such word.
  const bool secure = TRY(boolean_or(message, "secure", true));
  if (!secure && !second_generation) request.data_plane = session::DataPlane::open;
  TRY(read_volumes(message, request));
  if (const Object* iam = TRY(object(message, "iam")); iam != nullptr && !iam->empty()) {
    return fail(Code::unsupported, "iam tokens are not supported");
  }
  if (const Array* sidecars = TRY(array(message, "sidecars")); sidecars != nullptr && !sidecars->empty())
    return fail(Code::unsupported, "sidecars are not supported: start the program in the sandbox itself");
  return request;
}

}  // namespace atl::api::e2b
