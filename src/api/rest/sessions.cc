// Create, read, change and end sessions; snapshots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/network.h"
#include "api/rest/render.h"
#include "sandbox/limit_table.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;
using session::Session;

constexpr double kYearSeconds = 31536000;

std::optional<std::chrono::milliseconds> milliseconds(const std::optional<double>& seconds) {
  if (!seconds) return std::nullopt;
  return std::chrono::milliseconds(std::llround(*seconds * 1000));
}

Result<std::optional<double>> read_limit(const Body& limits, const sandbox::LimitRow& row) {
  if (row.unit != sandbox::LimitUnit::count) return limits.number(row.name, row.least, row.most);
  const auto whole = TRY(limits.whole_number(row.name, static_cast<std::int64_t>(row.least),
                                             static_cast<std::int64_t>(row.most)));
  if (!whole) return std::optional<double>();
  return std::optional(static_cast<double>(*whole));
}

Result<registry::LimitsPatch> read_limits(const Body& body) {
  std::vector<std::string_view> known;
  for (const sandbox::LimitRow& row : sandbox::kLimits)
    if (row.setter == sandbox::LimitSetter::client) known.push_back(row.name);
  registry::LimitsPatch patch;
  const auto limits = TRY(body.object("limits", known));
  if (!limits) return patch;
  for (const sandbox::LimitRow& row : sandbox::kLimits) {
    if (row.setter != sandbox::LimitSetter::client) continue;
    if (const auto value = TRY(read_limit(*limits, row))) sandbox::set_amount(patch, row, *value);
  }
  return patch;
}

Result<std::optional<session::OnExpiry>> read_on_expiry(const Body& body) {
  const auto word = TRY(body.text("on_expiry"));
  if (!word) return std::optional<session::OnExpiry>();
  if (*word == "destroy") return std::optional(session::OnExpiry::destroy);
  if (*word == "pause") return std::optional(session::OnExpiry::pause);
  return fail(body.wrong("on_expiry", "'on_expiry' is 'destroy' or 'pause'"));
}

// An agent by name, or as the first design wrote it: {"type": "code_executor"}, alone or as the agent.
Result<std::string> read_agent(const Body& body) {
  const auto type = TRY(body.text("type"));
  const bj::value* const agent = body.find("agent");
  if (type && agent != nullptr)
    return fail(body.wrong("type", "'type' and 'agent' both name the agent: give one of them"));
  if (type) return *type;
  if (agent == nullptr || !agent->is_object()) return TRY(body.text("agent")).value_or("");
  const auto named = TRY(body.object("agent", {"type", "name"}));
  const auto word = TRY(named->text("type"));
  if (word) return *word;
  return named->required_text("name");
}

Result<session::CreateRequest> read_create(const std::string& text) {
  const Body body =
      TRY(Body::parse(text, {"provider", "environment",   "agent",       "metadata",    "limits",
                             "policy",   "network",       "ttl_seconds", "env",         "skills",
                             "snapshot", "extend_on_use", "on_expiry",   "auto_resume", "public_ports",
                             "image",    "fallback",      "storage",     "type",        "required_walls"}));
  session::CreateRequest request;
  request.image = TRY(body.text("image")).value_or("");
  request.provider = TRY(body.text("provider")).value_or("");
  request.fallback = TRY(body.texts("fallback")).value_or(std::vector<std::string>{});
  request.environment = TRY(body.text("environment")).value_or("");
  request.agent = TRY(read_agent(body));
  request.storage = TRY(body.text("storage")).value_or("");
  request.policy = TRY(body.text("policy")).value_or("");
  request.snapshot = TRY(body.text("snapshot")).value_or("");
  request.metadata = TRY(body.text_map("metadata")).value_or(session::TextMap{});
  request.env = TRY(body.text_map("env")).value_or(session::TextMap{});
  request.skills = TRY(body.texts("skills")).value_or(std::vector<std::string>{});
  request.required_walls = TRY(body.texts("required_walls")).value_or(std::vector<std::string>{});
  request.limits = TRY(read_limits(body));
  request.ttl = milliseconds(TRY(body.number("ttl_seconds", 0.1, kYearSeconds)));
  request.extend_on_use = TRY(body.boolean("extend_on_use")).value_or(false);
  request.auto_resume = TRY(body.boolean("auto_resume")).value_or(false);
  request.on_expiry = TRY(read_on_expiry(body)).value_or(session::OnExpiry::destroy);
  if (!TRY(body.boolean("public_ports")).value_or(true)) request.ports = session::Ports::closed;
  if (auto network = TRY(read_network(body))) {
    request.network = network->mode;
    request.egress = std::move(network->rules);
  }
  return request;
}

Task<Response> create(Context context, Principal who, Request& request) {
  CO_TRY(auto wanted, read_create(request.body));
  CO_TRY(const Session made, co_await context->service->create(std::move(who), std::move(wanted)));
  co_return json_response(201, to_json(made, *context));
}

Result<session::ListRequest> read_list(const Request& request) {
  session::ListRequest list;
  for (const auto& [name, value] : request.query_fields()) {
    if (name == "state") {
      const auto state = session::parse_state(value);
      if (!state) {
        return fail(
            Error(Code::invalid_argument, fmt::format("no state is called '{}'", value)).with_field("state"));
      }
      list.states.push_back(*state);
    } else if (name == "provider") {
      list.provider = value;
    } else if (name == "environment") {
      list.environment = value;
    } else if (name.starts_with("metadata.")) {
      list.metadata.emplace(name.substr(9), value);
    } else if (name == "order") {
      if (value != "asc" && value != "desc") {
        return fail(Error(Code::invalid_argument, "'order' is 'asc' or 'desc'").with_field("order"));
      }
      list.order = value == "asc" ? session::Order::oldest_first : session::Order::newest_first;
    } else if (name == "cursor") {
      list.cursor = value;
    } else if (name != "limit" && name != "created_after") {
      return fail(
          Error(Code::invalid_argument, fmt::format("unknown query parameter '{}'", name)).with_field(name));
    }
  }
  list.created_after = TRY(time_parameter(request, "created_after"));
  list.limit = static_cast<std::uint32_t>(TRY(number_parameter(request, "limit", 100, 1, 1000)));
  return list;
}

bj::value cursor_json(const std::string& cursor) {
  if (cursor.empty()) return nullptr;
  return bj::value(cursor);
}

Task<Response> list(Context context, Principal who, Request& request) {
  CO_TRY(auto wanted, read_list(request));
  CO_TRY(const auto page, co_await context->service->list(std::move(who), std::move(wanted)));
  bj::array sessions;
  for (const Session& session : page.items) {
    bj::object shown = to_json(session, *context);
    // A list shows no secrets; they are in the answer for the one session.
    shown["access_token"] = shown["traffic_token"] = nullptr;
    sessions.push_back(std::move(shown));
  }
  bj::object body{{"sessions", std::move(sessions)}, {"next_cursor", cursor_json(page.next_cursor)}};
  co_return json_response(200, std::move(body));
}

Task<Response> get(Context context, Principal who, Request& request) {
  CO_TRY(const Session found, co_await context->service->get(std::move(who), request.param("id")));
  co_return json_response(200, to_json(found, *context));
}

Result<session::UpdateRequest> read_update(const Body& body) {
  session::UpdateRequest update;
  update.metadata = TRY(body.text_map("metadata"));
  update.env = TRY(body.text_map("env"));
  update.ttl = milliseconds(TRY(body.number("ttl_seconds", 0.1, kYearSeconds)));
  update.extend_on_use = TRY(body.boolean("extend_on_use"));
  update.auto_resume = TRY(body.boolean("auto_resume"));
  update.on_expiry = TRY(read_on_expiry(body));
  return update;
}

Task<Response> update(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"metadata", "ttl_seconds", "extend_on_use", "on_expiry",
                                                     "auto_resume", "env"}));
  CO_TRY(auto wanted, read_update(body));
  CO_TRY(const Session changed,
         co_await context->service->update(std::move(who), request.param("id"), std::move(wanted)));
  co_return json_response(200, to_json(changed, *context));
}

Task<Response> destroy(Context context, Principal who, Request& request) {
  const std::string id = request.param("id");
  if (const auto sandbox_id = request.query("sandbox_id")) {
    CO_TRY(const Session found, co_await context->service->get(who, id));
    if (found.sandbox_id != *sandbox_id) {
      co_return fail(
          Error(Code::conflict, fmt::format("session {} has another sandbox", id)).with_field("sandbox_id"));
    }
  }
  CO_TRY(const Session ended, co_await context->service->destroy(std::move(who), id));
  co_return json_response(200, to_json(ended, *context));
}

Task<Response> pause(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"to", "force"}));
  CO_TRY(const auto to, body.text("to"));
  CO_TRY(const auto force, body.boolean("force"));
  if (to && *to != "memory" && *to != "disk") co_return fail(body.wrong("to", "'to' is 'memory' or 'disk'"));
  const session::PauseRequest wanted{.on_disk = to == "disk", .force = force.value_or(false)};
  CO_TRY(const Session changed,
         co_await context->service->pause(std::move(who), request.param("id"), wanted));
  co_return json_response(200, to_json(changed, *context));
}

Task<Response> resume(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"ttl_seconds"}));
  CO_TRY(const auto ttl, body.number("ttl_seconds", 0.1, kYearSeconds));
  CO_TRY(const Session changed,
         co_await context->service->resume(std::move(who), request.param("id"), milliseconds(ttl)));
  co_return json_response(200, to_json(changed, *context));
}

Task<Response> take_snapshot(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"name"}));
  CO_TRY(auto name, body.text("name"));
  session::TextMap attributes;
  CO_TRY(const auto snapshot, co_await context->service->snapshot(std::move(who), request.param("id"),
                                                                  name.value_or(""), std::move(attributes)));
  co_return json_response(201, to_json(snapshot));
}

Task<Response> list_snapshots_of(Context context, Principal who, std::string id, Request& request) {
  CO_TRY(const auto limit, number_parameter(request, "limit", 100, 1, 1000));
  std::string cursor = request.query("cursor").value_or("");
  CO_TRY(const auto page,
         co_await context->service->list_snapshots(std::move(who), std::move(id),
                                                   static_cast<std::uint32_t>(limit), std::move(cursor)));
  bj::array snapshots;
  for (const auto& snapshot : page.items) snapshots.push_back(to_json(snapshot));
  bj::object body{{"snapshots", std::move(snapshots)}, {"next_cursor", cursor_json(page.next_cursor)}};
  co_return json_response(200, std::move(body));
}

Task<Response> session_snapshots(Context context, Principal who, Request& request) {
  CO_TRY(const Session found, co_await context->service->get(who, request.param("id")));
  co_return co_await list_snapshots_of(context, std::move(who), found.session_id, request);
}

Task<Response> all_snapshots(Context context, Principal who, Request& request) {
  co_return co_await list_snapshots_of(context, std::move(who), std::string(), request);
}

Task<Response> remove_snapshot(Context context, Principal who, Request& request) {
  CO_CHECK(co_await context->service->remove_snapshot(std::move(who), request.param("snapshot_id")));
  co_return Response::empty();
}

Task<Response> restore(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"snapshot_id"}));
  CO_TRY(auto snapshot_id, body.required_text("snapshot_id"));
  CO_TRY(const Session restored,
         co_await context->service->restore(std::move(who), request.param("id"), std::move(snapshot_id)));
  co_return json_response(200, to_json(restored, *context));
}

Result<session::ForkRequest> read_fork(const std::string& text) {
  const Body body = TRY(Body::parse(text, {"metadata", "ttl_seconds", "extend_on_use", "on_expiry",
                                           "auto_resume", "env", "kernels", "count"}));
  session::ForkRequest wanted;
  const auto interpreters = TRY(body.text("kernels"));
  if (interpreters && *interpreters != "carry" && *interpreters != "require" && *interpreters != "fresh")
    return fail(body.wrong("kernels", "'kernels' is 'carry', 'require' or 'fresh'"));
  wanted.files_only = interpreters == "fresh", wanted.strict = interpreters == "require";
  const auto count = TRY(body.whole_number("count", 1, 100));
  wanted.copies.assign(static_cast<std::size_t>(count.value_or(1)), TRY(read_update(body)));
  return wanted;
}

bj::object copy_json(const Result<Session>& copy, const Dependencies& dependencies) {
  if (copy) return {{"session", to_json(*copy, dependencies)}};
  return {{"error",
           {{"code", std::string(to_string(copy.error().code()))}, {"message", copy.error().message()}}}};
}

// The first of the new sessions, as if it had been created, and how the fork went.
Task<Response> fork(Context context, Principal who, Request& request) {
  CO_TRY(auto wanted, read_fork(request.body));
  CO_TRY(const auto forked,
         co_await context->service->fork(std::move(who), request.param("id"), std::move(wanted)));
  const auto first = std::ranges::find_if(forked.sessions, [](const auto& one) { return one.has_value(); });
  if (first == forked.sessions.end()) co_return fail(forked.sessions.front().error());
  bj::object body = to_json(**first, *context);
  bj::object facts = to_json(forked);
  bj::array copies;
  for (const auto& one : forked.sessions) copies.push_back(copy_json(one, *context));
  facts["copies"] = std::move(copies);
  body["fork"] = std::move(facts);
  co_return json_response(201, std::move(body));
}

Task<Response> usage(Context context, Principal who, Request& request) {
  CO_TRY(const auto used, co_await context->service->usage(std::move(who), request.param("id")));
  co_return json_response(200, to_json(used));
}

Task<Response> metrics(Context context, Principal who, Request& request) {
  CO_TRY(const auto from, time_parameter(request, "from"));
  CO_TRY(const auto to, time_parameter(request, "to"));
  CO_TRY(const auto samples,
         co_await context->service->metrics(std::move(who), request.param("id"), from, to));
  bj::array series;
  for (const auto& sample : samples) series.push_back(to_json(sample));
  bj::object body{{"samples", std::move(series)}};
  co_return json_response(200, std::move(body));
}

}  // namespace

void mount_sessions(net::Router& router, const Context& context) {
  route(router, context, Method::post, "/api/sessions", with_key(Permission::sessions_write), create);
  route(router, context, Method::get, "/api/sessions", with_key(Permission::sessions_read), list);
  route(router, context, Method::get, "/api/sessions/{id}", with_key(Permission::sessions_read), get);
  route(router, context, Method::patch, "/api/sessions/{id}", with_key(Permission::sessions_write), update);
  route(router, context, Method::del, "/api/sessions/{id}", with_key(Permission::sessions_write).ending(),
        destroy);
  route(router, context, Method::post, "/api/sessions/{id}/pause",
        with_key(Permission::sessions_write).ending(), pause);
  route(router, context, Method::post, "/api/sessions/{id}/resume", with_key(Permission::sessions_write),
        resume);
  route(router, context, Method::post, "/api/sessions/{id}/snapshots", with_key(Permission::snapshots),
        take_snapshot);
  route(router, context, Method::get, "/api/sessions/{id}/snapshots", with_key(Permission::sessions_read),
        session_snapshots);
  route(router, context, Method::post, "/api/sessions/{id}/restore", with_key(Permission::sessions_write),
        restore);
  route(router, context, Method::post, "/api/sessions/{id}/fork", with_key(Permission::sessions_write), fork);
  route(router, context, Method::get, "/api/sessions/{id}/usage", with_key(Permission::sessions_read), usage);
  route(router, context, Method::get, "/api/sessions/{id}/metrics", with_key(Permission::sessions_read),
        metrics);
  route(router, context, Method::get, "/api/snapshots", with_key(Permission::sessions_read), all_snapshots);
  route(router, context, Method::del, "/api/snapshots/{snapshot_id}",
        with_key(Permission::snapshots).ending(), remove_snapshot);
}

}  // namespace atl::api::rest
