#include "atoll/client.h"

#include <fmt/format.h>

#include "session_state.h"

namespace atl::client {
namespace detail {

Async<Json> call_json(std::shared_ptr<Engine> engine, Request request, CallOptions call,
                      std::optional<Milliseconds> usual) {
  Answer answer = co_await engine->send(std::move(request), std::move(call), usual);
  co_return answer.json();
}

Async<void> call_plain(std::shared_ptr<Engine> engine, Request request, CallOptions call) {
  co_await engine->send(std::move(request), std::move(call));
}

Async<std::vector<Json>> list_of(std::shared_ptr<Engine> engine, Request request, const char* name,
                                 CallOptions call) {
  Json answer = co_await call_json(std::move(engine), std::move(request), std::move(call));
  co_return read_list(answer, name, read_json);
}

Request get_request(std::string path, Query query) {
  return {.method = "GET", .path = std::move(path), .query = std::move(query)};
}

Request post_request(std::string path, const Json& body) {
  return {.method = "POST", .path = std::move(path), .body = body.dump()};
}

void set_if(Json& body, const char* name, const std::string& value) {
  if (!value.empty()) body.set(name, value);
}

void set_if(Json& body, const char* name, const std::vector<std::string>& values) {
  if (!values.empty()) body.set(name, Json(values));
}

void set_if(Json& body, const char* name, const Variables& values) {
  if (!values.empty()) body.set(name, variables_json(values));
}

Json variables_json(const Variables& values) {
  Json object = Json::object();
  for (const auto& [name, value] : values) object.set(name, value);
  return object;
}

Query history_query(const HistoryOptions& options) {
  Query query;
  for (const std::string& status : options.statuses) query.emplace_back("status", status);
  auto add = [&](const char* name, const std::optional<std::string>& value) {
    if (value) query.emplace_back(name, *value);
  };
  add("text", options.text);
  add("from", options.since);
  add("to", options.until);
  query.emplace_back("order", options.order);
  return query;
}

namespace {

Json create_body(const CreateOptions& options) {
  Json body = Json::object();
  set_if(body, "provider", options.provider);
  set_if(body, "fallback", options.fallback);
  set_if(body, "environment", options.environment);
  set_if(body, "image", options.image);
  set_if(body, "agent", options.agent);
  set_if(body, "policy", options.policy);
  set_if(body, "storage", options.storage);
  set_if(body, "snapshot", options.snapshot);
  set_if(body, "ttl_seconds", options.ttl_seconds);
  set_if(body, "extend_on_use", options.extend_on_use);
  set_if(body, "on_expiry", options.on_expiry);
  set_if(body, "auto_resume", options.auto_resume);
  set_if(body, "public_ports", options.public_ports);
  set_if(body, "required_walls", options.required_walls);
  set_if(body, "skills", options.skills);
  set_if(body, "metadata", options.metadata);
  set_if(body, "env", options.env);
  if (!options.limits.is_null()) body.set("limits", options.limits);
  if (!options.network.is_null()) body.set("network", options.network);
  return body;
}

Async<Session> session_from(std::shared_ptr<Engine> engine, Request request, CallOptions call) {
  Json answer = co_await call_json(engine, std::move(request), std::move(call));
  co_return Session(std::make_shared<SessionState>(engine, read_session(answer)));
}

}  // namespace
}  // namespace detail

using namespace detail;

Json Answer::json() const {
  try {
    return Json::parse(body);
  } catch (const JsonError& error) {
    throw ProtocolError("the answer is no JSON: " + error.message());
  }
}

SandboxClient::SandboxClient(ClientOptions options) : engine_(Engine::make(std::move(options))) {}

SandboxClient::SandboxClient(std::string url, std::string api_key)
    : SandboxClient(ClientOptions{.url = std::move(url), .api_key = std::move(api_key)}) {}

const std::string& SandboxClient::url() const {
  return engine_->options().url;
}

void SandboxClient::close() {
  engine_->close();
}

Async<Session> SandboxClient::create_async(CreateOptions options, CallOptions call) {
  return session_from(engine_, post_request("/api/sessions", create_body(options)), std::move(call));
}

Async<Session> SandboxClient::get_async(std::string id, CallOptions call) {
  return session_from(engine_, get_request("/api/sessions/" + escape(id)), std::move(call));
}

Async<Session> SandboxClient::connect_async(std::string id, CallOptions call) {
  auto engine = engine_;
  Session session = co_await session_from(engine, get_request("/api/sessions/" + escape(id)), call);
  session.keep();
  if (session.state() == "paused") co_await session.resume_async({}, call);
  co_return session;
}

Async<std::vector<SessionInfo>> SandboxClient::list_async(ListOptions options, CallOptions call) {
  Query query;
  for (const std::string& state : options.states) query.emplace_back("state", state);
  if (options.provider) query.emplace_back("provider", *options.provider);
  if (options.environment) query.emplace_back("environment", *options.environment);
  if (options.created_after) query.emplace_back("created_after", *options.created_after);
  for (const auto& [name, value] : options.metadata) query.emplace_back("metadata." + name, value);
  query.emplace_back("order", options.order);
  return all_pages<SessionInfo>(engine_, "/api/sessions", "sessions", std::move(query), options.limit,
                                std::move(call), read_session);
}

Async<std::vector<Record>> SandboxClient::history_async(HistoryOptions options, CallOptions call) {
  Query query = history_query(options);
  if (options.session_id) query.emplace_back("session_id", *options.session_id);
  return all_pages<Record>(engine_, "/api/history", "records", std::move(query), options.limit,
                           std::move(call), read_record);
}

Async<std::vector<Snapshot>> SandboxClient::snapshots_async(CallOptions call) {
  return all_pages<Snapshot>(engine_, "/api/snapshots", "snapshots", {}, {}, std::move(call), read_snapshot);
}

Async<void> SandboxClient::remove_snapshot_async(std::string id, CallOptions call) {
  Request request{.method = "DELETE", .path = "/api/snapshots/" + escape(id)};
  return call_plain(engine_, std::move(request), std::move(call));
}

Async<std::string> SandboxClient::artifact_async(std::string digest, CallOptions call) {
  auto engine = engine_;
  Answer answer = co_await engine->send(get_request("/api/artifacts/" + escape(digest)), std::move(call));
  co_return std::move(answer.body);
}

Async<Verdict> SandboxClient::validate_async(std::string code, std::string language, std::string policy,
                                             CallOptions call) {
  auto engine = engine_;
  Json body = Json::object({{"code", code}});
  set_if(body, "language", language);
  set_if(body, "policy", policy);
  Request request = post_request("/api/validate", body);
  request.idempotent = true;
  Json answer = co_await call_json(engine, std::move(request), std::move(call));
  co_return read_verdict(answer);
}

Async<std::vector<Json>> SandboxClient::tools_async(std::string format, std::string search,
                                                    CallOptions call) {
  Query query;
  if (!format.empty()) query.emplace_back("format", format);
  if (!search.empty()) query.emplace_back("search", search);
  return list_of(engine_, get_request("/api/tools", std::move(query)), "tools", std::move(call));
}

Async<void> SandboxClient::put_tool_async(Json declaration, CallOptions call) {
  Request request =
      post_request("/api/registry/tools/" + escape(declaration["name"].as_string()), declaration);
  request.method = "PUT";
  return call_plain(engine_, std::move(request), std::move(call));
}

Async<void> SandboxClient::remove_tool_async(std::string name, CallOptions call) {
  Request request{.method = "DELETE", .path = "/api/registry/tools/" + escape(name)};
  return call_plain(engine_, std::move(request), std::move(call));
}

Async<std::vector<Skill>> SandboxClient::skills_async(CallOptions call) {
  auto engine = engine_;
  Json answer = co_await call_json(engine, get_request("/api/skills"), std::move(call));
  co_return read_list(answer, "skills", read_skill);
}

Async<std::string> SandboxClient::skills_text_async(CallOptions call) {
  auto engine = engine_;
  Query query;
  query.emplace_back("format", "text");
  Request request = get_request("/api/skills", std::move(query));
  Answer answer = co_await engine->send(std::move(request), std::move(call));
  co_return std::move(answer.body);
}

Async<std::vector<Skill>> SandboxClient::add_skills_async(std::string archive, CallOptions call) {
  auto engine = engine_;
  Request request{.method = "POST",
                  .path = "/api/skills",
                  .body = std::move(archive),
                  .content_type = "application/octet-stream"};
  Json answer = co_await call_json(engine, std::move(request), std::move(call));
  co_return read_list(answer, "skills", read_skill);
}

Async<void> SandboxClient::remove_skill_async(std::string name, CallOptions call) {
  Request request{.method = "DELETE", .path = "/api/skills/" + escape(name)};
  return call_plain(engine_, std::move(request), std::move(call));
}

Async<std::string> SandboxClient::render_prompt_async(std::string name, Json variables, CallOptions call) {
  auto engine = engine_;
  Json body = Json::object({{"variables", std::move(variables)}});
  Request request = post_request("/api/prompts/" + escape(name) + "/render", body);
  request.idempotent = true;
  Json answer = co_await call_json(engine, std::move(request), std::move(call));
  co_return answer["text"].as_string();
}

Async<Json> SandboxClient::get_json_async(std::string path, Query query, CallOptions call) {
  return call_json(engine_, get_request(std::move(path), std::move(query)), std::move(call));
}

Async<Json> SandboxClient::capabilities_async(CallOptions call) {
  return get_json_async("/api/capabilities", {}, std::move(call));
}

Async<std::vector<Json>> SandboxClient::environments_async(CallOptions call) {
  return list_of(engine_, get_request("/api/environments"), "environments", std::move(call));
}

Async<std::vector<Json>> SandboxClient::agents_async(CallOptions call) {
  return list_of(engine_, get_request("/api/agents"), "agents", std::move(call));
}

Async<std::string> SandboxClient::version_async(CallOptions call) {
  Json answer = co_await get_json_async("/version", {}, std::move(call));
  co_return read_version(answer);
}

Async<bool> SandboxClient::healthy_async(CallOptions call) {
  try {
    Json answer = co_await get_json_async("/health", {}, std::move(call));
    co_return answer["status"] == Json("ok");
  } catch (const ConnectError&) {
    co_return false;
  }
}

Async<Answer> SandboxClient::send_async(Request request, CallOptions call) {
  return engine_->send(std::move(request), std::move(call));
}

}  // namespace atl::client
