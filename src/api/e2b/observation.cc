#include "api/e2b/observation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace atl::api::e2b {
namespace {

using session::Session;

constexpr std::uint32_t kLogsMax = 1000;
constexpr std::int64_t kTeamSamplesMax = 720;
constexpr const char* kLevels[] = {"debug", "info", "warn", "error"};

Object sample_object(const session::Sample& sample, const Session& session) {
  return Object{{"timestamp", to_timestamp(sample.at)},
                {"timestampUnix", unix_millis(sample.at) / 1000},
                {"cpuCount", static_cast<std::int64_t>(std::ceil(session.limits.cpu_cores))},
                {"cpuUsedPct", sample.cpu_percent},
                {"memUsed", sample.usage.memory_bytes},
                {"memTotal", session.limits.memory_bytes},
                {"memCache", sample.usage.memory_cache_bytes},
                {"diskUsed", sample.usage.disk_bytes},
                {"diskTotal", session.limits.disk_bytes}};
}

// A whole number of the query, in [least, most].
Result<std::optional<std::int64_t>> bounded_number(const net::Request& request, std::string_view name,
                                                   std::int64_t least, std::int64_t most) {
  auto text = request.query(name);
  if (!text || text->empty()) return std::optional<std::int64_t>();
  const bool digits = text->size() <= 15 && text->find_first_not_of("0123456789") == std::string::npos;
  const std::int64_t value = digits ? std::stoll(*text) : -1;
  if (value < least || value > most)
    return fail(Code::invalid_argument, fmt::format("{} must be a number from {} to {}", name, least, most));
  return std::optional<std::int64_t>(value);
}

Result<std::optional<WallTime>> unix_seconds(const net::Request& request, std::string_view name) {
  auto seconds = TRY(bounded_number(request, name, 0, 999'999'999'999));
  if (!seconds) return std::optional<WallTime>();
  return std::optional<WallTime>(WallTime(std::chrono::seconds(*seconds)));
}

int level_of(session::Status status) {
  if (status == session::Status::success) return 1;
  return status == session::Status::admitted ? 0 : status == session::Status::error ? 3 : 2;
}

std::string message_of(const session::ExecutionRecord& record) {
  return fmt::format("{} {}: {}", record.kind, session::to_string(record.status), record.code);
}

Object log_entry(const session::ExecutionRecord& record) {
  return Object{{"timestamp", to_timestamp(record.admitted_at)},
                {"level", kLevels[level_of(record.status)]},
                {"message", message_of(record)},
                {"fields", Object{{"record_id", record.record_id}}}};
}

// A line of the first generation: the text of an object, because E2B's command line reads it as one.
std::string log_line(const session::ExecutionRecord& record) {
  return to_text(Object{{"level", kLevels[level_of(record.status)]},
                        {"logger", "atoll"},
                        {"message", message_of(record)},
                        {"record_id", record.record_id}});
}

// Which log lines are wanted.
struct LogQuery {
  session::HistoryRequest history;
  int level = 0;
  std::string search;
  std::size_t limit = kLogsMax;

  bool wants(const session::ExecutionRecord& record) const {
    return level_of(record.status) >= level &&
           (search.empty() || message_of(record).find(search) != std::string::npos);
  }
};

// `cursor` is a time in milliseconds: the first that is wanted, in the direction of reading.
Result<LogQuery> log_query(const net::Request& request, const std::string& session_id) {
  LogQuery query;
  query.history.id = session_id;
  query.history.limit = kLogsMax;
  query.limit =
      static_cast<std::size_t>(TRY(bounded_number(request, "limit", 0, kLogsMax)).value_or(kLogsMax));
  std::string direction = request.query("direction").value_or("forward");
  if (direction != "forward" && direction != "backward")
    return fail(Code::invalid_argument, "direction must be forward or backward");
  const bool forward = direction == "forward";
  query.history.order = forward ? session::Order::oldest_first : session::Order::newest_first;
  if (auto at = TRY(bounded_number(request, "cursor", 0, 999'999'999'999'999))) {
    auto& bound = forward ? query.history.from : query.history.to;
    bound = WallTime(std::chrono::milliseconds(*at + (forward ? 0 : 1))) -
            std::chrono::microseconds(forward ? 0 : 1);
  }
  std::string level = request.query("level").value_or("debug");
  const auto* found = std::find(std::begin(kLevels), std::end(kLevels), level);
  if (found == std::end(kLevels))
    return fail(Code::invalid_argument, "level must be debug, info, warn or error");
  query.level = static_cast<int>(found - std::begin(kLevels));
  query.search = request.query("search").value_or("");
  return query;
}

Task<std::vector<session::ExecutionRecord>> read_logs(const Context& context, auth::Principal who,
                                                      LogQuery query) {
  std::vector<session::ExecutionRecord> wanted;
  while (wanted.size() < query.limit) {
    CO_TRY(auto page, co_await context.service.history(who, query.history));
    for (auto& record : page.items) {
      if (wanted.size() < query.limit && query.wants(record)) wanted.push_back(std::move(record));
    }
    if (page.next_cursor.empty()) break;
    query.history.cursor = page.next_cursor;
  }
  co_return wanted;
}

}  // namespace

void Observation::add(net::Router& router, std::string_view path, Rule rule, Handler handler) {
  router.add(net::Method::get, path, context_.admission.rule(rule), [this, handler](net::Request& request) {
    return (this->*handler)(request, grant_of(request).who);
  });
}

void Observation::mount(net::Router& router) {
  add(router, "/sandboxes/metrics", with_key(Permission::sessions_read), &Observation::all_metrics);
  add(router, "/sandboxes/{id}/metrics", with_key(Permission::sessions_read), &Observation::metrics);
  add(router, "/sandboxes/{id}/logs", with_key(Permission::history_read), &Observation::logs);
  add(router, "/v2/sandboxes/{id}/logs", with_key(Permission::history_read), &Observation::logs_v2);
  add(router, "/teams", with_key(Permission::sessions_read), &Observation::teams);
  add(router, "/teams/{team}/metrics", with_key(Permission::sessions_read).of_tenant(),
      &Observation::team_metrics);
  add(router, "/teams/{team}/metrics/max", with_key(Permission::sessions_read).of_tenant(),
      &Observation::team_maximum);
}

Task<net::Response> Observation::metrics(net::Request& request, auth::Principal who) {
  CO_TRY(auto from, unix_seconds(request, "start"));
  CO_TRY(auto to, unix_seconds(request, "end"));
  CO_TRY(Session session, co_await live_session(context_, request, who));
  CO_TRY(auto samples, co_await context_.service.metrics(who, session.session_id, from, to));
  Array list;
  for (const session::Sample& sample : samples) list.push_back(sample_object(sample, session));
  co_return json_response(200, list);
}

Task<net::Response> Observation::all_metrics(net::Request& request, auth::Principal who) {
  std::string ids = request.query("sandbox_ids").value_or("");
  Object sandboxes;
  for (std::string_view left = ids; !left.empty();) {
    std::string id(left.substr(0, left.find(',')));
    left = id.size() == left.size() ? std::string_view() : left.substr(id.size() + 1);
    auto session = co_await context_.service.get(who, id);
    if (!session || !session::is_live(session->state)) continue;
    auto samples = co_await context_.service.metrics(who, session->session_id, std::nullopt, std::nullopt);
    if (samples && !samples->empty()) sandboxes[id] = sample_object(samples->back(), *session);
  }
  co_return json_response(200, Object{{"sandboxes", std::move(sandboxes)}});
}

Task<net::Response> Observation::logs(net::Request& request, auth::Principal who) {
  CO_TRY(Session session, co_await known_session(context_, request, who));
  LogQuery query;
  query.history.id = session.session_id;
  query.history.order = session::Order::oldest_first;
  query.history.limit = kLogsMax;
  CO_TRY(const auto limit, bounded_number(request, "limit", 0, kLogsMax));
  query.limit = static_cast<std::size_t>(limit.value_or(kLogsMax));
  CO_TRY(const auto start, bounded_number(request, "start", 0, 999'999'999'999'999));
  if (start) query.history.from = WallTime(std::chrono::milliseconds(*start));
  CO_TRY(const auto records, co_await read_logs(context_, who, std::move(query)));
  Array lines, entries;
  for (const auto& record : records) {
    lines.push_back(Object{{"timestamp", to_timestamp(record.admitted_at)}, {"line", log_line(record)}});
    entries.push_back(log_entry(record));
  }
  co_return json_response(200, Object{{"logs", std::move(lines)}, {"logEntries", std::move(entries)}});
}

Task<net::Response> Observation::logs_v2(net::Request& request, auth::Principal who) {
  CO_TRY(Session session, co_await known_session(context_, request, who));
  CO_TRY(LogQuery query, log_query(request, session.session_id));
  CO_TRY(const auto records, co_await read_logs(context_, who, std::move(query)));
  Array entries;
  for (const auto& record : records) entries.push_back(log_entry(record));
  co_return json_response(200, Object{{"logs", std::move(entries)}});
}

// The key is the one that asked: others are kept hashed.
Task<net::Response> Observation::teams(net::Request& request, auth::Principal who) {
  Object team{
      {"teamID", who.tenant}, {"name", who.tenant}, {"apiKey", shown_key(request)}, {"isDefault", true}};
  co_return json_response(200, Array{std::move(team)});
}

// How many sandboxes the team had, at equal distances from `start` to `end` (the last hour if they are not
// given).
Task<std::vector<Observation::Sample>> Observation::team_samples(const net::Request& request,
                                                                 auth::Principal who) {
  if (request.param("team") != who.tenant)
    co_return fail(Code::not_found, fmt::format("team '{}' not found", request.param("team")));
  CO_TRY(const auto start, unix_seconds(request, "start"));
  CO_TRY(const auto end, unix_seconds(request, "end"));
  const WallTime to = std::min(end.value_or(context_.clock.now()), context_.clock.now());
  const WallTime from = start.value_or(to - std::chrono::hours(1));
  if (from > to) co_return fail(Code::invalid_argument, "start must be before end");
  const auto range = std::chrono::duration_cast<std::chrono::seconds>(to - from).count();
  const std::chrono::seconds step(std::max<std::int64_t>(5, range / kTeamSamplesMax + 1));
  std::vector<Sample> samples;
  for (WallTime at = from; at <= to; at += step) samples.push_back({at, 0, 0});
  session::ListRequest wanted;
  wanted.limit = 1000;
  do {
    CO_TRY(auto page, co_await context_.service.list(who, wanted));
    for (const Session& session : page.items) {
      for (Sample& sample : samples) {
        if (session.created_at <= sample.at && session.ended_at.value_or(WallTime::max()) > sample.at)
          ++sample.sandboxes;
        if (session.created_at <= sample.at && session.created_at > sample.at - step)
          sample.started_per_second += 1.0 / static_cast<double>(step.count());
      }
    }
    wanted.cursor = page.next_cursor;
  } while (!wanted.cursor.empty());
  co_return samples;
}

Task<net::Response> Observation::team_metrics(net::Request& request, auth::Principal who) {
  CO_TRY(const auto samples, co_await team_samples(request, std::move(who)));
  Array list;
  for (const Sample& sample : samples) {
    list.push_back(Object{{"timestamp", to_timestamp(sample.at)},
                          {"timestampUnix", unix_millis(sample.at) / 1000},
                          {"concurrentSandboxes", sample.sandboxes},
                          {"sandboxStartRate", sample.started_per_second}});
  }
  co_return json_response(200, list);
}

Task<net::Response> Observation::team_maximum(net::Request& request, auth::Principal who) {
  std::string metric = request.query("metric").value_or("");
  if (metric != "concurrent_sandboxes" && metric != "sandbox_start_rate")
    co_return fail(Code::invalid_argument, "metric must be concurrent_sandboxes or sandbox_start_rate");
  CO_TRY(const auto samples, co_await team_samples(request, std::move(who)));
  auto value = [&](const Sample& sample) {
    return metric == "concurrent_sandboxes" ? static_cast<double>(sample.sandboxes)
                                            : sample.started_per_second;
  };
  const auto most = std::max_element(samples.begin(), samples.end(),
                                     [&](const Sample& a, const Sample& b) { return value(a) < value(b); });
  co_return json_response(200, Object{{"timestamp", to_timestamp(most->at)},
                                      {"timestampUnix", unix_millis(most->at) / 1000},
                                      {"value", value(*most)}});
}

}  // namespace atl::api::e2b
