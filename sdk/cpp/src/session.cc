#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "session_state.h"

namespace atl::client {

using detail::SessionState;

namespace detail {
namespace {

// Long enough for a busy service, short enough for a destructor.
constexpr Milliseconds kEndTime{30'000};

Milliseconds longest_execution(const Json& limits) {
  double seconds = 0;
  auto look = [&](const Json& value) {
    if (value.is_number()) seconds = std::max(seconds, value.as_double());
  };
  look(limits["execution_time_seconds"]);
  if (const Json& by_language = limits["execution_time_by_language"]; by_language.is_object()) {
    for (const auto& member : by_language.members()) look(member.value);
  }
  return Milliseconds(static_cast<std::int64_t>(seconds * 1000)) + kGrace;
}

Json execute_body(const std::string& code, const ExecuteOptions& options) {
  Json body = Json::object({{"code", code}});
  set_if(body, "language", options.language);
  set_if(body, "context", options.context);
  set_if(body, "timeout_seconds", options.timeout_seconds);
  if (options.stateless) body.set("stateless", true);
  set_if(body, "env", options.env);
  return body;
}

// Gives events of an execution to its callbacks; what it came to, once that is told.
std::optional<Execution> deliver(const Event& event, const ExecuteOptions& options) {
  if (event.name == "done") return read_execution(event.data);
  if (event.name == "stdout" && options.on_stdout) options.on_stdout(event.data["text"].as_string());
  if (event.name == "stderr" && options.on_stderr) options.on_stderr(event.data["text"].as_string());
  if (event.name == "result" && options.on_result) options.on_result(read_result(event.data));
  return std::nullopt;
}

[[noreturn]] void throw_no_end() {
  throw ConnectionLostError("the output of the execution ended without its end");
}

bool is_live(const ExecuteOptions& options) {
  return options.on_stdout || options.on_stderr || options.on_result;
}

Async<SessionInfo> tell(std::shared_ptr<SessionState> state, Request request, CallOptions call,
                        std::optional<Milliseconds> usual = {}) {
  Json answer = co_await call_json(state->engine, std::move(request), call, usual);
  co_return state->told(answer);
}

Json fork_body(const ForkOptions& options) {
  Json body = Json::object({{"count", options.count}});
  set_if(body, "kernels", options.kernels);
  set_if(body, "metadata", options.metadata);
  set_if(body, "env", options.env);
  set_if(body, "ttl_seconds", options.ttl_seconds);
  return body;
}

void end_quietly(const std::shared_ptr<SessionState>& state) {
  auto told = state->engine->options().on_left_behind;
  Request request{.method = "DELETE", .path = state->base};
  auto failed = [told, id = state->id](const std::string& why) {
    if (told) told(id, why);
  };
  if (on_client_thread()) {
    state->engine->send_and_forget(std::move(request), failed);
    return;
  }
  try {
    CallOptions call;
    call.timeout = kEndTime;
    state->engine->send(std::move(request), call, {}, 404).get();
  } catch (const std::exception& error) {
    failed(error.what());
  }
}

}  // namespace

SessionState::SessionState(std::shared_ptr<Engine> with, SessionInfo info)
    : engine(std::move(with)),
      id(info.session_id),
      base("/api/sessions/" + escape(info.session_id)),
      wait(longest_execution(info.raw["limits"])),
      info_(std::move(info)) {}

SessionInfo SessionState::info() const {
  std::scoped_lock lock(mutex_);
  return info_;
}

SessionInfo SessionState::told(const Json& answer) {
  SessionInfo info = read_session(answer);
  std::scoped_lock lock(mutex_);
  // What an answer does not tell again stays known.
  if (info.access_token.empty() && info.ended_at.empty()) info.access_token = info_.access_token;
  if (info.traffic_token.empty() && info.ended_at.empty()) info.traffic_token = info_.traffic_token;
  info_ = info;
  return info;
}

Milliseconds time_for(std::optional<double> timeout_seconds, Milliseconds otherwise) {
  if (!timeout_seconds) return otherwise;
  double seconds = std::clamp(*timeout_seconds, 0.0, 1e7);
  return Milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000))) + kGrace;
}

}  // namespace detail

using namespace detail;

Session::Session(std::shared_ptr<SessionState> state) : state_(std::move(state)) {}

Session::Session(Session&& other) noexcept
    : state_(std::move(other.state_)), kept_(other.kept_.load(std::memory_order_relaxed)) {}

Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) {
    Session old(std::move(*this));  // ends here, unless kept
    state_ = std::move(other.state_);
    kept_ = other.kept_.load(std::memory_order_relaxed);
  }
  return *this;
}

Session::~Session() {
  if (state_ && !kept_ && state_->info().ended_at.empty()) end_quietly(state_);
}

const std::string& Session::id() const {
  return state_->id;
}

SessionInfo Session::info() const {
  return state_->info();
}

Session& Session::keep() {
  kept_ = true;
  return *this;
}

std::string Session::port_url(int port) const {
  std::string url = state_->info().url;
  if (auto at = url.find("{port}"); at != std::string::npos) url.replace(at, 6, std::to_string(port));
  return url;
}

Execution Session::execute(std::string code, ExecuteOptions options, CallOptions call) {
  if (!is_live(options)) return execute_async(std::move(code), std::move(options), std::move(call)).get();
  Milliseconds time = time_for(options.timeout_seconds, state_->wait);
  Request request = post_request(state_->path("/execute"), execute_body(code, options));
  LiveAnswer live = open_events(state_->engine, std::move(request), call, time).get();
  if (!live.source) return read_execution(live.whole);
  if (!call.timeout) call.timeout = time;
  while (auto event = EventSource::next(live.source, call).get()) {
    if (auto done = deliver(*event, options)) return std::move(*done);
  }
  throw_no_end();
}

Async<Execution> Session::execute_async(std::string code, ExecuteOptions options, CallOptions call) {
  auto state = state_;
  Milliseconds time = time_for(options.timeout_seconds, state->wait);
  Request request = post_request(state->path("/execute"), execute_body(code, options));
  if (!is_live(options)) {
    Json answer = co_await call_json(state->engine, std::move(request), call, time);
    co_return read_execution(answer);
  }
  LiveAnswer live = co_await open_events(state->engine, std::move(request), call, time);
  if (!live.source) co_return read_execution(live.whole);
  if (!call.timeout) call.timeout = time;
  while (true) {
    std::optional<Event> event = co_await EventSource::next(live.source, call);
    if (!event) throw_no_end();
    if (auto done = deliver(*event, options)) co_return std::move(*done);
  }
}

Async<SessionInfo> Session::refresh_async(CallOptions call) {
  return tell(state_, get_request(state_->base), std::move(call));
}

Async<SessionInfo> Session::update_async(UpdateOptions options, CallOptions call) {
  Json body = Json::object();
  if (options.metadata) body.set("metadata", variables_json(*options.metadata));
  if (options.env) body.set("env", variables_json(*options.env));
  set_if(body, "ttl_seconds", options.ttl_seconds);
  set_if(body, "extend_on_use", options.extend_on_use);
  set_if(body, "on_expiry", options.on_expiry);
  set_if(body, "auto_resume", options.auto_resume);
  Request request = post_request(state_->base, body);
  request.method = "PATCH";
  return tell(state_, std::move(request), std::move(call));
}

Async<SessionInfo> Session::end_async(std::string sandbox_id, CallOptions call) {
  Request request{.method = "DELETE", .path = state_->base};
  if (!sandbox_id.empty()) request.query.emplace_back("sandbox_id", std::move(sandbox_id));
  return tell(state_, std::move(request), std::move(call));
}

Async<SessionInfo> Session::pause_async(PauseOptions options, CallOptions call) {
  Json body = Json::object();
  set_if(body, "to", options.to);
  set_if(body, "force", options.force);
  return tell(state_, post_request(state_->path("/pause"), body), std::move(call), state_->wait);
}

Async<SessionInfo> Session::resume_async(std::optional<double> ttl_seconds, CallOptions call) {
  Json body = Json::object();
  set_if(body, "ttl_seconds", ttl_seconds);
  return tell(state_, post_request(state_->path("/resume"), body), std::move(call), state_->wait);
}

Async<Snapshot> Session::snapshot_async(std::string name, CallOptions call) {
  auto state = state_;
  Json body = Json::object();
  set_if(body, "name", name);
  Json answer =
      co_await call_json(state->engine, post_request(state->path("/snapshots"), body), call, state->wait);
  co_return read_snapshot(answer);
}

Async<std::vector<Snapshot>> Session::snapshots_async(CallOptions call) {
  return all_pages<Snapshot>(state_->engine, state_->path("/snapshots"), "snapshots", {}, {}, std::move(call),
                             read_snapshot);
}

Async<SessionInfo> Session::restore_async(std::string snapshot_id, CallOptions call) {
  Json body = Json::object({{"snapshot_id", snapshot_id}});
  return tell(state_, post_request(state_->path("/restore"), body), std::move(call), state_->wait);
}

Async<Session> Session::fork_async(ForkOptions options, CallOptions call) {
  options.count = 1;
  auto state = state_;
  Json answer = co_await call_json(state->engine, post_request(state->path("/fork"), fork_body(options)),
                                   call, state->wait);
  co_return Session(std::make_shared<SessionState>(state->engine, read_session(answer)));
}

Async<Forks> Session::fork_many_async(ForkOptions options, CallOptions call) {
  auto state = state_;
  Json answer = co_await call_json(state->engine, post_request(state->path("/fork"), fork_body(options)),
                                   call, state->wait);
  Forks forks;
  for (const Json& copy : list_in(answer["fork"], "copies")) {
    if (const Json* made = copy.find("session")) {
      forks.sessions.emplace_back(std::make_shared<SessionState>(state->engine, read_session(*made)));
    } else {
      const Json& error = copy["error"];
      forks.errors.push_back(fmt::format("{}: {}", error["code"].as_string(), error["message"].as_string()));
    }
  }
  forks.raw = std::move(answer);
  co_return forks;
}

Async<std::vector<Record>> Session::history_async(HistoryOptions options, CallOptions call) {
  return all_pages<Record>(state_->engine, state_->path("/history"), "records", history_query(options),
                           options.limit, std::move(call), read_record);
}

Async<std::vector<Artifact>> Session::artifacts_async(CallOptions call) {
  auto state = state_;
  Json answer = co_await call_json(state->engine, get_request(state->path("/artifacts")), call);
  co_return read_list(answer, "artifacts", read_artifact);
}

Async<Usage> Session::usage_async(CallOptions call) {
  auto state = state_;
  Json answer = co_await call_json(state->engine, get_request(state->path("/usage")), call);
  co_return read_usage(answer);
}

Async<std::vector<Sample>> Session::metrics_async(CallOptions call) {
  auto state = state_;
  Json answer = co_await call_json(state->engine, get_request(state->path("/metrics")), call);
  co_return read_list(answer, "samples", read_sample);
}

Async<std::vector<int>> Session::ports_async(CallOptions call) {
  auto state = state_;
  Json answer = co_await call_json(state->engine, get_request(state->path("/ports")), call);
  co_return read_list(answer, "ports", read_port);
}

Async<Json> Session::network_async(CallOptions call) {
  return call_json(state_->engine, get_request(state_->path("/network")), std::move(call));
}

Async<Json> Session::set_network_async(Json rules, CallOptions call) {
  Request request = post_request(state_->path("/network"), rules);
  request.method = "PUT";
  return call_json(state_->engine, std::move(request), std::move(call));
}

Async<std::vector<Skill>> Session::skills_async(CallOptions call) {
  auto state = state_;
  Json answer = co_await call_json(state->engine, get_request(state->path("/skills")), call);
  co_return read_list(answer, "skills", read_skill);
}

Async<std::string> Session::skills_text_async(CallOptions call) {
  auto state = state_;
  Query query;
  query.emplace_back("format", "text");
  Request request = get_request(state->path("/skills"), std::move(query));
  Answer answer = co_await state->engine->send(std::move(request), std::move(call));
  co_return std::move(answer.body);
}

Async<Context> Contexts::create_async(std::string language, std::string cwd, CallOptions call) {
  auto state = session_;
  Json body = Json::object();
  set_if(body, "language", language);
  set_if(body, "cwd", cwd);
  Json answer = co_await call_json(state->engine, post_request(state->path("/contexts"), body), call);
  co_return read_context(answer);
}

Async<std::vector<Context>> Contexts::list_async(CallOptions call) {
  auto state = session_;
  Json answer = co_await call_json(state->engine, get_request(state->path("/contexts")), call);
  co_return read_list(answer, "contexts", read_context);
}

Async<void> Contexts::remove_async(std::string id, CallOptions call) {
  Request request{.method = "DELETE", .path = session_->path("/contexts/" + escape(id))};
  return call_plain(session_->engine, std::move(request), std::move(call));
}

Async<void> Contexts::restart_async(std::string id, CallOptions call) {
  Request request{.method = "POST", .path = session_->path("/contexts/" + escape(id) + "/restart")};
  return call_plain(session_->engine, std::move(request), std::move(call));
}

Async<void> Contexts::interrupt_async(std::string id, CallOptions call) {
  Request request{.method = "POST", .path = session_->path("/contexts/" + escape(id) + "/interrupt")};
  return call_plain(session_->engine, std::move(request), std::move(call));
}

}  // namespace atl::client
