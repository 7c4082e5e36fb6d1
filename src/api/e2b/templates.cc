#include "api/e2b/templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/ids.h"

namespace atl::api::e2b {
namespace {

constexpr const char* kSnapshotTemplate = "e2b.template";
constexpr const char* kSnapshotTag = "e2b.tag";  // absent: kDefaultTag
constexpr const char* kDefaultTag = "default";
constexpr const char* kTemplateKind = "e2b_template";
// Of no tenant: which templates are public, by id, and whose.
constexpr const char* kPublicKind = "e2b_public_template";
constexpr const char* kNoBuild = "00000000-0000-4000-8000-000000000000";

std::string attribute_of(const session::Snapshot& snapshot, const char* name) {
  auto found = snapshot.attributes.find(name);
  return found == snapshot.attributes.end() ? std::string() : found->second;
}

std::string template_of(const session::Snapshot& snapshot) {
  std::string id = attribute_of(snapshot, kSnapshotTemplate);
  return id.empty() ? snapshot.snapshot_id : id;
}

std::string tag_of(const session::Snapshot& snapshot) {
  std::string tag = attribute_of(snapshot, kSnapshotTag);
  return tag.empty() ? kDefaultTag : tag;
}

std::string tag_of(const TemplateRef& ref) {
  return ref.tag.empty() ? kDefaultTag : ref.tag;
}

Object snapshot_info(const session::Snapshot& snapshot) {
  const std::string tag = tag_of(snapshot);
  if (snapshot.name.empty())
    return Object{{"snapshotID", fmt::format("{}:{}", template_of(snapshot), tag)}, {"names", Array()}};
  std::string full = snapshot.tenant + "/" + snapshot.name;
  return Object{{"snapshotID", fmt::format("{}:{}", full, tag)}, {"names", Array{boost::json::value(full)}}};
}

Array tag_list(const BuiltTemplate& document) {
  Array tags;
  for (const auto& [build_id, build] : document.builds) {
    for (const std::string& tag : build.tags) {
      if (document.build_of(tag) != build_id) continue;
      tags.push_back(
          Object{{"tag", tag}, {"buildID", build_id}, {"createdAt", to_timestamp(build.created_at)}});
    }
  }
  return tags;
}

std::unexpected<Error> no_tag(std::string_view tag, std::string_view name) {
  return fail(Code::not_found, fmt::format("tag '{}' does not exist for template '{}'", tag, name));
}

Template shipped(const std::string& name) {
  Template made;
  made.id = made.name = made.settings.environment = name;
  made.build_id = kNoBuild;
  made.is_public = true;
  return made;
}

std::unexpected<Error> no_template(std::string_view name) {
  return fail(Code::not_found, fmt::format("template '{}' not found", name));
}

std::unexpected<Error> not_yours(std::string_view name) {
  return fail(Code::permission_denied,
              fmt::format("template '{}' belongs to another team: it cannot be changed", name));
}

// As others can call it.
std::string full_name(const Template& made) {
  const bool bare = made.tenant.empty() || made.name.find('/') != std::string::npos;
  return bare ? made.name : made.tenant + "/" + made.name;
}

Array name_list(const std::string& name) {
  Array names;
  if (!name.empty()) names.emplace_back(name);
  return names;
}

}  // namespace

// Every environment of the registry is a template under its name.
bool Templates::is_shipped(const std::string& name) const {
  return context_.service.registry().environment(name) != nullptr;
}

// What the environment and the ceilings give.
sandbox::Limits Templates::limits_of(const TemplateSettings& settings) const {
  const registry::Registry& registry = context_.service.registry();
  sandbox::Limits limits;
  if (const auto* environment = registry.environment(settings.environment))
    limits = registry.sandbox_limits(*environment, {});
  registry::clamp(limits, context_.service.ceilings());
  return limits;
}

std::int64_t Templates::disk_mb(const TemplateSettings& settings) const {
  return settings.disk_mb.value_or(static_cast<std::int64_t>(limits_of(settings).disk_bytes / kMegabyte));
}

Object Templates::template_info(const Template& made) const {
  const sandbox::Limits limits = limits_of(made.settings);
  std::string at = to_timestamp(made.created_at);
  return Object{
      {"templateID", made.id},
      {"buildID", made.build_id},
      {"cpuCount", made.settings.cpu_count.value_or(static_cast<std::int64_t>(limits.cpu_cores + 0.999))},
      {"memoryMB",
       made.settings.memory_mb.value_or(static_cast<std::int64_t>(limits.memory_bytes / kMegabyte))},
      {"diskSizeMB", disk_mb(made.settings)},
      {"public", made.is_public},
      {"aliases", name_list(made.name)},
      {"names", name_list(full_name(made))},
      {"createdAt", at},
      {"updatedAt", at},
      {"createdBy", nullptr},
      {"lastSpawnedAt", nullptr},
      {"spawnCount", 0},
      {"buildCount", made.build_count},
      {"envdVersion", kEnvdVersion},
      {"buildStatus", made.is_ready ? "ready" : "waiting"}};
}

Template Templates::from_document(const std::string& tenant, const BuiltTemplate& document,
                                  const std::string& build_id) const {
  Template found;
  found.tenant = tenant;
  found.is_public = document.is_public;
  found.id = document.id;
  found.name = document.name;
  found.created_at = document.created_at;
  found.build_count = document.builds.size();
  found.build_id = build_id.empty() ? kNoBuild : build_id;
  auto build = document.builds.find(build_id);
  found.is_ready = build != document.builds.end() && build->second.status == "ready";
  if (build != document.builds.end()) {
    found.snapshot = build->second.snapshot;
    found.settings = build->second.settings;
  }
  return found;
}

void Templates::add(net::Router& router, net::Method method, std::string_view path, Rule rule,
                    Handler handler) {
  router.add(method, path, context_.admission.rule(rule), [this, handler](net::Request& request) {
    return (this->*handler)(request, grant_of(request).who);
  });
}

void Templates::mount(net::Router& router) {
  add(router, net::Method::post, "/sandboxes/{id}/snapshots", with_key(Permission::snapshots),
      &Templates::create_snapshot);
  add(router, net::Method::get, "/snapshots", with_key(Permission::sessions_read),
      &Templates::list_snapshots);
  add(router, net::Method::get, "/templates", with_key(Permission::catalog_read), &Templates::list);
  add(router, net::Method::get, "/v2/templates", with_key(Permission::catalog_read), &Templates::list);
  add(router, net::Method::get, "/templates/{template}", with_key(Permission::catalog_read), &Templates::get);
  add(router, net::Method::get, "/templates/aliases/{alias}", with_key(Permission::templates),
      &Templates::alias);
  add(router, net::Method::get, "/templates/{template}/tags", with_key(Permission::templates),
      &Templates::list_tags);
  add(router, net::Method::del, "/templates/{template}", with_key(Permission::templates).ending(),
      &Templates::remove);
  add(router, net::Method::patch, "/templates/{template}", with_key(Permission::templates),
      &Templates::change);
  add(router, net::Method::patch, "/v2/templates/{template}", with_key(Permission::templates),
      &Templates::change);
}

// All of one name or id, newest first.
Task<std::vector<session::Snapshot>> Templates::find_snapshots(auth::Principal who, TemplateRef ref) {
  std::vector<session::Snapshot> found;
  std::string cursor;
  std::string any;
  do {
    CO_TRY(auto page, co_await context_.service.list_snapshots(who, any, 100, cursor));
    for (session::Snapshot& snapshot : page.items) {
      const bool named = !snapshot.name.empty() && snapshot.name == ref.name;
      if (named || snapshot.snapshot_id == ref.name || template_of(snapshot) == ref.name)
        found.push_back(std::move(snapshot));
    }
    cursor = page.next_cursor;
  } while (!cursor.empty());
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tie(b.created_at, b.snapshot_id) < std::tie(a.created_at, a.snapshot_id);
  });
  co_return found;
}

Task<Template> Templates::resolve(auth::Principal who, std::string reference) {
  CO_TRY(TemplateRef ref, parse_template_ref(reference));
  const std::string tag = tag_of(ref);
  const bool foreign = !ref.space.empty() && ref.space != who.tenant;
  if (!foreign && is_shipped(ref.name)) {
    if (tag != kDefaultTag) co_return no_tag(tag, ref.name);
    co_return shipped(ref.name);
  }
  if (!foreign) {
    auto document = co_await built(who, ref.name);
    if (!document && document.error().code() != Code::not_found) co_return fail(std::move(document).error());
    if (document) {
      std::string build_id = document->build_of(tag);
      if (build_id.empty()) co_return no_tag(tag, ref.name);
      co_return from_document(who.tenant, *document, build_id);
    }
  }
  std::vector<session::Snapshot> snapshots;
  if (!foreign) {
    CO_TRY(snapshots, co_await find_snapshots(who, ref));
  }
  if (snapshots.empty()) {
    CO_TRY(const auto shared, co_await find_public(ref));
    if (!shared) co_return no_template(reference);
    std::string build_id = shared->document.build_of(tag);
    if (build_id.empty()) co_return no_tag(tag, ref.name);
    Template found = from_document(shared->tenant, shared->document, build_id);
    found.name = full_name(found);
    co_return found;
  }
  const auto snapshot = std::find_if(snapshots.begin(), snapshots.end(),
                                     [&](const session::Snapshot& one) { return tag_of(one) == tag; });
  if (snapshot == snapshots.end()) co_return no_tag(tag, ref.name);
  Template made;
  made.id = template_of(*snapshot);
  made.name = snapshot->name;
  made.tenant = who.tenant;
  made.build_id = kNoBuild;
  if (auto settings = attribute_of(*snapshot, attribute::kSettings); !settings.empty()) {
    CO_TRY(made.settings, TemplateSettings::from_json(settings));
  }
  made.settings.environment = snapshot->environment;
  made.settings.provider = snapshot->provider;
  made.snapshot = snapshot->snapshot_id;
  made.created_at = snapshot->created_at;
  made.build_count = snapshots.size();
  co_return made;
}

Task<BuiltTemplate> Templates::built(auth::Principal who, std::string id_or_name) {
  auto row = co_await context_.store.get_document(kTemplateKind, who.tenant, id_or_name);
  if (!row && row.error().code() == Code::not_found) co_return no_template(id_or_name);
  if (!row) co_return fail(std::move(row).error());
  co_return BuiltTemplate::from_json(row->body);
}

Task<BuiltTemplate> Templates::changeable(auth::Principal who, TemplateRef ref) {
  const bool foreign = !ref.space.empty() && ref.space != who.tenant;
  Result<BuiltTemplate> own = no_template(ref.space + "/" + ref.name);
  if (!foreign) own = co_await built(who, ref.name);
  if (own || own.error().code() != Code::not_found) co_return own;
  CO_TRY(const auto shared, co_await find_public(ref));
  if (shared) co_return not_yours(ref.name);
  co_return own;
}

Task<std::optional<Templates::Shared>> Templates::find_public(TemplateRef ref) {
  std::optional<Shared> none;
  std::string tenant = ref.space;
  if (tenant.empty()) {
    std::string kind = kPublicKind, nobody;
    auto entry = co_await context_.store.get_document(kind, nobody, ref.name);
    if (!entry && entry.error().code() == Code::not_found) co_return none;
    if (!entry) co_return fail(std::move(entry).error());
    tenant = entry->body;
  }
  auto row = co_await context_.store.get_document(kTemplateKind, tenant, ref.name);
  if (!row && row.error().code() == Code::not_found) co_return none;
  if (!row) co_return fail(std::move(row).error());
  CO_TRY(BuiltTemplate document, BuiltTemplate::from_json(row->body));
  if (!document.is_public) co_return none;
  co_return Shared{std::move(tenant), std::move(document)};
}

// The template says it, the list of ids only finds it: in doubt it is private.
Task<void> Templates::set_public(auth::Principal who, BuiltTemplate made, bool is_public) {
  made.is_public = is_public;
  store::DocumentRow entry;
  entry.kind = kPublicKind;
  entry.id = made.id;
  entry.body = who.tenant;
  entry.created_at = entry.updated_at = context_.clock.now();
  if (is_public) CO_CHECK(co_await context_.store.put_document(entry));
  CO_CHECK(co_await save(who, made));
  if (!is_public) CO_CHECK(co_await context_.store.remove_document(entry.kind, entry.tenant, entry.id));
  co_return Result<void>{};
}

Task<std::uint64_t> Templates::count(std::string tenant) {
  std::string kind = kTemplateKind;
  CO_TRY(const auto rows, co_await context_.store.list_documents(std::move(kind), std::move(tenant)));
  co_return rows.size();
}

Task<void> Templates::forget_public(std::string tenant) {
  const std::string kind = kPublicKind, nobody;
  CO_TRY(const auto rows, co_await context_.store.list_documents(kind, nobody));
  for (const store::DocumentRow& row : rows)
    if (row.body == tenant) CO_CHECK(co_await context_.store.remove_document(kind, nobody, row.id));
  co_return Result<void>{};
}

Task<BuiltTemplate> Templates::find_or_create(auth::Principal who, std::string name,
                                              quota::Reservation& place) {
  auto found = co_await built(who, name);
  if (found || found.error().code() != Code::not_found) co_return found;
  std::string kind = kTemplateKind;
  CO_TRY(const auto others, co_await context_.store.list_documents(std::move(kind), who.tenant));
  if (const std::uint64_t most = context_.bounds.template_count; most > 0 && others.size() >= most)
    co_return fail(
        Code::no_space,
        fmt::format("there are {} templates, and {} may be kept: delete some first", others.size(), most));
  if (context_.inventory != nullptr) {
    const quota::Holder holder{who.tenant, who.key_id};
    CO_TRY(place, co_await context_.inventory->reserve_one(quota::Quota::templates, holder));
  }
  BuiltTemplate made;
  made.id = random_word(20);
  made.name = name;
  made.created_at = context_.clock.now();
  co_return made;
}

Task<void> Templates::save(auth::Principal who, const BuiltTemplate& made) {
  store::DocumentRow row;
  row.kind = kTemplateKind;
  row.tenant = who.tenant;
  row.id = made.id;
  row.name = made.name;
  row.body = made.to_json();
  row.created_at = made.created_at;
  row.updated_at = context_.clock.now();
  co_return co_await context_.store.put_document(std::move(row));
}

Task<std::vector<std::string>> Templates::built_snapshots(auth::Principal who) {
  std::string kind = kTemplateKind;
  CO_TRY(const auto rows, co_await context_.store.list_documents(kind, who.tenant));
  std::vector<std::string> snapshots;
  for (const store::DocumentRow& row : rows) {
    CO_TRY(const BuiltTemplate document, BuiltTemplate::from_json(row.body));
    for (const auto& [build_id, build] : document.builds) snapshots.push_back(build.snapshot);
  }
  co_return snapshots;
}

Task<void> Templates::check_name(auth::Principal who, const TemplateRef& ref) {
  if (!ref.space.empty() && ref.space != who.tenant)
    co_return fail(Code::permission_denied, fmt::format("the namespace '{}' is not yours", ref.space));
  if (is_shipped(ref.name))
    co_return fail(Code::permission_denied, fmt::format("the name '{}' is taken", ref.name));
  co_return Result<void>{};
}

Task<net::Response> Templates::create_snapshot(net::Request& request, auth::Principal who) {
  CO_TRY(Object message, parse_object(request.body));
  CO_TRY(std::string name, text_or(message, "name", ""));
  CO_TRY(const session::Session source, co_await live_session(context_, request, who));
  if (source.state == session::State::paused || source.pausing)
    co_return fail(Code::conflict, "a paused sandbox cannot be snapshotted: resume it first");
  session::TextMap attributes{{kSnapshotTemplate, random_word(20)}};
  std::vector<session::Snapshot> before;
  if (!name.empty()) {
    CO_TRY(TemplateRef ref, parse_template_ref(name));
    CO_CHECK(co_await check_name(who, ref));
    name = ref.name;
    if (auto taken = co_await built(who, name); taken)
      co_return fail(Code::invalid_argument,
                     fmt::format("the name '{}' is that of a template that was built", name));
    if (tag_of(ref) != kDefaultTag) attributes[kSnapshotTag] = ref.tag;
    CO_TRY(before, co_await find_snapshots(who, ref));
    // One name is one template, whatever its tags.
    if (!before.empty()) attributes[kSnapshotTemplate] = template_of(before.front());
    std::erase_if(before, [&](const session::Snapshot& one) { return tag_of(one) != tag_of(ref); });
  }
  if (auto settings = source.attributes.find(attribute::kSettings); settings != source.attributes.end())
    attributes.insert(*settings);
  CO_TRY(const auto snapshot,
         co_await context_.service.snapshot(who, source.session_id, name, std::move(attributes)));
  // A name with a tag stands for its newest snapshot. One that a sandbox stands on stays as long as that
  // lives.
  for (const session::Snapshot& older : before) {
    auto removed = co_await context_.service.remove_snapshot(who, older.snapshot_id);
    if (!removed && removed.error().code() != Code::conflict) co_return fail(std::move(removed).error());
  }
  co_return json_response(201, snapshot_info(snapshot));
}

Task<net::Response> Templates::list_snapshots(net::Request& request, auth::Principal who) {
  std::string id = request.query("sandboxID").value_or("");
  std::string name = request.query("name").value_or("");
  std::string cursor = request.query("nextToken").value_or("");
  TemplateRef ref;
  if (!name.empty()) {
    CO_TRY(ref, parse_template_ref(name));
  }
  CO_TRY(const std::size_t limit, page_limit(request));
  const auto is_wanted = [&](const session::Snapshot& one) {
    if (one.attributes.contains(attribute::kBuild)) return false;
    return name.empty() ||
           (!one.name.empty() && one.name == ref.name && (ref.tag.empty() || tag_of(one) == ref.tag));
  };
  // A page is full of what is wanted, and another one follows only if something wanted does.
  Array list;
  std::string last, next;
  do {
    auto page = co_await context_.service.list_snapshots(who, id, 100, cursor);
    if (!page && page.error().field() == "cursor")
      co_return fail(Code::invalid_argument, "Invalid next token");
    if (!page) co_return fail(std::move(page).error());
    for (const session::Snapshot& snapshot : page->items) {
      if (!next.empty() || !is_wanted(snapshot)) continue;
      if (list.size() == limit) {
        next = last;
        continue;
      }
      list.push_back(snapshot_info(snapshot));
      last = snapshot.cursor;
    }
    cursor = std::move(page->next_cursor);
  } while (!cursor.empty() && next.empty());
  net::Response response = json_response(200, list);
  if (!next.empty()) response.headers.add("X-Next-Token", next);
  co_return response;
}

// The second generation has pages; a page starts after the template that the page before ended with.
Task<net::Response> Templates::list(net::Request& request, auth::Principal who) {
  const auto team = request.query("teamID");
  if (team && *team != who.tenant) co_return fail(Code::not_found, fmt::format("team '{}' not found", *team));
  Array list;
  std::string kind = kTemplateKind;
  CO_TRY(auto rows, co_await context_.store.list_documents(kind, who.tenant));
  for (const store::DocumentRow& row : rows) {
    CO_TRY(const BuiltTemplate document, BuiltTemplate::from_json(row.body));
    list.push_back(template_info(from_document(who.tenant, document, document.build_of("default"))));
  }
  for (const auto& [name, environment] : context_.service.registry().environments())
    list.push_back(template_info(shipped(name)));
  if (!request.path.starts_with("/v2/")) co_return json_response(200, list);
  CO_TRY(const std::size_t limit, page_limit(request));
  const std::string after = request.query("nextToken").value_or("");
  const auto is_last = [&](const boost::json::value& one) {
    return one.at("templateID").as_string() == after;
  };
  auto first = after.empty() ? list.begin() : std::find_if(list.begin(), list.end(), is_last);
  if (first == list.end() && !after.empty()) co_return fail(Code::invalid_argument, "Invalid next token");
  if (!after.empty()) ++first;
  const auto end = first + std::min<std::ptrdiff_t>(list.end() - first, static_cast<std::ptrdiff_t>(limit));
  const Array page(first, end);
  net::Response response = json_response(200, page);
  if (end != list.end())
    response.headers.add("X-Next-Token", std::string(page.back().at("templateID").as_string()));
  co_return response;
}

Task<net::Response> Templates::get(net::Request& request, auth::Principal who) {
  std::string reference = request.param("template");
  CO_TRY(Template found, co_await resolve(who, reference));
  co_return json_response(200, template_info(found));
}

Task<net::Response> Templates::alias(net::Request& request, auth::Principal who) {
  std::string reference = request.param("alias");
  CO_TRY(Template found, co_await resolve(who, reference));
  co_return json_response(200, Object{{"templateID", found.id}, {"public", found.is_public}});
}

Task<net::Response> Templates::list_tags(net::Request& request, auth::Principal who) {
  std::string reference = request.param("template");
  CO_TRY(const TemplateRef ref, parse_template_ref(reference));
  const bool foreign = !ref.space.empty() && ref.space != who.tenant;
  Result<BuiltTemplate> document = no_template(reference);
  if (!foreign) document = co_await built(who, ref.name);
  if (!document && document.error().code() != Code::not_found) co_return fail(std::move(document).error());
  if (document) co_return json_response(200, tag_list(*document));
  std::vector<session::Snapshot> snapshots;
  if (!foreign) {
    CO_TRY(snapshots, co_await find_snapshots(who, ref));
  }
  if (snapshots.empty()) {
    CO_TRY(const auto shared, co_await find_public(ref));
    if (shared) co_return json_response(200, tag_list(shared->document));
  }
  Array tags;
  for (const session::Snapshot& one : snapshots)
    tags.push_back(
        Object{{"tag", tag_of(one)}, {"buildID", kNoBuild}, {"createdAt", to_timestamp(one.created_at)}});
  if (!tags.empty()) co_return json_response(200, tags);
  CO_TRY(Template found, co_await resolve(who, reference));
  tags.push_back(
      Object{{"tag", kDefaultTag}, {"buildID", kNoBuild}, {"createdAt", to_timestamp(found.created_at)}});
  co_return json_response(200, tags);
}

Task<net::Response> Templates::change(net::Request& request, auth::Principal who) {
  std::string reference = request.param("template");
  CO_TRY(const Object message, parse_object(request.body));
  CO_TRY(const auto is_public, boolean(message, "public"));
  CO_TRY(const Template found, co_await resolve(who, reference));
  if (!found.tenant.empty() && found.tenant != who.tenant) co_return not_yours(reference);
  if (is_public && *is_public != found.is_public) {
    if (found.tenant.empty())
      co_return fail(Code::permission_denied, "a shipped template is everybody's: it cannot be made private");
    auto document = co_await built(who, found.id);
    if (!document)
      co_return fail(Code::unsupported,
                     "a snapshot cannot be made public: build a template from it (fromTemplate)");
    CO_CHECK(co_await set_public(who, std::move(*document), *is_public));
  }
  co_return json_response(200, Object{{"names", name_list(full_name(found))}});
}

// Also by sandboxes of others, if it is or was public.
bool Templates::is_used(const std::string& template_id) const {
  for (const session::Session& session : context_.service.peek_all()) {
    auto used = session.attributes.find(attribute::kTemplate);
    if (used != session.attributes.end() && used->second == template_id) return true;
  }
  return false;
}

Task<void> Templates::drop_snapshot(auth::Principal who, std::string snapshot,
                                    std::vector<std::string> used) {
  if (snapshot.empty() || std::find(used.begin(), used.end(), snapshot) != used.end())
    co_return Result<void>{};
  CO_TRY(const bool is_layer, co_await cache_.holds(who, snapshot));
  if (is_layer) co_return Result<void>{};
  auto removed = co_await context_.service.remove_snapshot(who, snapshot);
  if (!removed && removed.error().code() != Code::not_found) co_return fail(std::move(removed).error());
  co_return Result<void>{};
}

Task<void> Templates::erase(auth::Principal who, BuiltTemplate document) {
  std::string kind = kTemplateKind;
  CO_CHECK(co_await context_.store.remove_document(kind, who.tenant, document.id));
  std::string public_kind = kPublicKind, nobody;
  CO_CHECK(co_await context_.store.remove_document(public_kind, nobody, document.id));
  CO_TRY(const auto used, co_await built_snapshots(who));
  for (const auto& [build_id, build] : document.builds)
    CO_CHECK(co_await drop_snapshot(who, build.snapshot, used));
  co_return Result<void>{};
}

Task<void> Templates::trim_builds(auth::Principal who, BuiltTemplate& made) {
  const std::uint64_t most = context_.bounds.builds;
  if (most == 0) co_return Result<void>{};
  std::vector<std::pair<WallTime, std::string>> untagged;
  for (const auto& [build_id, build] : made.builds) {
    const bool named =
        std::ranges::any_of(build.tags, [&](const auto& tag) { return made.build_of(tag) == build_id; });
    if (!named) untagged.emplace_back(build.created_at, build_id);
  }
  std::sort(untagged.begin(), untagged.end(), std::greater<>());
  if (untagged.size() <= most) co_return Result<void>{};
  std::vector<std::string> dropped;
  for (auto at = untagged.begin() + static_cast<std::ptrdiff_t>(most); at != untagged.end(); ++at)
    dropped.push_back(made.builds.extract(at->second).mapped().snapshot);
  // Known before they go: a template never names a snapshot that is not there.
  CO_CHECK(co_await save(who, made));
  CO_TRY(const auto used, co_await built_snapshots(who));
  for (const std::string& snapshot : dropped) {
    // A sandbox may stand on it; it goes with the age of snapshots, or by hand.
    auto gone = co_await drop_snapshot(who, snapshot, used);
    if (!gone && gone.error().code() != Code::conflict) co_return gone;
  }
  co_return Result<void>{};
}

Task<void> Templates::remove_old(WallTime before) {
  std::string kind = kTemplateKind;
  CO_TRY(const auto rows, co_await context_.store.documents_before(std::move(kind), before));
  for (const store::DocumentRow& row : rows) {
    CO_TRY(BuiltTemplate document, BuiltTemplate::from_json(row.body));
    if (is_used(document.id)) continue;
    auth::Principal owner;
    owner.tenant = row.tenant;
    owner.permissions = {auth::Permission::snapshots, auth::Permission::templates};
    CO_CHECK(co_await erase(std::move(owner), std::move(document)));
  }
  co_return Result<void>{};
}

Task<net::Response> Templates::remove(net::Request& request, auth::Principal who) {
  std::string reference = request.param("template");
  CO_TRY(Template found, co_await resolve(who, reference));
  if (found.tenant.empty()) co_return fail(Code::permission_denied, "a shipped template cannot be deleted");
  if (found.tenant != who.tenant) co_return not_yours(reference);
  if (is_used(found.id)) co_return fail(Code::invalid_argument, "the template is used by a sandbox");
  auto document = co_await built(who, found.id);
  if (document) {
    CO_CHECK(co_await erase(who, std::move(*document)));
    co_return net::Response::empty(204);
  }
  CO_CHECK(co_await context_.service.remove_snapshot(who, found.snapshot));
  co_return net::Response::empty(204);
}

}  // namespace atl::api::e2b
