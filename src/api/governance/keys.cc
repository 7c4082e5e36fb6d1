// Who one is, the roles there are, and keys.
#include <fmt/format.h>

#include "api/governance/routes.h"
#include "auth/granting.h"
#include "base/json.h"
#include "config/checked.h"

namespace atl::api::governance {
namespace {

namespace bj = boost::json;

constexpr std::size_t kNameMax = 100, kTenantMax = 64, kScopesMax = 1000;
constexpr std::int64_t kLongest = 10LL * 366 * 86400;
constexpr std::int64_t kOverlap = 3600, kOverlapMax = 30LL * 86400;

bj::array words_json(const std::vector<std::string>& words) {
  bj::array array;
  for (const std::string& word : words) array.emplace_back(word);
  return array;
}

bj::value stored_json(const std::string& text) {
  auto parsed = json::parse(text);
  return parsed ? std::move(*parsed) : bj::value(nullptr);
}

bj::object key_json(const store::KeyRow& row) {
  return {{"key_id", row.key_id},
          {"name", row.name},
          {"role", row.role},
          {"tenant", row.tenant},
          {"prefix", row.prefix},
          {"scopes", stored_json(row.scopes)},
          {"networks", stored_json(row.networks)},
          {"quotas", stored_json(row.quotas)},
          {"created_at", to_rfc3339(row.created_at)},
          {"expires_at", maybe_time(row.expires_at)},
          {"last_used_at", maybe_time(row.last_used_at)},
          {"revoked_at", maybe_time(row.revoked_at)}};
}

Task<Response> whoami(Context context, Principal who, Request&) {
  bj::object body{{"tenant", who.tenant},
                  {"key_id", who.key_id},
                  {"role", who.role},
                  {"permissions", words_json(who.permissions.words())},
                  {"name", who.name}};
  if (!who.looks_from.empty()) body["home_tenant"] = who.looks_from;
  if (const auto row = context->keys->find(who.key_id)) {
    body["scopes"] = stored_json(row->scopes);
    body["networks"] = stored_json(row->networks);
    body["expires_at"] = maybe_time(row->expires_at);
  }
  co_return json_response(200, body);
}

Task<Response> roles(Context context, Principal who, Request&) {
  bj::array list;
  for (const auth::Role& role : context->roles->of(who.tenant)) {
    const bool own = !role.tenant.empty();
    list.push_back(
        bj::object{{"name", role.name}, {"own", own}, {"permissions", words_json(role.permissions.words())}});
  }
  co_return json_response(200, bj::object{{"roles", std::move(list)}});
}

Result<void> add_scope(const Body& body, const std::string& text, auth::Narrowing& narrowing) {
  constexpr std::string_view kSession = "session:", kEnvironment = "environment:";
  if (const auto permission = auth::parse_permission(text)) {
    if (!narrowing.permissions) narrowing.permissions.emplace();
    narrowing.permissions->add(*permission);
  } else if (text.starts_with(kSession) && text.size() > kSession.size()) {
    narrowing.scopes.sessions.insert(text.substr(kSession.size()));
  } else if (text.starts_with(kEnvironment) && text.size() > kEnvironment.size()) {
    narrowing.scopes.environment = text.substr(kEnvironment.size());
  } else {
    return fail(body.wrong(
        "scopes", fmt::format("'{}' is no permission, session:ID or environment:NAME", config::shown(text))));
  }
  return {};
}

// A list of words, or an object with `permissions`, `sessions` and `environment`.
Result<auth::Narrowing> read_scopes(const Body& body) {
  auth::Narrowing narrowing;
  narrowing.networks = TRY(body.texts("networks")).value_or(std::vector<std::string>());
  const bj::value* scopes = body.find("scopes");
  std::vector<std::string> words;
  if (scopes != nullptr && scopes->is_object()) {
    const auto object = TRY(body.object("scopes", {"permissions", "sessions", "environment"}));
    if (auto permissions = TRY(object->texts("permissions"))) {
      narrowing.permissions.emplace();
      words = std::move(*permissions);
    }
    for (const std::string& id : TRY(object->texts("sessions")).value_or(std::vector<std::string>()))
      words.push_back("session:" + id);
    if (const auto environment = TRY(object->text("environment")))
      words.push_back("environment:" + *environment);
  } else if (auto list = TRY(body.texts("scopes"))) {
    words = std::move(*list);
  }
  if (words.size() > kScopesMax || narrowing.networks.size() > kScopesMax)
    return fail(body.wrong("scopes", fmt::format("at most {} scopes and networks", kScopesMax)));
  for (const std::string& word : words) TRY(add_scope(body, word, narrowing));
  return narrowing;
}

Result<auth::NewKey> read_key(const Principal& who, const Request& request, Clock& clock) {
  const Body body =
      TRY(Body::parse(request.body, {"name", "role", "tenant", "scopes", "expires_in_seconds", "networks"}));
  auth::NewKey key;
  const std::string name = TRY(body.required_text("name"));
  key.name = TRY(config::Checked("name", name).label(kNameMax));
  key.role = TRY(body.required_text("role"));
  key.tenant = TRY(body.text("tenant")).value_or(who.tenant);
  TRY(config::Checked("tenant", key.tenant).name(kTenantMax));
  key.narrowing = TRY(read_scopes(body));
  if (const auto seconds = TRY(body.whole_number("expires_in_seconds", 1, kLongest)))
    key.expires_at = clock.now() + std::chrono::seconds(*seconds);
  return key;
}

Task<Response> create_key(Context context, Principal who, Request& request) {
  CO_TRY(auth::NewKey wanted, read_key(who, request, *context->clock));
  CO_CHECK(auth::check_grant(who, *context->keys, wanted));
  CO_TRY(const auth::Keys::Created made, co_await context->keys->create(std::move(wanted)));
  // The first key of a tenant makes the tenant.
  if (!context->tenants->get(made.row.tenant)) CO_CHECK(co_await context->tenants->reload());
  bj::object body = key_json(made.row);
  body["key"] = made.key;
  co_return json_response(201, body);
}

Task<Response> list_keys(Context context, Principal who, Request& request) {
  CO_TRY(const std::string tenant, tenant_of(who, request, Permission::tenants));
  CO_TRY(const auto rows, co_await context->keys->list());
  bj::array keys;
  for (const store::KeyRow& row : rows)
    if (row.tenant == tenant && row.kind == auth::kKeyKind) keys.push_back(key_json(row));
  co_return json_response(200, bj::object{{"keys", std::move(keys)}});
}

// In force, and within the caller's reach.
Result<store::KeyRow> reachable(const Context& context, const Principal& who, const Request& request) {
  auto row = context->keys->find(request.param("id"));
  if (!row)
    return fail(Code::not_found, fmt::format("no key {} in force", config::shown(request.param("id"))));
  TRY(auth::check_reach(who, *row));
  return std::move(*row);
}

Task<Response> rotate_key(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"overlap_seconds"}));
  CO_TRY(const auto overlap, body.whole_number("overlap_seconds", 0, kOverlapMax));
  CO_TRY(const store::KeyRow row, reachable(context, who, request));
  CO_CHECK(auth::check_secret_of(who, *context->keys, row));
  const std::chrono::seconds kept(overlap.value_or(kOverlap));
  CO_TRY(const auth::Keys::Created made, co_await context->keys->rotate(row.key_id, kept));
  bj::object answer = key_json(made.row);
  answer["key"] = made.key;
  answer["old_key_until"] = maybe_time(made.row.old_until);
  co_return json_response(201, answer);
}

Task<Response> revoke_key(Context context, Principal who, Request& request) {
  CO_TRY(const store::KeyRow row, reachable(context, who, request));
  CO_CHECK(co_await context->keys->revoke(row.key_id));
  co_return Response::empty(204);
}

Task<Response> get_key_quotas(Context context, Principal who, Request& request) {
  CO_TRY(const store::KeyRow row, reachable(context, who, request));
  co_return Response::json(200, context->quotas->of_key(row.key_id).to_json());
}

Task<Response> put_key_quotas(Context context, Principal who, Request& request) {
  CO_TRY(const store::KeyRow row, reachable(context, who, request));
  CO_TRY(const quota::Quotas quotas, quota::Quotas::parse(request.body));
  CO_CHECK(quotas.check(context->quotas->key_defaults()));
  CO_CHECK(co_await context->keys->set_quotas(row.key_id, quotas.to_json()));
  context->quotas->set_key(row.key_id, quotas);
  co_return Response::json(200, context->quotas->of_key(row.key_id).to_json());
}

}  // namespace

void mount_keys(net::Router& router, const Context& context) {
  route(router, context, Method::get, "/api/whoami", with_any_key(), whoami);
  route(router, context, Method::get, "/api/roles", with_any_key(), roles);
  route(router, context, Method::post, "/api/keys", with_key(Permission::keys), create_key);
  route(router, context, Method::get, "/api/keys", with_key(Permission::keys), list_keys);
  route(router, context, Method::post, "/api/keys/{id}/rotate", with_key(Permission::keys), rotate_key);
  route(router, context, Method::del, "/api/keys/{id}", with_key(Permission::keys).ending(), revoke_key);
  route(router, context, Method::get, "/api/keys/{id}/quotas", with_key(Permission::quotas), get_key_quotas);
  route(router, context, Method::put, "/api/keys/{id}/quotas", with_key(Permission::quotas), put_key_quotas);
}

}  // namespace atl::api::governance
