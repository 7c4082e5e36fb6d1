// Tools: what there are, and their calls inside a session.
#include <fmt/format.h>

#include <algorithm>

#include "api/http/client_presence.h"
#include "api/http/content.h"
#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/execution.h"
#include "api/rest/render.h"
#include "base/bytes.h"
#include "base/utf8.h"
#include "tools/tool_executor.h"
#include "tools/tool_registry.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

constexpr std::size_t kSearchMax = 256;

bj::object statistics_json(const tools::ToolStatistics* statistics) {
  const tools::ToolStatistics none;
  const tools::ToolStatistics& s = statistics == nullptr ? none : *statistics;
  bj::object failures;
  for (const auto& [kind, count] : s.failures) failures[kind] = count;
  bj::array latency;
  for (std::size_t i = 0; i < s.latency.size(); ++i) {
    bj::value upper = nullptr;
    if (i < tools::ToolStatistics::kBuckets.size()) upper = tools::ToolStatistics::kBuckets[i];
    latency.push_back(bj::object{{"up_to_ms", std::move(upper)}, {"calls", s.latency[i]}});
  }
  return {{"calls", s.calls},
          {"cached", s.cached},
          {"failures", std::move(failures)},
          {"latency", std::move(latency)},
          {"wall_time_ms", static_cast<double>(s.wall_time.count()) / 1000},
          {"cpu_time_ms", static_cast<double>(s.cpu_time.count()) / 1000}};
}

// Schemas of a tenant's may be megabytes: not on the loop.
Task<Response> exported_tools(Context context, Principal who, std::vector<tools::ToolPtr> tools,
                              tools::Format format) {
  auto write = [tools = std::move(tools), format]() -> Result<std::string> {
    std::string list;
    for (const tools::ToolPtr& tool : tools)
      list += (list.empty() ? "" : ",") + json_text(tools::exported(*tool, format));
    return "{\"tools\":[" + list + "]}";
  };
  CO_TRY(std::string body, co_await context->workers->run<std::string>(who.tenant, std::move(write)));
  co_return Response::json(200, std::move(body));
}

Task<Response> list_tools(Context context, Principal who, Request& request) {
  CO_TRY(const tools::Format format, tools::parse_format(request.query("format").value_or("")));
  const auto words = request.query("search");
  if (words && static_cast<std::size_t>(std::ranges::count_if(
                   *words, [](char c) { return !utf8::is_continuation(c); })) > kSearchMax)
    co_return fail(
        Error(Code::invalid_argument, fmt::format("'search' has at most {} characters", kSearchMax))
            .with_field("search"));
  auto found = words ? context->tools->search(who.tenant, *words) : context->tools->list(who.tenant);
  co_return co_await exported_tools(context, who, std::move(found), format);
}

Task<Response> show_tool(Context context, Principal who, Request& request) {
  const std::string& name = request.param("name");
  const tools::ToolPtr tool = context->tools->find(who.tenant, name);
  if (tool == nullptr)
    co_return fail(Code::not_found, fmt::format("no tool is called '{}'", name.substr(0, 64)));
  bj::object body = tools::exported(*tool, tools::Format::atoll);
  body["statistics"] = statistics_json(context->tool_executor->statistics(who.tenant, name));
  co_return json_response(200, std::move(body));
}

bj::object result_json(const tools::ToolResult& result) {
  bj::value error = nullptr;
  if (result.status != session::Status::success)
    error = bj::object{{"name", to_valid_utf8(result.error)},
                       {"value", to_valid_utf8(result.error_value)},
                       {"stderr", result.standard_error}};
  return {{"status", std::string(to_string(result.status))},
          {"output", result.output},
          {"record_id", result.record.record_id},
          {"error", std::move(error)},
          {"cached", result.cached},
          {"duration_ms", static_cast<double>(result.record.usage.wall_time.count()) / 1000}};
}

// The place in the input is a JSON pointer. The pointer to the whole input is the empty text, which the
// answer gives as well.
Response refusal(const tools::Mismatch& wrong, const Request& request) {
  const Error error =
      Error(Code::invalid_argument, fmt::format("input: '{}' {}", wrong.pointer, wrong.message))
          .with_field(wrong.pointer);
  Response response = rest::render_error(error, request);
  if (!wrong.pointer.empty()) return response;
  bj::value body = bj::parse(response.body);
  body.as_object()["error"].as_object()["details"].as_object()["field"] = "";
  response.body = bj::serialize(body);
  return response;
}

Result<tools::ToolRequest> read_call(const std::string& text) {
  const Body body = TRY(Body::parse(text, {"input", "timeout_seconds"}));
  tools::ToolRequest call;
  const bj::value* input = body.find("input");
  call.input = input == nullptr ? bj::value(bj::object()) : *input;
  call.timeout = TRY(read_timeout(body));
  return call;
}

Task<void> answer_call(Context context, Principal who, tools::ToolRequest call, net::Exchange& exchange) {
  CO_TRY(const tools::ToolResult result,
         co_await context->tool_executor->call(std::move(who), std::move(call)));
  co_return co_await exchange.send(json_response(200, result_json(result)));
}

// One event of a running call: start, progress, stdout, stderr.
std::string event_text(const tools::ToolEvent& event) {
  using Kind = tools::ToolEvent::Kind;
  if (event.kind == Kind::started) return sse("start", json_text(bj::object{{"record_id", event.text}}));
  if (event.kind != Kind::progress)
    return sse(event.kind == Kind::out ? "stdout" : "stderr", json_text(bj::object{{"text", event.text}}));
  bj::object told{{"progress", *event.progress}, {"total", nullptr}, {"message", nullptr}};
  if (event.total) told["total"] = *event.total;
  if (!event.text.empty()) told["message"] = event.text;
  return sse("progress", json_text(told));
}

Task<void> write_event(net::Exchange& exchange, std::string text) {
  if (!exchange.started()) {
    net::Headers headers{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
    CO_CHECK(co_await exchange.start(200, std::move(headers)));
  }
  co_return co_await exchange.write(std::move(text));
}

// What is refused before the call began is an ordinary answer; a failure of ours after that is an event.
Task<void> stream_call(Context context, Principal who, tools::ToolRequest call, net::Exchange& exchange) {
  call.watch = [&exchange](const tools::ToolEvent& event) {
    return write_event(exchange, event_text(event));
  };
  auto result = co_await context->tool_executor->call(std::move(who), std::move(call));
  if (!result && (!exchange.started() || result.error().code() == Code::canceled))
    co_return fail(result.error());
  std::string last;
  if (result) {
    last = sse("done", json_text(result_json(*result)));
  } else {
    last = sse("error", rest::render_error(result.error(), exchange.request()).body);
  }
  CO_CHECK(co_await write_event(exchange, std::move(last)));
  co_return co_await exchange.finish();
}

// A client that goes away ends the call that it waited for.
Task<void> call_tool(Context context, Principal who, net::Exchange& exchange) {
  CO_TRY(tools::ToolRequest call, co_await http::read_body<tools::ToolRequest>(exchange, read_call));
  call.session_id = exchange.request().param("id");
  call.name = exchange.request().param("name");
  CO_TRY(const auto session, co_await context->service->get(who, call.session_id));
  call.session_id = session.session_id;
  if (context->tools->find(who.tenant, call.name) != nullptr)
    CO_CHECK(session::check_tool(session, call.name));
  CO_TRY(const auto wrong, co_await context->tool_executor->check(who, call));
  if (wrong) co_return co_await exchange.send(refusal(*wrong, exchange.request()));
  const auto answer =
      exchange.request().headers.lists("Accept", "text/event-stream") ? stream_call : answer_call;
  co_return co_await http::until_disconnect(context->executor, exchange,
                                            answer(context, std::move(who), std::move(call), exchange));
}

// Those that the session may call.
Task<Response> session_tools(Context context, Principal who, Request& request) {
  CO_TRY(const tools::Format format, tools::parse_format(request.query("format").value_or("")));
  CO_TRY(const auto session, co_await context->service->get(who, request.param("id")));
  std::vector<tools::ToolPtr> allowed = context->tools->list(who.tenant);
  std::erase_if(allowed,
                [&](const tools::ToolPtr& tool) { return !session::check_tool(session, tool->name); });
  co_return co_await exported_tools(context, who, std::move(allowed), format);
}

}  // namespace

void mount_tools(net::Router& router, const Context& context) {
  route(router, context, Method::get, "/api/tools", with_key(Permission::catalog_read), list_tools);
  route(router, context, Method::get, "/api/tools/{name}", with_key(Permission::catalog_read), show_tool);
  route(router, context, Method::get, "/api/sessions/{id}/tools", with_key(Permission::sessions_read),
        session_tools);
  stream(router, context, Method::post, "/api/sessions/{id}/tools/{name}", with_key(Permission::tools_run),
         call_tool, {.body_bytes_max = 4U << 20});
}

}  // namespace atl::api::rest
