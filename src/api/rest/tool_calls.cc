// Calls of tools that a process of the caller's own answers: it takes them, tells how far they are, and gives
// their results.
#include <fmt/format.h>

#include <cmath>

#include "api/http/client_presence.h"
#include "api/http/content.h"
#include "api/rest/body.h"
#include "api/rest/context.h"
#include "api/rest/render.h"
#include "tools/tool_executor.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

constexpr std::size_t kNamesMax = 256;
constexpr double kProgressMax = 1e15;

struct TakeRequest {
  std::vector<std::string> tools;
  std::chrono::milliseconds wait{20'000};
};

Result<TakeRequest> read_take(const std::string& text) {
  const Body body = TRY(Body::parse(text, {"tools", "wait_seconds"}));
  TakeRequest request;
  request.tools = TRY(body.texts("tools")).value_or(std::vector<std::string>());
  if (request.tools.empty() || request.tools.size() > kNamesMax)
    return fail(body.wrong("tools", "name the tools that you serve, 1 to 256 of them"));
  if (const auto seconds = TRY(body.number("wait_seconds", 0, 60)))
    request.wait = std::chrono::milliseconds(std::llround(*seconds * 1000));
  return request;
}

// Tools that others serve, too, or that run in sandboxes, are refused by name: whoever waits for their calls
// would wait for ever.
Result<void> check_served(const Context& context, const std::string& tenant,
                          const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const tools::ToolPtr tool = context->tools->find(tenant, name);
    if (tool == nullptr)
      return fail(
          Error(Code::not_found, fmt::format("no tool is called '{}'; declare it first", name.substr(0, 64)))
              .with_field("tools"));
    if (!std::holds_alternative<tools::ClientRun>(tool->run))
      return fail(Error(Code::invalid_argument,
                        fmt::format("'{}' is not served by a client: it is declared with another 'run' than "
                                    "{{client: true}}",
                                    name))
                      .with_field("tools"));
  }
  return {};
}

Task<void> answer_take(Context context, Principal who, TakeRequest request, net::Exchange& exchange) {
  CO_TRY(auto offer,
         co_await context->tool_executor->served().take(who.tenant, std::move(request.tools), request.wait));
  bj::object body{{"call", nullptr}};
  if (offer)
    body["call"] = bj::object{{"call_id", offer->call_id},
                              {"tool", offer->tool},
                              {"session_id", offer->session_id},
                              {"input", std::move(offer->input)},
                              {"deadline_at", to_rfc3339(offer->deadline)}};
  co_return co_await exchange.send(json_response(200, std::move(body)));
}

Task<void> take_call(Context context, Principal who, net::Exchange& exchange) {
  CO_TRY(TakeRequest request, co_await http::read_body<TakeRequest>(exchange, read_take));
  CO_CHECK(check_served(context, who.tenant, request.tools));
  co_return co_await http::until_disconnect(
      context->executor, exchange, answer_take(context, std::move(who), std::move(request), exchange));
}

Task<Response> tell_progress(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"progress", "total", "message"}));
  tools::ToolEvent event;
  CO_TRY(event.progress, body.number("progress", 0, kProgressMax));
  if (!event.progress) co_return fail(body.wrong("progress", "is missing: a number that grows"));
  CO_TRY(event.total, body.number("total", 0, kProgressMax));
  CO_TRY(auto message, body.text("message"));
  event.text = std::move(message).value_or("").substr(0, 4096);
  CO_CHECK(context->tool_executor->served().tell(who.tenant, request.param("call"), std::move(event)));
  co_return Response::empty();
}

Task<Response> give_result(Context context, Principal who, Request& request) {
  CO_TRY(const Body body, Body::parse(request.body, {"output", "error"}));
  CO_TRY(const auto error, body.object("error", {"name", "value"}));
  tools::ServedCalls::Answer answer;
  if (const bj::value* output = body.find("output")) answer.output = *output;
  if (error && body.has("output"))
    co_return fail(body.wrong("error", "a result has either 'output' or 'error'"));
  if (error) {
    CO_TRY(answer.error, error->required_text("name"));
    CO_TRY(auto value, error->text("value"));
    answer.error_value = std::move(value).value_or("").substr(0, 64U << 10);
  }
  CO_CHECK(context->tool_executor->served().finish(who.tenant, request.param("call"), std::move(answer)));
  co_return Response::empty();
}

}  // namespace

void mount_tool_calls(net::Router& router, const Context& context) {
  // As much as declaring a tool needs: whoever serves one sees what others of the tenant call it with.
  const auto serving = with_key(Permission::sessions_write).of_tenant();
  stream(router, context, Method::post, "/api/tool-calls/next", serving, take_call);
  route(router, context, Method::post, "/api/tool-calls/{call}/progress", serving, tell_progress);
  route(router, context, Method::post, "/api/tool-calls/{call}/result", serving.ending(), give_result,
        {.body_bytes_max = 4U << 20});
}

}  // namespace atl::api::rest
