// Code: execute (collected or live), contexts.
#include "api/rest/execution.h"

#include <fmt/format.h>

#include <cmath>

#include "api/http/client_presence.h"
#include "api/http/content.h"
#include "api/http/text_flow.h"
#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/render.h"
#include "base/json.h"

namespace atl::api::rest {

namespace bj = boost::json;

Result<std::optional<sandbox::Language>> read_language(const Body& body) {
  const auto word = TRY(body.text("language"));
  if (!word) return std::optional<sandbox::Language>();
  const auto language = sandbox::parse_language(*word);
  if (!language) return fail(body.wrong("language", fmt::format("no language is called '{}'", *word)));
  return std::optional(*language);
}

Result<std::optional<std::chrono::milliseconds>> read_timeout(const Body& body) {
  const auto seconds = TRY(body.number("timeout_seconds", 0.001, 86400));
  if (!seconds) return std::optional<std::chrono::milliseconds>();
  return std::optional(std::chrono::milliseconds(std::llround(*seconds * 1000)));
}

namespace {

Result<session::ExecuteRequest> read_execute(const std::string& text) {
  const Body body =
      TRY(Body::parse(text, {"code", "language", "context", "timeout_seconds", "stateless", "env"}));
  session::ExecuteRequest request;
  request.code = TRY(body.required_text("code"));
  request.language = TRY(read_language(body));
  request.context = TRY(body.text("context")).value_or("");
  request.timeout = TRY(read_timeout(body));
  request.stateless = TRY(body.boolean("stateless")).value_or(false);
  request.env = TRY(body.text_map("env")).value_or(session::TextMap{});
  if (request.stateless && !request.context.empty()) {
    return fail(body.wrong("context", "'stateless' runs in no context"));
  }
  return request;
}

std::string text_json(std::string_view text) {
  std::string out = R"({"text":)";
  json::append_quoted(out, text);
  return out + "}";
}

// An execution that never ran, as events: a start and an end.
Task<void> stream_unbegun(const session::ExecutionRecord& record, net::Exchange& exchange) {
  net::Headers headers{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
  std::string events = sse("start", fmt::format(R"({{"record_id":"{}"}})", record.record_id)) +
                       sse("done", json_text(execution_json(record)));
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  CO_CHECK(co_await exchange.write(std::move(events)));
  co_return co_await exchange.finish();
}

// Events: start, stdout, stderr, result, error, done.The last holds what the collected answer would.
Task<void> stream_events(std::unique_ptr<session::Execution> execution, net::Exchange& exchange) {
  net::Headers headers{{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  std::string first = sse("start", fmt::format(R"({{"record_id":"{}"}})", execution->record_id()));
  CO_CHECK(co_await exchange.write(std::move(first)));
  http::TextFlow out, err;
  while (true) {
    CO_TRY(session::Event event, co_await execution->next());
    std::string text;
    if (const auto* output = std::get_if<sandbox::Output>(&event)) {
      const bool is_err = output->stream == sandbox::Stream::err;
      const std::string whole = (is_err ? err : out).add(output->bytes);
      if (!whole.empty()) text = sse(is_err ? "stderr" : "stdout", text_json(whole));
    } else if (const auto* bundle = std::get_if<sandbox::ResultBundle>(&event)) {
      text = sse("result", json_text(to_json(*bundle)));
    } else if (const auto* error = std::get_if<sandbox::ExecutionError>(&event)) {
      std::string body = R"({"name":)";
      json::append_quoted(body, error->name);
      body += R"(,"value":)";
      json::append_quoted(body, error->value);
      body += R"(,"traceback":)";
      json::append_quoted(body, error->traceback);
      text = sse("error", body + "}");
    } else {
      if (const std::string rest = out.finish(); !rest.empty()) text += sse("stdout", text_json(rest));
      if (const std::string rest = err.finish(); !rest.empty()) text += sse("stderr", text_json(rest));
      text += sse("done", json_text(execution_json(std::get<session::Finished>(event).record)));
      CO_CHECK(co_await exchange.write(std::move(text)));
      co_return co_await exchange.finish();
    }
    if (!text.empty()) CO_CHECK(co_await exchange.write(std::move(text)));
  }
}

Task<void> collect_execution(Context context, Principal who, std::string id, session::ExecuteRequest wanted,
                             net::Exchange& exchange) {
  CO_TRY(const auto record, co_await context->service->run(std::move(who), std::move(id), std::move(wanted)));
  co_return co_await exchange.send(json_response(200, execution_json(record)));
}

Task<void> execute(Context context, Principal who, net::Exchange& exchange) {
  Request& request = exchange.request();
  CO_TRY(auto wanted, co_await http::read_body<session::ExecuteRequest>(exchange, read_execute));
  const std::string id = request.param("id");
  if (request.headers.lists("Accept", "text/event-stream")) {
    CO_TRY(auto start, co_await context->service->execute(std::move(who), id, std::move(wanted)));
    if (const auto* denied = std::get_if<session::Denied>(&start))
      co_return co_await stream_unbegun(denied->record, exchange);
    if (const auto* ended = std::get_if<session::Ended>(&start))
      co_return co_await stream_unbegun(ended->record, exchange);
    auto execution = std::get<std::unique_ptr<session::Execution>>(std::move(start));
    co_return co_await http::until_disconnect(context->executor, exchange,
                                              stream_events(std::move(execution), exchange));
  }
  co_return co_await http::until_disconnect(
      context->executor, exchange,
      collect_execution(context, std::move(who), id, std::move(wanted), exchange));
}

Task<Response> contexts(Context context, Principal who, Request& request) {
  CO_TRY(const auto infos, co_await context->service->contexts(std::move(who), request.param("id")));
  bj::array list;
  for (const auto& info : infos) list.push_back(to_json(info));
  bj::object body{{"contexts", std::move(list)}};
  co_return json_response(200, std::move(body));
}

Task<Response> create_context(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"language", "cwd"}));
  session::ContextRequest wanted;
  CO_TRY(const auto language, read_language(body));
  wanted.language = language.value_or(sandbox::Language::python);
  CO_TRY(const auto cwd, body.text("cwd"));
  wanted.cwd = cwd.value_or("");
  CO_TRY(const auto info,
         co_await context->service->create_context(std::move(who), request.param("id"), std::move(wanted)));
  co_return json_response(201, to_json(info));
}

Task<Response> remove_context(Context context, Principal who, Request& request) {
  CO_CHECK(co_await context->service->remove_context(std::move(who), request.param("id"),
                                                     request.param("context")));
  co_return Response::empty();
}

Task<Response> restart_context(Context context, Principal who, Request& request) {
  CO_CHECK(co_await context->service->restart_context(std::move(who), request.param("id"),
                                                      request.param("context")));
  co_return Response::empty();
}

Task<Response> interrupt_context(Context context, Principal who, Request& request) {
  CO_CHECK(co_await context->service->interrupt_context(std::move(who), request.param("id"),
                                                        request.param("context")));
  co_return Response::empty();
}

}  // namespace

void mount_execution(net::Router& router, const Context& context) {
  stream(router, context, Method::post, "/api/sessions/{id}/execute", with_key(Permission::execute), execute,
         {.body_bytes_max = 16U << 20});
  route(router, context, Method::get, "/api/sessions/{id}/contexts", with_key(Permission::sessions_read),
        contexts);
  route(router, context, Method::post, "/api/sessions/{id}/contexts", with_key(Permission::execute),
        create_context);
  route(router, context, Method::del, "/api/sessions/{id}/contexts/{context}",
        with_key(Permission::execute).ending(), remove_context);
  route(router, context, Method::post, "/api/sessions/{id}/contexts/{context}/restart",
        with_key(Permission::execute), restart_context);
  route(router, context, Method::post, "/api/sessions/{id}/contexts/{context}/interrupt",
        with_key(Permission::execute).ending(), interrupt_context);
}

}  // namespace atl::api::rest
