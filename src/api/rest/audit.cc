// The audit log.
#include <fmt/format.h>

#include <charconv>

#include "api/rest/context.h"
#include "api/rest/render.h"
#include "audit/log.h"
#include "audit/pages.h"
#include "base/json.h"
#include "os/offload.h"

namespace atl::api::rest {
namespace {

std::unexpected<Error> bad(std::string_view field, std::string message) {
  return fail(Error(Code::invalid_argument, std::move(message)).with_field(std::string(field)));
}

Result<audit::Query> read_query(const Request& request) {
  audit::Query query;
  for (const auto& [name, value] : request.query_fields()) {
    const bool is_text = name == "after" || name == "actor" || name == "action" || name == "object";
    if (is_text && value.empty()) continue;  // as if it were not there
    if (name == "after") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), query.after);
      if (error != std::errc() || end != value.data() + value.size())
        return bad("after",
                   fmt::format("'after' is the number of an entry or a next_cursor, got '{}'", value));
    } else if (name == "actor") {
      query.actor = value;
    } else if (name == "action") {
      query.action = value;
    } else if (name == "object") {
      query.object = value;
    } else if (name == "outcome") {
      if (value != "ok" && value != "denied" && value != "error")
        return bad("outcome", fmt::format("'outcome' is ok, denied or error, got '{}'", value));
      query.outcome = value;
    } else if (name == "tenant") {
      query.tenant = value;
    } else if (name != "limit") {
      return bad(name, fmt::format("unknown query parameter '{}'; there are after, actor, action, object, "
                                   "outcome, tenant and limit",
                                   name));
    }
  }
  query.limit = TRY(number_parameter(request, "limit", 100, 1, 1000));
  return query;
}

// The lines go out as they stand in the log: whoever wants to can check their digests.
Task<Response> entries(Context context, Principal who, Request& request) {
  CO_TRY(audit::Query query, read_query(request));
  // Others' entries are for those who may look across tenants; for all others they do not exist.
  if (!who.may(Permission::tenants_look)) {
    if (query.tenant && *query.tenant != who.tenant)
      co_return Response::json(200, R"({"entries":[],"next_cursor":null})");
    query.tenant = who.tenant;
  }
  auto work = [data = context->data, query = std::move(query)] { return audit::read_page(data, query); };
  CO_TRY(const audit::Page page, co_await context->workers->run<audit::Page>(who.tenant, std::move(work)));
  std::string body = R"({"entries":[)";
  for (const std::string& line : page.lines) {
    if (body.back() != '[') body += ',';
    body += line;
  }
  body += fmt::format(R"(],"next_cursor":{}}})", page.next == 0 ? "null" : fmt::format("\"{}\"", page.next));
  co_return Response::json(200, std::move(body));
}

}  // namespace

void mount_audit(net::Router& router, const Context& context) {
  if (context->workers == nullptr) return;
  route(router, context, Method::get, "/api/audit", with_key(Permission::audit_read), entries);
}

}  // namespace atl::api::rest
