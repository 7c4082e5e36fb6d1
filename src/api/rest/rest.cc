#include "api/rest/rest.h"

#include <fmt/format.h>

#include <charconv>

#include "api/rest/context.h"
#include "api/rest/kept_terminal.h"
#include "auth/denial.h"
#include "base/json.h"

namespace atl::api::rest {

namespace {

std::string error_json(const Error& error, const CodeRow& known, const Request& request) {
  std::string body = R"({"error":{"code":)";
  json::append_quoted(body, known.name);
  body += R"(,"message":)";
  json::append_quoted(body, error.message());
  body += R"(,"details":{"category":)";
  json::append_quoted(body, to_string(known.category));
  body += known.retryable ? R"(,"retryable":true)" : R"(,"retryable":false)";
  const auto facts = auth::facts_of(error);
  for (const auth::Fact& fact : facts) {
    body += fmt::format(",\"{}\":", fact.name);
    body += fact.is_number ? fact.value : json::quoted(fact.value);
  }
  if (facts.empty() && !error.field().empty()) {
    body += R"(,"field":)";
    json::append_quoted(body, error.field());
  }
  body += R"(},"request_id":)";
  json::append_quoted(body, request.id);
  return body + "}}";
}

}  // namespace

Response render_error(const Error& error, const Request& request) {
  const CodeRow& facts = row(error.code());
  Response response = Response::json(facts.http_status, error_json(error, facts, request));
  if (error.code() == Code::resource_exhausted)
    response.headers.set("Retry-After", std::to_string(auth::retry_after_of(error).value_or(1)));
  if (error.code() == Code::unauthenticated) response.headers.set("WWW-Authenticate", "Bearer");
  return response;
}

void route(net::Router& router, const Context& context, Method method, std::string_view pattern, Rule rule,
           Answer answer, net::RouteOptions options) {
  auto handler = [context, answer](Request& request) {
    return answer(context, grant_of(request).who, request);
  };
  router.add(method, pattern, context->admission->rule(rule), std::move(handler), options);
}

void stream(net::Router& router, const Context& context, Method method, std::string_view pattern, Rule rule,
            Streamed answer, net::RouteOptions options) {
  auto handler = [context, answer](net::Exchange& exchange) {
    return answer(context, grant_of(exchange.request()).who, exchange);
  };
  router.add_stream(method, pattern, context->admission->rule(rule), std::move(handler), options);
}

Result<std::uint64_t> number_parameter(const Request& request, std::string_view name, std::uint64_t otherwise,
                                       std::uint64_t min, std::uint64_t max) {
  const auto text = request.query(name);
  if (!text) return otherwise;
  std::uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (failed != std::errc() || end != text->data() + text->size() || number < min || number > max) {
    return fail(
        Error(Code::invalid_argument, fmt::format("'{}' is a whole number from {} to {}", name, min, max))
            .with_field(std::string(name)));
  }
  return number;
}

Result<bool> flag_parameter(const Request& request, std::string_view name) {
  const auto text = request.query(name);
  if (!text || *text == "false" || *text == "0") return false;
  if (*text == "true" || *text == "1" || text->empty()) return true;
  return fail(Error(Code::invalid_argument, fmt::format("'{}' is true or false", name))
                  .with_field(std::string(name)));
}

Result<std::string> checked_path(std::string path, std::string field) {
  if (!path.starts_with('/') || path.find('\0') != std::string::npos || path.size() > 4096) {
    return fail(
        Error(Code::invalid_argument, fmt::format("'{}' is an absolute path of at most 4096 bytes", field))
            .with_field(field));
  }
  return path;
}

Result<std::string> path_parameter(const Request& request, std::string_view name) {
  auto path = request.query(name);
  if (!path) {
    return fail(Error(Code::invalid_argument, fmt::format("the query parameter '{}' is missing", name))
                    .with_field(std::string(name)));
  }
  return checked_path(std::move(*path), std::string(name));
}

Result<std::optional<WallTime>> time_parameter(const Request& request, std::string_view name) {
  const auto text = request.query(name);
  if (!text) return std::optional<WallTime>();
  auto time = from_rfc3339(*text);
  if (!time) {
    return fail(Error(Code::invalid_argument, fmt::format("'{}' is a time in RFC 3339", name))
                    .with_field(std::string(name)));
  }
  return std::optional(*time);
}

std::string sse(std::string_view name, std::string_view json) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json);
}

void mount(net::Router& router, Dependencies dependencies) {
  router.set_error_renderer(render_error);
  dependencies.skill_work = make_skill_work();
  if (!dependencies.kept_terminals) dependencies.kept_terminals = std::make_shared<KeptTerminals>();
  const Context context = std::make_shared<const Dependencies>(std::move(dependencies));
  mount_sessions(router, context);
  mount_execution(router, context);
  mount_commands(router, context);
  mount_terminal(router, context);
  mount_files(router, context);
  mount_archive(router, context);
  mount_history(router, context);
  mount_audit(router, context);
  mount_index(router, context);
  mount_events(router, context);
  mount_catalog(router, context);
  mount_tools(router, context);
  mount_tool_calls(router, context);
  mount_registry(router, context);
  mount_skills(router, context);
  mount_network(router, context);
  mount_original(router, context);
}

}  // namespace atl::api::rest
