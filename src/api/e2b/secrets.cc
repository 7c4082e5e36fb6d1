#include "api/e2b/secrets.h"

#include "base/bytes.h"

namespace atl::api::e2b {
namespace {

using vault::Secret;

Object secret_object(const Secret& secret) {
  Object metadata;
  for (const auto& [key, value] : secret.metadata) metadata[key] = value;
  return Object{{"secretID", secret.id},
                {"name", secret.name},
                {"currentVersion", secret.version},
                {"metadata", std::move(metadata)},
                {"createdAt", to_timestamp(secret.created_at)},
                {"updatedAt", to_timestamp(secret.updated_at)}};
}

}  // namespace

void Secrets::add(net::Router& router, net::Method method, std::string_view path, Rule rule,
                  Handler handler) {
  router.add(method, path, context_.admission.rule(rule), [this, handler](net::Request& request) {
    return (this->*handler)(request, grant_of(request).who);
  });
}

void Secrets::mount(net::Router& router) {
  add(router, net::Method::post, "/secrets", with_key(Permission::secrets_write), &Secrets::create);
  add(router, net::Method::get, "/secrets", with_key(Permission::secrets_write), &Secrets::list);
  add(router, net::Method::get, "/secrets/{secret}", with_key(Permission::secrets_write), &Secrets::get);
  add(router, net::Method::post, "/secrets/{secret}", with_key(Permission::secrets_write), &Secrets::update);
  add(router, net::Method::del, "/secrets/{secret}", with_key(Permission::secrets_write).ending(),
      &Secrets::remove);
}

Task<net::Response> Secrets::create(net::Request& request, auth::Principal who) {
  CO_TRY(const Object message, parse_object(request.body));
  CO_TRY(std::string name, text_or(message, "name", ""));
  CO_TRY(std::string value, text_or(message, "value", ""));
  CO_TRY(auto metadata, text_map(message, "metadata"));
  CO_TRY(const Secret secret,
         co_await context_.vault.create(who.tenant, std::move(name), std::move(value), std::move(metadata)));
  co_return json_response(201, secret_object(secret));
}

// A page starts after the name that the page before ended with.
Task<net::Response> Secrets::list(net::Request& request, auth::Principal who) {
  CO_TRY(const std::size_t limit, page_limit(request));
  std::string after;
  if (auto token = request.query("nextToken"); token && !token->empty()) {
    auto decoded = from_hex(*token);
    if (!decoded) co_return fail(Code::invalid_argument, "Invalid next token");
    after = std::move(*decoded);
  }
  CO_TRY(const auto secrets, co_await context_.vault.list(who.tenant));
  Array page;
  std::string next;
  std::string last;
  for (const Secret& secret : secrets) {
    if (!after.empty() && secret.name <= after) continue;
    if (page.size() == limit) {
      next = to_hex(last);
      break;
    }
    page.push_back(secret_object(secret));
    last = secret.name;
  }
  net::Response response = json_response(200, page);
  if (!next.empty()) response.headers.add("X-Next-Token", next);
  co_return response;
}

Task<net::Response> Secrets::get(net::Request& request, auth::Principal who) {
  std::string name = request.param("secret");
  CO_TRY(const Secret secret, co_await context_.vault.get(who.tenant, std::move(name)));
  co_return json_response(200, secret_object(secret));
}

Task<net::Response> Secrets::update(net::Request& request, auth::Principal who) {
  CO_TRY(const Object message, parse_object(request.body));
  CO_TRY(std::string value, text_or(message, "value", ""));
  std::optional<std::map<std::string, std::string>> metadata;
  if (member(message, "metadata") != nullptr) {
    CO_TRY(metadata, text_map(message, "metadata"));
  }
  std::string name = request.param("secret");
  CO_TRY(const Secret secret,
         co_await context_.vault.update(who.tenant, std::move(name), std::move(value), std::move(metadata)));
  co_return json_response(200, secret_object(secret));
}

Task<net::Response> Secrets::remove(net::Request& request, auth::Principal who) {
  std::string name = request.param("secret");
  CO_CHECK(co_await context_.vault.remove(who.tenant, std::move(name)));
  co_return net::Response::empty(204);
}

}  // namespace atl::api::e2b
