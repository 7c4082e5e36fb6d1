// Both ends of a tool's call: a session that makes it, and a program that takes and answers it.
#include <algorithm>

#include "session_state.h"
#include "tool_progress.h"

namespace atl::client {

using namespace detail;

namespace {

// Beyond the time for which the service waits for a call: for the answer itself.
constexpr Milliseconds kTakeGrace{30'000};

bool is_told(const ToolOptions& options) {
  return options.on_progress || options.on_stdout || options.on_stderr;
}

// Gives events of a tool to its callbacks; what it came to, once that is told.
std::optional<ToolResult> deliver_tool(const Event& event, const ToolOptions& options) {
  if (event.name == "done") return read_tool_result(event.data);
  if (event.name == "error") throw_service_error(500, event.data.dump());
  if (event.name == "progress" && options.on_progress) options.on_progress(read_tool_progress(event.data));
  if (event.name == "stdout" && options.on_stdout) options.on_stdout(read_text(event.data));
  if (event.name == "stderr" && options.on_stderr) options.on_stderr(read_text(event.data));
  return std::nullopt;
}

[[noreturn]] void throw_no_result() {
  throw ConnectionLostError("the events of the tool ended without its end");
}

Request tool_request(const SessionState& state, const std::string& name, Json input,
                     const ToolOptions& options) {
  Json body = Json::object({{"input", std::move(input)}});
  set_if(body, "timeout_seconds", options.timeout_seconds);
  return post_request(state.path("/tools/" + escape(name)), body);
}

Milliseconds tool_time(const SessionState& state, const ToolOptions& options) {
  return std::max(state.wait, time_for(options.timeout_seconds, state.wait));
}

std::string call_path(const std::string& call_id, const char* rest) {
  return "/api/tool-calls/" + escape(call_id) + rest;
}

}  // namespace

ToolResult Session::tool(std::string name, Json input, ToolOptions options, CallOptions call) {
  if (!is_told(options))
    return tool_async(std::move(name), std::move(input), std::move(options), std::move(call)).get();
  Milliseconds time = tool_time(*state_, options);
  LiveAnswer live =
      open_events(state_->engine, tool_request(*state_, name, std::move(input), options), call, time).get();
  if (!live.source) return read_tool_result(live.whole);
  if (!call.timeout) call.timeout = time;
  while (auto event = EventSource::next(live.source, call).get()) {
    if (auto done = deliver_tool(*event, options)) return std::move(*done);
  }
  throw_no_result();
}

Async<ToolResult> Session::tool_async(std::string name, Json input, ToolOptions options, CallOptions call) {
  auto state = state_;
  Milliseconds time = tool_time(*state, options);
  Request request = tool_request(*state, name, std::move(input), options);
  if (!is_told(options)) {
    Json answer = co_await call_json(state->engine, std::move(request), call, time);
    co_return read_tool_result(answer);
  }
  LiveAnswer live = co_await open_events(state->engine, std::move(request), call, time);
  if (!live.source) co_return read_tool_result(live.whole);
  if (!call.timeout) call.timeout = time;
  while (true) {
    std::optional<Event> event = co_await EventSource::next(live.source, call);
    if (!event) throw_no_result();
    if (auto done = deliver_tool(*event, options)) co_return std::move(*done);
  }
}

Async<std::vector<Json>> Session::tools_async(std::string format, CallOptions call) {
  Query query;
  if (!format.empty()) query.emplace_back("format", std::move(format));
  return list_of(state_->engine, get_request(state_->path("/tools"), std::move(query)), "tools",
                 std::move(call));
}

Async<std::optional<ToolCall>> SandboxClient::next_tool_call_async(std::vector<std::string> tools,
                                                                   Milliseconds wait, CallOptions call) {
  auto engine = engine_;
  Json body =
      Json::object({{"tools", Json(tools)}, {"wait_seconds", static_cast<double>(wait.count()) / 1000}});
  Json answer = co_await call_json(engine, post_request("/api/tool-calls/next", body), std::move(call),
                                   wait + kTakeGrace);
  co_return read_tool_call(answer);
}

Async<void> SandboxClient::tell_tool_progress_async(std::string call_id, ToolProgress progress,
                                                    CallOptions call) {
  Json body = progress_json(progress);
  return call_plain(engine_, post_request(call_path(call_id, "/progress"), body), std::move(call));
}

Async<void> SandboxClient::finish_tool_call_async(std::string call_id, Json output, CallOptions call) {
  Json body = Json::object({{"output", std::move(output)}});
  return call_plain(engine_, post_request(call_path(call_id, "/result"), body), std::move(call));
}

Async<void> SandboxClient::fail_tool_call_async(std::string call_id, std::string name, std::string value,
                                                CallOptions call) {
  Json error = Json::object({{"name", std::move(name)}, {"value", std::move(value)}});
  Json body = Json::object({{"error", std::move(error)}});
  return call_plain(engine_, post_request(call_path(call_id, "/result"), body), std::move(call));
}

}  // namespace atl::client
