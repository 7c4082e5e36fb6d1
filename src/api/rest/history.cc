// History and artifacts.
#include <fmt/format.h>

#include "api/http/content.h"
#include "api/rest/context.h"
#include "api/rest/render.h"

namespace atl::api::rest {
namespace {

namespace bj = boost::json;

Result<session::HistoryRequest> read_history(const Request& request) {
  session::HistoryRequest history;
  for (const auto& [name, value] : request.query_fields()) {
    if (name == "status") {
      const auto status = session::parse_status(value);
      if (!status) {
        return fail(Error(Code::invalid_argument, fmt::format("no status is called '{}'", value))
                        .with_field("status"));
      }
      history.statuses.push_back(*status);
    } else if (name == "text") {
      history.text = value;
    } else if (name == "session_id") {
      history.id = value;
    } else if (name == "order") {
      if (value != "asc" && value != "desc") {
        return fail(Error(Code::invalid_argument, "'order' is 'asc' or 'desc'").with_field("order"));
      }
      history.order = value == "asc" ? session::Order::oldest_first : session::Order::newest_first;
    } else if (name == "cursor") {
      history.cursor = value;
    } else if (name != "limit" && name != "from" && name != "to" && name != "format") {
      return fail(
          Error(Code::invalid_argument, fmt::format("unknown query parameter '{}'", name)).with_field(name));
    }
  }
  history.from = TRY(time_parameter(request, "from"));
  history.to = TRY(time_parameter(request, "to"));
  history.limit = static_cast<std::uint32_t>(TRY(number_parameter(request, "limit", 100, 1, 1000)));
  return history;
}

// All that matches, one record a line, page by page.
Task<void> export_lines(Context context, Principal who, net::Exchange& exchange,
                        session::HistoryRequest wanted) {
  wanted.limit = 200;
  CO_TRY(auto page, co_await context->service->history(who, wanted));
  net::Headers headers{{"Content-Type", "application/x-ndjson"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers)));
  while (true) {
    std::string lines;
    for (const auto& record : page.items) lines += json_text(record_json(record)) + "\n";
    if (!lines.empty()) CO_CHECK(co_await exchange.write(std::move(lines)));
    if (page.next_cursor.empty()) break;
    wanted.cursor = page.next_cursor;
    CO_TRY(page, co_await context->service->history(who, wanted));
  }
  co_return co_await exchange.finish();
}

Task<void> answer_history(Context context, Principal who, net::Exchange& exchange,
                          session::HistoryRequest wanted) {
  const auto format = exchange.request().query("format");
  if (format == "jsonl" || exchange.request().headers.lists("Accept", "application/x-ndjson")) {
    co_return co_await export_lines(context, std::move(who), exchange, std::move(wanted));
  }
  if (format && *format != "json") {
    co_return fail(Error(Code::invalid_argument, "'format' is 'json' or 'jsonl'").with_field("format"));
  }
  CO_TRY(const auto page, co_await context->service->history(std::move(who), std::move(wanted)));
  bj::array records;
  for (const auto& record : page.items) records.push_back(record_json(record));
  bj::object body{
      {"records", std::move(records)},
      {"next_cursor", page.next_cursor.empty() ? bj::value(nullptr) : bj::value(page.next_cursor)}};
  co_return co_await exchange.send(json_response(200, std::move(body)));
}

Task<void> session_history(Context context, Principal who, net::Exchange& exchange) {
  CO_TRY(auto wanted, read_history(exchange.request()));
  wanted.id = exchange.request().param("id");
  co_return co_await answer_history(context, std::move(who), exchange, std::move(wanted));
}

Task<void> all_history(Context context, Principal who, net::Exchange& exchange) {
  CO_TRY(auto wanted, read_history(exchange.request()));
  co_return co_await answer_history(context, std::move(who), exchange, std::move(wanted));
}

Task<Response> artifacts(Context context, Principal who, Request& request) {
  CO_TRY(const auto all, co_await context->service->artifacts(std::move(who), request.param("id")));
  bj::array list;
  for (const auto& artifact : all) list.push_back(to_json(artifact));
  bj::object body{{"artifacts", std::move(list)}};
  co_return json_response(200, std::move(body));
}

// Sent as an attachment that no browser runs: its bytes come from a guest.
Task<void> artifact(Context context, Principal who, net::Exchange& exchange) {
  CO_TRY(auto content,
         co_await context->service->open_artifact(std::move(who), exchange.request().param("digest")));
  net::Headers headers{{"Content-Type", content.facts.media_type},
                       {"ETag", "\"" + content.facts.digest + "\""},
                       {"X-Content-Type-Options", "nosniff"},
                       {"Content-Disposition", "attachment"}};
  CO_CHECK(co_await exchange.start(200, std::move(headers), content.bytes->size()));
  http::Source next = [&content] { return content.bytes->next(); };
  co_return co_await http::send_content(exchange, std::move(next), content.bytes->size());
}

}  // namespace

void mount_history(net::Router& router, const Context& context) {
  stream(router, context, Method::get, "/api/sessions/{id}/history", with_key(Permission::history_read),
         session_history);
  stream(router, context, Method::get, "/api/history", with_key(Permission::history_read), all_history);
  route(router, context, Method::get, "/api/sessions/{id}/artifacts", with_key(Permission::history_read),
        artifacts);
  stream(router, context, Method::get, "/api/artifacts/{digest}", with_key(Permission::history_read),
         artifact);
}

}  // namespace atl::api::rest
