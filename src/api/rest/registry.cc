// The declarations of the registry: reading them, a tenant's own, reloading; prompts.
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/render.h"
#include "base/json.h"
#include "registry/kinds.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

Result<const registry::Kind*> kind_of(const Request& request) {
  const std::string word = request.param("kind");
  if (const registry::Kind* kind = registry::find_kind(word)) return kind;
  std::vector<std::string_view> known;
  for (const registry::Kind& one : registry::kinds()) known.push_back(one.folder);
  return fail(Code::not_found,
              fmt::format("the registry has no kind '{}'{}", word, config::did_you_mean(word, known)));
}

bj::object entry_json(const registry::Entry& entry) {
  return {{"kind", entry.kind},
          {"name", entry.name},
          {"description", entry.description},
          {"origin", to_string(entry.origin)},
          {"digest", entry.digest}};
}

// A literal value in a header rule of the operator's is hidden from every reader; the name of a secret is
// not.
void hide_secrets(bj::value& document) {
  bj::object* const root = document.if_object();
  bj::value* const secrets = root == nullptr ? nullptr : root->if_contains("secrets");
  if (secrets == nullptr || !secrets->is_object()) return;
  for (auto& host : secrets->get_object()) {
    if (!host.value().is_object()) continue;
    for (auto& header : host.value().get_object()) {
      const bj::string* const text = header.value().if_string();
      if (text == nullptr || text->find("${secrets.") == bj::string::npos) header.value() = "(hidden)";
    }
  }
}

bj::value document_json(const registry::Entry& entry) {
  auto parsed = json::parse(entry.json);
  if (!parsed) return nullptr;
  if (entry.kind == "tools") hide_secrets(*parsed);
  return std::move(*parsed);
}

// A role may name one tenant, a skill those that may use it; everything else is for everybody.
bool is_for(const registry::Entry& entry, std::string_view tenant) {
  const config::Node& root = entry.document.root;
  if (entry.kind == "roles") {
    const config::Node* const owner = root.find("tenant");
    return owner == nullptr || owner->is_null() || owner->text() == tenant;
  }
  const config::Node* const tenants = entry.kind == "skills" ? root.find("tenants") : nullptr;
  return tenants == nullptr || tenants->items().empty() ||
         std::ranges::any_of(tenants->items(), [&](const config::Node& one) { return one.text() == tenant; });
}

// What the operator keeps for some tenants is not there for the others.
bool sees(const Principal& who, const registry::Entry* entry) {
  return entry != nullptr && (who.may(Permission::tenants_look) || is_for(*entry, who.tenant));
}

std::vector<const registry::Entry*> seen_entries(const Context& context, const Principal& who,
                                                 std::string_view kind) {
  auto entries = context->registry->entries(kind, who.tenant);
  std::erase_if(entries, [&](const registry::Entry* entry) { return !sees(who, entry); });
  return entries;
}

Task<Response> registry_overview(Context context, Principal who, Request&) {
  const registry::Registry& registry = *context->registry;
  bj::array kinds;
  for (const registry::Kind& kind : registry::kinds())
    kinds.push_back(bj::object{{"kind", kind.folder},
                               {"description", kind.help},
                               {"entries", seen_entries(context, who, kind.folder).size()},
                               {"schema", fmt::format("/schemas/{}.json", kind.folder)},
                               {"tenants", kind.owners == registry::Owners::tenants_too}});
  bj::object body{{"version", registry.version()}, {"kinds", std::move(kinds)}};
  co_return json_response(200, std::move(body));
}

Task<Response> list_kind(Context context, Principal who, Request& request) {
  CO_TRY(const registry::Kind* const kind, kind_of(request));
  bj::array entries;
  for (const registry::Entry* entry : seen_entries(context, who, kind->folder))
    entries.push_back(entry_json(*entry));
  bj::object body{
      {"kind", kind->folder}, {"version", context->registry->version()}, {"entries", std::move(entries)}};
  co_return json_response(200, std::move(body));
}

Task<Response> get_entry(Context context, Principal who, Request& request) {
  CO_TRY(const registry::Kind* const kind, kind_of(request));
  const std::string name = request.param("name");
  const registry::Entry* const entry = context->registry->entry(kind->folder, name, who.tenant);
  if (!sees(who, entry))
    co_return fail(Code::not_found, fmt::format("there is no '{}' among the {}", name, kind->folder));
  bj::object body = entry_json(*entry);
  body["version"] = context->registry->version();
  body["document"] = document_json(*entry);
  co_return json_response(200, std::move(body));
}

Task<Response> put_entry(Context context, Principal who, Request& request) {
  CO_TRY(const registry::Kind* const kind, kind_of(request));
  std::string name = request.param("name"), folder(kind->folder), text = std::move(request.body);
  const registry::Entry* const had = context->registry->entry(folder, name, who.tenant);
  const bool is_new = had == nullptr || had->origin != registry::Origin::tenant;
  CO_TRY(const registry::Entry entry, co_await context->tenant_entries->put(
                                          who.tenant, std::move(folder), std::move(name), std::move(text)));
  bj::object body = entry_json(entry);
  body["document"] = document_json(entry);
  co_return json_response(is_new ? 201 : 200, std::move(body));
}

Task<Response> remove_entry(Context context, Principal who, Request& request) {
  CO_TRY(const registry::Kind* const kind, kind_of(request));
  std::string folder(kind->folder), name = request.param("name");
  CO_CHECK(co_await context->tenant_entries->remove(who.tenant, std::move(folder), std::move(name)));
  co_return Response::empty();
}

Task<Response> reload_registry(Context context, Principal, Request&) {
  const std::uint64_t before = context->registry->version();
  CO_CHECK(context->reload());
  const std::uint64_t after = context->registry->version();
  std::size_t changes = 0;
  if (const auto changed = context->registry->difference(before, after)) changes = changed->size();
  bj::object body{{"version", after}, {"changed", changes}};
  co_return json_response(200, std::move(body));
}

Task<Response> registry_versions(Context context, Principal, Request&) {
  bj::array list;
  for (const registry::VersionFacts& version : context->registry->versions())
    list.push_back(bj::object{
        {"version", version.number}, {"at", to_rfc3339(version.at)}, {"entries", version.entries}});
  bj::object body{{"version", context->registry->version()}, {"versions", std::move(list)}};
  co_return json_response(200, std::move(body));
}

Task<Response> registry_diff(Context context, Principal who, Request& request) {
  const std::uint64_t newest = context->registry->version();
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  CO_TRY(const std::uint64_t to, number_parameter(request, "to", newest, 1, most));
  CO_TRY(const std::uint64_t from, number_parameter(request, "from", to > 1 ? to - 1 : to, 1, most));
  CO_TRY(const auto changes, context->registry->difference(from, to));
  bj::array list;
  for (const registry::Change& change : changes) {
    const bool was = sees(who, change.before), is = sees(who, change.after);
    if (!was && !is) continue;
    const char* const what = !was ? "added" : !is ? "removed" : "changed";
    bj::object one{{"kind", change.kind}, {"name", change.name}, {"change", what}};
    if (was) one["before"] = document_json(*change.before);
    if (is) one["after"] = document_json(*change.after);
    list.push_back(std::move(one));
  }
  bj::object body{{"from", from}, {"to", to}, {"changes", std::move(list)}};
  co_return json_response(200, std::move(body));
}

Task<Response> kind_schema(Context, Principal, Request& request) {
  std::string name = request.param("file");
  if (name.ends_with(".json")) name.resize(name.size() - 5);
  const registry::Kind* const kind = registry::find_kind(name);
  if (kind == nullptr) co_return fail(Code::not_found, fmt::format("there is no schema '{}'", name));
  Response response = Response::json(200, registry::json_schema(*kind));
  response.headers.set("Content-Type", "application/schema+json");
  co_return response;
}

bj::object prompt_json(const registry::Prompt& prompt, const registry::FindPrompt& find) {
  bj::object variables;
  if (const auto all = registry::all_variables(prompt, find)) {
    for (const auto& [name, variable] : *all) {
      bj::object shown{{"type", to_string(variable.type)}, {"required", !variable.otherwise.has_value()}};
      if (!variable.description.empty()) shown["description"] = variable.description;
      if (variable.otherwise) shown["default"] = *variable.otherwise;
      if (!variable.values.empty()) shown["values"] = bj::value_from(variable.values);
      variables[name] = std::move(shown);
    }
  }
  return {{"name", prompt.name}, {"description", prompt.description}, {"variables", std::move(variables)}};
}

Result<const registry::Prompt*> prompt_of(const Context& context, const Principal& who,
                                          const std::string& name) {
  const registry::Prompt* const prompt = context->registry->prompt(name, who.tenant);
  if (prompt == nullptr) return fail(Code::not_found, fmt::format("no prompt is called '{}'", name));
  return prompt;
}

// Prompts that include many others take their time: now and then the loop serves others, and what was there
// may be gone afterwards.
Task<Response> list_prompts(Context context, Principal who, Request&) {
  constexpr std::size_t kTurnBytes = 256U << 10;
  std::vector<std::string> names;
  for (const registry::Entry* entry : context->registry->entries("prompts", who.tenant))
    names.push_back(entry->name);
  std::string list;
  std::size_t next_turn = kTurnBytes;
  for (const std::string& name : names) {
    const registry::Prompt* const prompt = context->registry->prompt(name, who.tenant);
    if (prompt == nullptr) continue;
    const bj::object shown = prompt_json(*prompt, context->registry->prompt_finder(who.tenant));
    list += (list.empty() ? "" : ",") + json_text(shown);
    if (list.size() < next_turn) continue;
    next_turn = list.size() + kTurnBytes;
    co_await boost::asio::post(context->executor, boost::asio::use_awaitable);
  }
  co_return Response::json(200, "{\"prompts\":[" + list + "]}");
}

Task<Response> get_prompt(Context context, Principal who, Request& request) {
  CO_TRY(const registry::Prompt* const prompt, prompt_of(context, who, request.param("name")));
  co_return json_response(200, prompt_json(*prompt, context->registry->prompt_finder(who.tenant)));
}

Result<std::string> rendered(const Context& context, const Principal& who, const std::string& name,
                             const Request& request) {
  const registry::Prompt* const prompt = TRY(prompt_of(context, who, name));
  const Body body = TRY(Body::parse(request.body, {"variables"}));
  const bj::value* const given = body.find("variables");
  if (given != nullptr && !given->is_object())
    return fail(body.wrong("variables", "'variables' is an object"));
  return render(*prompt, given == nullptr ? bj::object() : given->get_object(),
                context->registry->prompt_finder(who.tenant));
}

Task<Response> render_prompt(Context context, Principal who, Request& request) {
  CO_TRY(const std::string text, rendered(context, who, request.param("name"), request));
  bj::object body{{"text", text}};
  co_return json_response(200, std::move(body));
}

// The prompt of the session's agent.
Task<Response> session_prompt(Context context, Principal who, Request& request) {
  CO_TRY(const session::Session found, co_await context->service->get(who, request.param("id")));
  if (found.prompt.empty())
    co_return fail(Code::not_found, "the session has no prompt: its agent names none");
  CO_TRY(const std::string text, rendered(context, who, found.prompt, request));
  bj::object body{{"name", found.prompt}, {"text", text}};
  co_return json_response(200, std::move(body));
}

}  // namespace

void mount_registry(net::Router& router, const Context& context) {
  const auto reading = with_key(Permission::catalog_read);
  const auto writing = with_key(Permission::sessions_write).of_tenant();
  route(router, context, Method::get, "/api/registry", reading, registry_overview);
  route(router, context, Method::get, "/api/registry/versions", reading, registry_versions);
  route(router, context, Method::get, "/api/registry/diff", reading, registry_diff);
  route(router, context, Method::post, "/api/registry/reload", with_key(Permission::cluster),
        reload_registry);
  route(router, context, Method::get, "/api/registry/{kind}", reading, list_kind);
  route(router, context, Method::get, "/api/registry/{kind}/{name}", reading, get_entry);
  route(router, context, Method::put, "/api/registry/{kind}/{name}", writing, put_entry,
        {.body_bytes_max = 1U << 20});
  route(router, context, Method::del, "/api/registry/{kind}/{name}", writing.ending(), remove_entry);
  route(router, context, Method::get, "/schemas/{file}", reading, kind_schema);
  route(router, context, Method::get, "/api/prompts", reading, list_prompts);
  route(router, context, Method::get, "/api/prompts/{name}", reading, get_prompt);
  route(router, context, Method::post, "/api/prompts/{name}/render", reading, render_prompt,
        {.body_bytes_max = 4U << 20});
  route(router, context, Method::post, "/api/sessions/{id}/prompt", with_key(Permission::sessions_read),
        session_prompt, {.body_bytes_max = 4U << 20});
}

}  // namespace atl::api::rest
