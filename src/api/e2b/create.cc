#include "api/e2b/create.h"

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
  request.on_expiry = pause ? session::OnExpiry::pause : session::OnExpiry::destroy;
  request.auto_resume = resume;
  return {};
}

// What the walls can hold today: all traffic out, or none. Anything between is refused rather than ignored.
Result<void> read_network(const Object& message, session::CreateRequest& request) {
  auto internet = TRY(boolean(message, "allow_internet_access"));
  if (internet) request.attributes[attribute::kInternet] = *internet ? "true" : "false";
  bool none = internet && !*internet;
  if (const Object* network = TRY(object(message, "network"))) {
    std::vector<std::string> allowed = TRY(text_list(*network, "allowOut"));
    std::vector<std::string> denied = TRY(text_list(*network, "denyOut"));
    bool deny_all = std::find(denied.begin(), denied.end(), "0.0.0.0/0") != denied.end();
    if (!allowed.empty() || (!denied.empty() && !deny_all)) {
      return fail(Code::unsupported, "egress rules for single addresses or domains are not supported");
    }
    for (std::string_view name : {"egressProxy", "rules"}) {
      if (member(*network, name) != nullptr) {
        return fail(Code::unsupported, fmt::format("network.{} is not supported", name));
      }
    }
    none = none || deny_all;
    if (!TRY(boolean_or(*network, "allowPublicTraffic", true))) {
      request.attributes[attribute::kTrafficToken] = random_hex(20);
    }
    std::string mask = TRY(text_or(*network, "maskRequestHost", ""));
    if (!mask.empty()) request.attributes[attribute::kMaskHost] = mask;
    request.attributes[attribute::kNetwork] = to_text(*network);
  }
  if (none) request.network = sandbox::Network::none;
  return {};
}

}  // namespace

Result<session::CreateRequest> create_request(const Object& message, bool second_generation) {
  session::CreateRequest request;
  request.policy_mode = session::PolicyMode::audit;
  request.ttl = TRY(timeout_of(message, second_generation));
  request.metadata = TRY(text_map(message, "metadata"));
  request.env = TRY(text_map(message, "envVars"));
  TRY(read_lifecycle(message, request));
  TRY(read_network(message, request));
  bool secure = second_generation || TRY(boolean_or(message, "secure", false));
  if (secure) request.attributes[attribute::kToken] = random_hex(20);
  if (const Array* mounts = TRY(array(message, "volumeMounts")); mounts != nullptr && !mounts->empty()) {
    return fail(Code::unsupported, "volume mounts are not supported");
  }
  if (const Object* iam = TRY(object(message, "iam")); iam != nullptr && !iam->empty()) {
    return fail(Code::unsupported, "iam tokens are not supported");
  }
  return request;
}

}  // namespace atl::api::e2b
