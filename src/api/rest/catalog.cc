// Routes that list what this service has: environments, agents, providers, metrics, the description of this
// API; and the check of code against a policy.
#include <fmt/format.h>

#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/openapi.h"
#include "api/rest/render.h"
#include "base/json.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

Task<Response> environments(Context context, Principal, Request&) {
  const registry::Registry& registry = context->service->registry();
  bj::array list;
  for (const auto& [name, environment] : registry.environments()) {
    bj::array languages;
    for (const auto language : environment.languages)
      languages.push_back(bj::value(sandbox::to_string(language)));
    bj::value first = nullptr;
    if (environment.default_language) first = bj::value(sandbox::to_string(*environment.default_language));
    bj::value image_json = nullptr;
    if (!environment.image.empty()) image_json = bj::value(environment.image);
    sandbox::Limits limits = registry.sandbox_limits(environment, {});
    registry::clamp(limits, context->service->ceilings());
    list.push_back(
        bj::object{{"name", name},
                   {"description", environment.description},
                   {"languages", std::move(languages)},
                   {"default_language", std::move(first)},
                   {"policy", environment.policy},
                   {"network", environment.network == sandbox::Network::egress ? "egress" : "none"},
                   {"sudo", environment.sudo},
                   {"image", image_json},
                   {"limits", to_json(limits)}});
  }
  bj::object body{{"environments", std::move(list)}};
  co_return json_response(200, std::move(body));
}

Task<Response> agents(Context context, Principal who, Request&) {
  const registry::Registry& registry = context->service->registry();
  bj::array list;
  for (const registry::Entry* entry : registry.entries("agents", who.tenant)) {
    const registry::Agent* const found = registry.agent(entry->name, who.tenant);
    if (found == nullptr) continue;
    const registry::Agent& agent = *found;
    list.push_back(bj::object{{"name", agent.name},
                              {"description", agent.description},
                              {"environment", agent.environment},
                              {"provider", agent.provider},
                              {"policy", agent.policy},
                              {"tools", tool_names(agent.tools)},
                              {"skills", bj::value_from(agent.skills)},
                              {"prompt", agent.prompt},
                              {"storage", agent.storage}});
  }
  bj::object body{{"agents", std::move(list)}};
  co_return json_response(200, std::move(body));
}

Task<Response> validate(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"code", "language", "policy"}));
  session::ValidateRequest wanted;
  CO_TRY(wanted.code, body.required_text("code"));
  CO_TRY(const auto word, body.text("language"));
  if (word) {
    const auto language = policy::parse_language(*word);
    if (!language) co_return fail(body.wrong("language", fmt::format("policies do not read '{}'", *word)));
    wanted.language = *language;
  }
  CO_TRY(const auto name, body.text("policy"));
  wanted.policy = name.value_or("");
  CO_TRY(const auto verdict, co_await context->service->validate(std::move(who), std::move(wanted)));
  co_return Response::json(200, policy::to_json(verdict));
}

Task<Response> capabilities(Context context, Principal, Request&) {
  bj::array providers;
  for (const auto& provider : context->service->providers()) {
    bj::array pools;
    for (const auto& level : provider.pools) {
      pools.push_back(
          bj::object{{"environment", level.environment}, {"ready", level.ready}, {"target", level.target}});
    }
    bj::value reason = nullptr;
    if (!provider.unavailable_because.empty()) reason = bj::value(provider.unavailable_because);
    providers.push_back(bj::object{{"name", provider.name},
                                   {"available", provider.unavailable_because.empty()},
                                   {"reason", std::move(reason)},
                                   {"traits", to_json(provider.traits)},
                                   {"isolation", to_json(provider.isolation)},
                                   {"pools", std::move(pools)}});
  }
  bj::array policies;
  for (const std::string& name : context->service->registry().policies().names())
    policies.push_back(bj::value(name));
  bj::object body{
      {"version", ATOLL_VERSION},
      {"providers", std::move(providers)},
      {"languages", bj::array{"python", "javascript", "typescript", "shell", "r", "java", "deno"}},
      {"policies", std::move(policies)}};
  co_return json_response(200, std::move(body));
}

Task<Response> service_metrics(Context context, Principal, Request& request) {
  const auto format = telemetry::format_for(request.headers.get("Accept"));
  Response response = Response::text(200, context->metrics->render(context->service->providers(), format));
  response.headers.set("Content-Type", std::string(telemetry::content_type(format)));
  co_return response;
}

Task<Response> openapi(Context, Principal, Request&) {
  co_return Response::json(200, openapi_json());
}

}  // namespace

void mount_catalog(net::Router& router, const Context& context) {
  route(router, context, Method::get, "/api/environments", with_key(Permission::catalog_read), environments);
  route(router, context, Method::get, "/api/agents", with_key(Permission::catalog_read), agents);
  route(router, context, Method::post, "/api/validate", with_key(Permission::catalog_read), validate,
        {.body_bytes_max = 16U << 20});
  route(router, context, Method::get, "/api/capabilities", with_key(Permission::catalog_read), capabilities);
  route(router, context, Method::get, "/metrics", with_key(Permission::metrics_read), service_metrics);
  route(router, context, Method::get, "/openapi.json", with_key(Permission::catalog_read), openapi);
}

}  // namespace atl::api::rest
