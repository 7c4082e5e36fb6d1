#include "api/governance/governance.h"

#include "api/governance/routes.h"
#include "auth/denial.h"

namespace atl::api::governance {

void route(net::Router& router, const Context& context, Method method, std::string_view pattern, Rule rule,
           Answer answer) {
  auto handler = [context, answer](Request& request) {
    return answer(context, grant_of(request).who, request);
  };
  router.add(method, pattern, context->admission->rule(rule), std::move(handler));
}

boost::json::value maybe_time(const std::optional<WallTime>& time) {
  if (!time) return nullptr;
  return boost::json::value(to_rfc3339(*time));
}

Result<std::string> tenant_of(const Principal& who, const Request& request, Permission needed) {
  const auto asked = request.query("tenant");
  if (!asked || *asked == who.tenant) return who.tenant;
  if (!who.may(needed)) return fail(auth::missing_permission(needed));
  return *asked;
}

void mount(net::Router& router, const Dependencies& dependencies) {
  const Context context = std::make_shared<const Dependencies>(dependencies);
  mount_keys(router, context);
  mount_tenants(router, context);
  mount_usage(router, context);
}

}  // namespace atl::api::governance
