// What was consumed, from the records.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <charconv>

#include "api/governance/routes.h"
#include "auth/denial.h"

namespace atl::api::governance {
namespace {

namespace bj = boost::json;

constexpr std::int64_t kDaySeconds = 86400;

std::string day_text(std::int64_t day) {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(day * kDaySeconds)));
}

Result<std::int64_t> day_parameter(const Request& request, std::string_view name, std::int64_t otherwise) {
  const auto text = request.query(name);
  if (!text) return otherwise;
  auto time = from_rfc3339(*text + "T00:00:00Z");
  if (!time || text->size() != 10)
    return fail(Error(Code::invalid_argument, fmt::format("'{}' is a day such as 2026-01-31", name))
                    .with_field(std::string(name)));
  return unix_micros(*time) / (kDaySeconds * 1'000'000);
}

Result<store::UsageFilter> read_filter(const Principal& who, const Request& request) {
  store::UsageFilter filter;
  for (const auto& [name, value] : request.query_fields()) {
    if (name == "key_id") {
      filter.key_id = value;
    } else if (name == "session_id") {
      filter.session_id = value;
    } else if (name == "by") {
      filter.by_day = value.find("day") != std::string::npos;
      filter.by_key = value.find("key") != std::string::npos;
      filter.by_session = value.find("session") != std::string::npos;
    } else if (name != "tenant" && name != "from" && name != "to" && name != "format") {
      return fail(
          Error(Code::invalid_argument, fmt::format("unknown query parameter '{}'", name)).with_field(name));
    }
  }
  filter.tenant = TRY(tenant_of(who, request, Permission::tenants_look));
  if (filter.tenant == "*") filter.tenant.clear();
  filter.from_day = TRY(day_parameter(request, "from", 0));
  filter.to_day = TRY(day_parameter(request, "to", filter.to_day));
  return filter;
}

// Text between commas. What begins as a formula would is text for a spreadsheet too.
std::string csv_text(std::string_view text) {
  std::string quoted = "\"";
  if (!text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos) quoted += '\'';
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_of(const std::vector<store::UsageRow>& rows) {
  std::string text = "day,tenant,key_id,session_id,executions,cpu_seconds,wall_seconds,egress_bytes\r\n";
  for (const store::UsageRow& row : rows)
    text += fmt::format("{},{},{},{},{},{:.6f},{:.6f},{}\r\n", row.day == 0 ? "" : day_text(row.day),
                        csv_text(row.tenant), csv_text(row.key_id), csv_text(row.session_id), row.executions,
                        static_cast<double>(row.cpu_us) / 1e6, static_cast<double>(row.wall_us) / 1e6,
                        row.egress_bytes);
  return text;
}

bj::object row_json(const store::UsageRow& row, const store::UsageFilter& filter) {
  bj::object line{{"tenant", row.tenant},
                  {"executions", row.executions},
                  {"cpu_seconds", static_cast<double>(row.cpu_us) / 1e6},
                  {"wall_seconds", static_cast<double>(row.wall_us) / 1e6},
                  {"egress_bytes", row.egress_bytes}};
  if (filter.by_day) line["day"] = day_text(row.day);
  if (filter.by_key) line["key_id"] = row.key_id;
  if (filter.by_session) line["session_id"] = row.session_id;
  return line;
}

// What is in use at this moment against what may be.
Task<bj::object> now_json(Context context, std::string tenant) {
  const quota::Quotas limits = context->quotas->of_tenant(tenant);
  quota::Amounts used = context->quotas->used_by_tenant(tenant);
  for (const quota::Quota quota : {quota::Quota::stored_mb, quota::Quota::volumes, quota::Quota::templates}) {
    CO_TRY(used[quota], co_await context->inventory->count(quota, tenant));
    if (quota == quota::Quota::stored_mb) used[quota] = (used[quota] + (1U << 20) - 1) >> 20U;
  }
  bj::object now;
  for (std::size_t at = 0; at < quota::kQuotaCount; ++at) {
    const auto quota = static_cast<quota::Quota>(at);
    // Used up and filled again within moments.
    if (quota == quota::Quota::requests_per_second || quota == quota::Quota::requests_burst) continue;
    bj::value limit = nullptr;
    if (limits[quota]) limit = *limits[quota];
    now[to_string(quota)] = bj::object{{"used", used[quota]}, {"limit", limit}};
  }
  co_return now;
}

Task<Response> usage(Context context, Principal who, Request& request) {
  CO_TRY(const store::UsageFilter filter, read_filter(who, request));
  const auto format = request.query("format").value_or("json");
  if (format != "json" && format != "csv")
    co_return fail(Error(Code::invalid_argument, "'format' is 'json' or 'csv'").with_field("format"));
  CO_CHECK(co_await context->quotas->save());
  CO_TRY(const auto rows, co_await context->store->list_usage(filter));
  if (format == "csv") {
    Response response = Response::text(200, csv_of(rows));
    response.headers.set("Content-Type", "text/csv; charset=utf-8");
    co_return response;
  }
  bj::array list;
  for (const store::UsageRow& row : rows) list.push_back(row_json(row, filter));
  bj::object body{{"usage", std::move(list)}};
  if (!filter.tenant.empty()) {
    CO_TRY(body["now"], co_await now_json(context, filter.tenant));
  }
  co_return json_response(200, body);
}

}  // namespace

void mount_usage(net::Router& router, const Context& context) {
  route(router, context, Method::get, "/api/usage", with_key(Permission::usage_read), usage);
}

}  // namespace atl::api::governance
