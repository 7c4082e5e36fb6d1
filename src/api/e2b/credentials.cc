#include "api/e2b/credentials.h"

#include <fmt/format.h>

#include <algorithm>

#include "auth/granting.h"

namespace atl::api::e2b {
namespace {

constexpr std::string_view kPrefix = "e2b_";
constexpr std::size_t kNameMax = 256;

Object mask_of(const store::KeyRow& row) {
  const std::string start = row.prefix.starts_with(kPrefix) ? row.prefix.substr(kPrefix.size()) : row.prefix;
  return Object{
      {"prefix", kPrefix}, {"valueLength", 40}, {"maskedValuePrefix", start}, {"maskedValueSuffix", ""}};
}

Object key_object(const store::KeyRow& row) {
  return Object{
      {"id", row.key_id},
      {"name", row.name},
      {"mask", mask_of(row)},
      {"createdAt", to_timestamp(row.created_at)},
      {"createdBy", nullptr},
      {"lastUsed", row.last_used_at ? boost::json::value(to_timestamp(*row.last_used_at)) : nullptr}};
}

Result<std::string> name_of(const net::Request& request) {
  const Object message = TRY(parse_object(request.body));
  std::string name = TRY(text_or(message, "name", ""));
  if (name.empty() || name.size() > kNameMax)
    return fail(Error(Code::invalid_argument, fmt::format("name must have 1 to {} bytes", kNameMax))
                    .with_field("name"));
  return name;
}

}  // namespace

void Credentials::add(net::Router& router, net::Method method, std::string_view path, Rule rule,
                      Handler handler) {
  router.add(method, path, context_.admission.rule(rule), [this, handler](net::Request& request) {
    return (this->*handler)(request, grant_of(request).who);
  });
}

void Credentials::mount(net::Router& router) {
  using enum net::Method;
  add(router, get, "/api-keys", with_key(Permission::keys), &Credentials::list_keys);
  add(router, post, "/api-keys", with_key(Permission::keys), &Credentials::create_key);
  add(router, patch, "/api-keys/{key}", with_key(Permission::keys), &Credentials::rename_key);
  add(router, del, "/api-keys/{key}", with_key(Permission::keys).ending(), &Credentials::remove_key);
  add(router, post, "/access-tokens", with_key(Permission::keys), &Credentials::create_token);
  add(router, del, "/access-tokens/{token}", with_key(Permission::keys).ending(), &Credentials::remove_token);
  add(router, get, "/nodes", with_key(Permission::cluster), &Credentials::refuse);
  for (const net::Method method : {get, post, put, patch, del}) {
    if (method == get || method == post)
      add(router, method, "/nodes/{path...}", with_key(Permission::cluster), &Credentials::refuse);
    add(router, method, "/admin/{path...}", with_key(Permission::cluster), &Credentials::refuse);
  }
}

Task<auth::Keys::Created> Credentials::make(const net::Request& request, auth::Principal who,
                                            std::string kind) {
  CO_TRY(std::string name, name_of(request));
  auth::NewKey wanted = auth::like(who, context_.keys);
  wanted.name = std::move(name);
  wanted.kind = std::move(kind);
  CO_CHECK(auth::check_grant(who, context_.keys, wanted));
  co_return co_await context_.keys.create(std::move(wanted));
}

Task<store::KeyRow> Credentials::find(auth::Principal who, std::string id, std::string kind) {
  CO_TRY(auto rows, co_await context_.keys.list());
  for (store::KeyRow& row : rows)
    if (row.key_id == id && row.tenant == who.tenant && row.kind == kind && !row.revoked_at)
      co_return std::move(row);
  co_return fail(Code::not_found, fmt::format("'{}' not found", id));
}

Task<net::Response> Credentials::list_keys(net::Request&, auth::Principal who) {
  CO_TRY(const auto rows, co_await context_.keys.list());
  Array list;
  for (const store::KeyRow& row : rows)
    if (row.tenant == who.tenant && row.kind == auth::kKeyKind && !row.revoked_at)
      list.push_back(key_object(row));
  co_return json_response(200, list);
}

Task<net::Response> Credentials::create_key(net::Request& request, auth::Principal who) {
  CO_TRY(const auth::Keys::Created made, co_await make(request, std::move(who), auth::kKeyKind));
  Object body = key_object(made.row);
  body["key"] = made.key;
  co_return json_response(201, body);
}

Task<net::Response> Credentials::rename_key(net::Request& request, auth::Principal who) {
  CO_TRY(std::string name, name_of(request));
  CO_TRY(const store::KeyRow row, co_await find(std::move(who), request.param("key"), auth::kKeyKind));
  CO_CHECK(co_await context_.store.rename_key(row.key_id, std::move(name)));
  co_return net::Response::empty(200);
}

Task<net::Response> Credentials::remove_key(net::Request& request, auth::Principal who) {
  CO_TRY(const store::KeyRow row, co_await find(std::move(who), request.param("key"), auth::kKeyKind));
  CO_CHECK(co_await context_.keys.revoke(row.key_id));
  co_return net::Response::empty(204);
}

Task<net::Response> Credentials::create_token(net::Request& request, auth::Principal who) {
  CO_TRY(const auth::Keys::Created made, co_await make(request, std::move(who), auth::kTokenKind));
  co_return json_response(201, Object{{"id", made.row.key_id},
                                      {"name", made.row.name},
                                      {"token", made.key},
                                      {"mask", mask_of(made.row)},
                                      {"createdAt", to_timestamp(made.row.created_at)}});
}

Task<net::Response> Credentials::remove_token(net::Request& request, auth::Principal who) {
  CO_TRY(const store::KeyRow row, co_await find(std::move(who), request.param("token"), auth::kTokenKind));
  CO_CHECK(co_await context_.keys.revoke(row.key_id));
  co_return net::Response::empty(204);
}

Task<net::Response> Credentials::refuse(net::Request&, auth::Principal) {
  co_return fail(
      Code::permission_denied,
      "no key is an administrator's here: 'atoll doctor' and 'atoll keys' on the machine itself do this");
}

}  // namespace atl::api::e2b
