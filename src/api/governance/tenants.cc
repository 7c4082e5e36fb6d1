// Tenants and their quotas.
#include <fmt/format.h>

#include "api/governance/routes.h"
#include "api/rest/context.h"
#include "auth/denial.h"

namespace atl::api::governance {
namespace {

namespace bj = boost::json;

constexpr std::int64_t kGraceMax = 366LL * 86400;

bj::object tenant_json(const auth::Tenant& tenant) {
  return {{"name", tenant.name},
          {"state", std::string(to_string(tenant.state))},
          {"created_at", to_rfc3339(tenant.created_at)},
          {"remove_at", maybe_time(tenant.remove_at)}};
}

Task<Response> create_tenant(Context context, Principal, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"name"}));
  CO_TRY(std::string name, body.required_text("name"));
  CO_TRY(const auth::Tenant made, co_await context->tenants->create(std::move(name)));
  co_return json_response(201, tenant_json(made));
}

Task<Response> list_tenants(Context context, Principal, Request&) {
  bj::array list;
  for (const auth::Tenant& tenant : context->tenants->list()) list.push_back(tenant_json(tenant));
  co_return json_response(200, bj::object{{"tenants", std::move(list)}});
}

Task<Response> get_tenant(Context context, Principal, Request& request) {
  CO_TRY(const auth::Tenant tenant, context->tenants->get(request.param("name")));
  co_return json_response(200, tenant_json(tenant));
}

Task<Response> change_tenant(Context context, Principal, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"state"}));
  CO_TRY(const std::string state, body.required_text("state"));
  if (state != "active" && state != "suspended")
    co_return fail(body.wrong("state", "'state' is 'active' or 'suspended'; DELETE removes a tenant"));
  CO_TRY(const auth::Tenant changed,
         co_await context->tenants->set_suspended(request.param("name"), state == "suspended"));
  co_return json_response(200, tenant_json(changed));
}

Task<Response> remove_tenant(Context context, Principal, Request& request) {
  std::chrono::seconds grace = context->grace;
  if (request.query("grace_seconds")) {
    CO_TRY(const auto asked, rest::number_parameter(request, "grace_seconds", 0, 0, kGraceMax));
    grace = std::chrono::seconds(asked);
  }
  CO_TRY(const auth::Tenant removing, co_await context->tenants->remove(request.param("name"), grace));
  co_return json_response(200, tenant_json(removing));
}

// Quotas bind a tenant, so that its own admins see them and do not set them.
Task<Response> get_quotas(Context context, Principal who, Request& request) {
  const std::string& name = request.param("name");
  if (name != who.tenant && !who.may(Permission::tenants))
    co_return fail(auth::missing_permission(Permission::tenants));
  CO_CHECK(context->tenants->get(name));
  co_return Response::json(200, context->quotas->of_tenant(name).to_json());
}

Task<Response> put_quotas(Context context, Principal who, Request& request) {
  if (!who.may(Permission::tenants)) co_return fail(auth::missing_permission(Permission::tenants));
  CO_TRY(const quota::Quotas quotas, quota::Quotas::parse(request.body));
  CO_CHECK(quotas.check(context->quotas->tenant_defaults()));
  CO_TRY(const auth::Tenant changed,
         co_await context->tenants->set_quotas(request.param("name"), quotas.to_json()));
  co_return Response::json(200, context->quotas->of_tenant(changed.name).to_json());
}

}  // namespace

void mount_tenants(net::Router& router, const Context& context) {
  const Rule rule = with_key(Permission::tenants);
  route(router, context, Method::post, "/api/tenants", rule, create_tenant);
  route(router, context, Method::get, "/api/tenants", rule, list_tenants);
  route(router, context, Method::get, "/api/tenants/{name}", rule, get_tenant);
  route(router, context, Method::post, "/api/tenants/{name}", rule, change_tenant);
  route(router, context, Method::del, "/api/tenants/{name}", rule.ending(), remove_tenant);
  route(router, context, Method::get, "/api/tenants/{name}/quotas", with_key(Permission::usage_read),
        get_quotas);
  route(router, context, Method::put, "/api/tenants/{name}/quotas", with_key(Permission::quotas), put_quotas);
}

}  // namespace atl::api::governance
