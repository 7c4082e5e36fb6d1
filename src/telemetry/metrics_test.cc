#include "telemetry/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/ids.h"

namespace atl::telemetry {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

trace::Context sampled() {
  trace::Context context =
      *trace::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  return context;
}

TEST(Exposition, CountsUpToEachBound) {
  Histogram histogram;
  histogram.add(std::chrono::microseconds(300));
  histogram.add(std::chrono::seconds(2));
  histogram.add(std::chrono::hours(1));
  Exposition out(Format::text);
  out.histogram("x", "something");
  out.sample({{"a", "b"}}, histogram);
  const std::string text = std::move(out).done();
  EXPECT_THAT(text, HasSubstr("# TYPE x histogram\n"));
  EXPECT_THAT(text, HasSubstr("x_bucket{a=\"b\",le=\"0.00025\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("x_bucket{a=\"b\",le=\"0.0005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("x_bucket{a=\"b\",le=\"5.0\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("x_bucket{a=\"b\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("x_count{a=\"b\"} 3\n"));
}

TEST(Exposition, LabelsCannotBreakOut) {
  Exposition out(Format::text);
  out.gauge("x", "something");
  out.sample({{"a", "quote\" back\\ line\n}"}}, 1);
  out.sample({{"a", "no \xff utf-8 \xc3"}}, 2);
  out.sample({{"a", "\xc3\xa4"}}, 3);
  const std::string text = std::move(out).done();
  EXPECT_THAT(text, HasSubstr("x{a=\"quote\\\" back\\\\ line\\n}\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("x{a=\"no \xef\xbf\xbd utf-8 \xef\xbf\xbd\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("x{a=\"\xc3\xa4\"} 3\n"));
}

TEST(Exposition, OnlyOpenMetricsHasExemplars) {
  Histogram histogram;
  histogram.add(std::chrono::milliseconds(3), sampled());
  histogram.add(std::chrono::milliseconds(30), trace::Context{});
  for (const Format format : {Format::text, Format::open_metrics}) {
    Exposition out(format);
    out.counter("y_total", "something");
    out.sample({}, 7);
    out.histogram("x_seconds", "something");
    out.sample({}, histogram);
    const std::string text = std::move(out).done();
    EXPECT_THAT(text, HasSubstr("y_total 7\n"));
    if (format == Format::text) {
      EXPECT_THAT(text, HasSubstr("# TYPE y_total counter\n"));
      EXPECT_THAT(text, Not(HasSubstr("trace_id")));
    } else {
      EXPECT_THAT(text, HasSubstr("# TYPE y counter\n"));
      EXPECT_THAT(text, HasSubstr("x_seconds_bucket{le=\"0.005\"} 1 # "
                                  "{trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\"} 0.003 "));
      EXPECT_THAT(text, EndsWith("# EOF\n"));
    }
  }
}

TEST(Exposition, GivesTheFormatThatIsAskedFor) {
  for (const char* accept :
       {"application/openmetrics-text;version=1.0.0,text/plain;q=0.5", "Application/OpenMetrics-Text",
        // Prometheus 2.42.
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        "text/plain ; q=0.3 , application/openmetrics-text ; q=0.3"})
    EXPECT_EQ(format_for(accept), Format::open_metrics) << accept;
  for (const char* accept :
       {"", "*/*", "text/plain", "application/openmetrics-text;q=0", "application/openmetrics-text; q=x",
        "text/plain;version=0.0.4;q=1,application/openmetrics-text;q=0.2", ",,;,",
        "x;application/openmetrics-text"})
    EXPECT_EQ(format_for(accept), Format::text) << accept;
}

TEST(Metrics, FollowsSessionsAndExecutions) {
  Metrics metrics;
  session::Session session;
  session.provider = "native";
  session.tenant = "acme";
  metrics.changed(session, session::State::creating, session::State::creating, {});
  metrics.changed(session, session::State::creating, session::State::running, {});
  metrics.created(session, std::chrono::milliseconds(2), sampled());
  metrics.create_failed("native", Code::no_space);
  session::ExecutionRecord record;
  record.type = "python";
  record.status = session::Status::timeout;
  record.usage.cpu_time = std::chrono::milliseconds(1500);
  metrics.finished(session, record, std::chrono::milliseconds(3));
  record.status = session::Status::denied;
  record.usage.cpu_time = {};
  metrics.finished(session, record, {});
  record.kind = "tool";
  record.type = "somebodys-own-tool";
  record.status = session::Status::success;
  metrics.finished(session, record, std::chrono::milliseconds(1));
  metrics.reached(session, {.host = "example.org", .port = 443, .allowed = false, .reason = "no rule"});
  metrics.loop_was_late(std::chrono::milliseconds(7));
  metrics.served({.method = "GET", .status = 200, .duration = std::chrono::microseconds(50)});
  metrics.add([](Exposition& out) {
    out.gauge("part", "something");
    out.sample({}, 5);
  });
  const std::string text = metrics.render({{.name = "native", .pools = {{"host", 2, 6}, {"host", 1, 2}}},
                                           {.name = "docker", .unavailable_because = "no engine"}},
                                          Format::text);
  for (const char* line : {"atoll_sessions{provider=\"native\",state=\"creating\"} 0\n",
                           "atoll_sessions{provider=\"native\",state=\"running\"} 1\n",
                           "atoll_create_seconds_count{provider=\"native\"} 1\n",
                           "atoll_session_events_total{provider=\"native\",event=\"created\"} 1\n",
                           "atoll_session_events_total{provider=\"docker\",event=\"lost\"} 0\n",
                           "atoll_create_failures_total{provider=\"native\",code=\"no_space\"} 1\n",
                           "atoll_limit_hits_total{provider=\"native\",limit=\"time\"} 1\n",
                           "atoll_execute_seconds_count{provider=\"native\",language=\"python\"} 1\n",
                           "atoll_execute_seconds_count{provider=\"native\",language=\"tool\"} 1\n",
                           "atoll_policy_denials_total 1\n",
                           "atoll_egress_attempts_total{decision=\"denied\"} 1\n",
                           "atoll_tenant_sessions{tenant=\"acme\"} 1\n",
                           "atoll_tenant_executions_total{tenant=\"acme\"} 3\n",
                           "atoll_tenant_cpu_seconds_total{tenant=\"acme\"} 1.5\n",
                           "atoll_pool_ready{provider=\"native\",environment=\"host\"} 3\n",
                           "atoll_pool_target{provider=\"native\",environment=\"host\"} 8\n",
                           "atoll_provider_up{provider=\"docker\"} 0\n",
                           "atoll_http_requests_total{method=\"GET\",status=\"200\"} 1\n",
                           "atoll_loop_lag_seconds_count 1\n",
                           "part 5\n"})
    EXPECT_THAT(text, HasSubstr(line));
  EXPECT_THAT(text, Not(HasSubstr("somebodys-own-tool")));
  // A create's class leads to its trace.
  EXPECT_THAT(metrics.render({}, Format::open_metrics),
              HasSubstr("atoll_create_seconds_bucket{provider=\"native\",le=\"0.0025\"} 1 # "
                        "{trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\"} 0.002 "));
  EXPECT_THAT(text, Not(HasSubstr("process_resident_memory_bytes 0\n")));
}

TEST(Metrics, AddsUpWhatTheSandboxesOfATenantHold) {
  Metrics metrics;
  session::Session one, two;
  one.tenant = two.tenant = "acme";
  one.provider = two.provider = "native";
  one.session_id = "ses_1";
  two.session_id = "ses_2";
  one.state = two.state = session::State::running;
  const auto held = [&] { return metrics.render({}, Format::text); };
  metrics.sampled(one, {.memory_bytes = 100, .disk_bytes = 10});
  metrics.sampled(two, {.memory_bytes = 1000, .disk_bytes = 5});
  EXPECT_THAT(held(), HasSubstr("atoll_tenant_memory_bytes{tenant=\"acme\"} 1100\n"));
  metrics.sampled(one, {.memory_bytes = 40, .disk_bytes = 20});
  EXPECT_THAT(held(), HasSubstr("atoll_tenant_memory_bytes{tenant=\"acme\"} 1040\n"));
  EXPECT_THAT(held(), HasSubstr("atoll_tenant_disk_bytes{tenant=\"acme\"} 25\n"));
  one.state = session::State::stopped;
  metrics.changed(one, session::State::stopping, session::State::stopped, {});
  // A measurement that was under way when it ended counts no more.
  metrics.sampled(one, {.memory_bytes = 40, .disk_bytes = 20});
  EXPECT_THAT(held(), HasSubstr("atoll_tenant_memory_bytes{tenant=\"acme\"} 1000\n"));
  EXPECT_THAT(held(), HasSubstr("atoll_tenant_disk_bytes{tenant=\"acme\"} 5\n"));
}

// Tenants, tools and methods of requests are named by others, the last by anybody who can connect.
TEST(Metrics, NobodyMakesTheNumberOfRowsGrow) {
  Metrics metrics;
  session::Session session;
  session.provider = "virtual";
  session::ExecutionRecord record;
  for (int i = 0; i < 10'000; ++i) {
    session.tenant = "tenant-" + std::to_string(i);
    session.session_id = "ses_" + std::to_string(i);
    session.state = session::State::running;
    metrics.changed(session, session::State::creating, session::State::running, {});
    metrics.sampled(session, {.memory_bytes = 1, .disk_bytes = 1});
    record.kind = "tool";
    record.type = "tool-" + std::to_string(i);
    metrics.finished(session, record, std::chrono::milliseconds(1));
    const std::string method = "M" + std::to_string(i);
    metrics.served({.method = method, .status = 405});
    session.state = session::State::stopped;
    metrics.changed(session, session::State::running, session::State::stopped, {});
  }
  metrics.served({.method = "DELETE", .status = 200});
  const std::string text = metrics.render({}, Format::text);
  EXPECT_LT(std::ranges::count(text, '\n'), 1'000);
  EXPECT_THAT(text, HasSubstr("atoll_http_requests_total{method=\"other\",status=\"405\"} 10000\n"));
  EXPECT_THAT(text, HasSubstr("atoll_http_requests_total{method=\"DELETE\",status=\"200\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("atoll_tenant_executions_total{tenant=\"other\"} 9900\n"));
  EXPECT_THAT(text, HasSubstr("atoll_tenant_memory_bytes{tenant=\"other\"} 0\n"));
}

TEST(Metrics, CountsWhatHappensToSessions) {
  Metrics metrics;
  session::Session session;
  session.provider = "native";
  using session::State;
  const std::pair<State, State> changes[] = {
      {State::creating, State::creating}, {State::creating, State::running},
      {State::running, State::paused},    {State::paused, State::running},
      {State::running, State::stopping},  {State::stopping, State::stopped},
      {State::creating, State::failed},   {State::running, State::lost}};
  for (const auto& [from, to] : changes) metrics.changed(session, from, to, {});
  const std::string text = metrics.render({}, Format::text);
  for (const char* event : {"paused", "resumed", "ended", "failed", "lost"})
    EXPECT_THAT(text, HasSubstr(std::string("atoll_session_events_total{provider=\"native\",event=\"") +
                                event + "\"} 1\n"));
}

// What a server inside a sandbox answers is its tenant's matter: no row for each number it thinks of, no
// alarm about ours.
TEST(Metrics, AnswersThatArePassedOnAreNotOurs) {
  Metrics metrics;
  for (int status = 100; status < 1000; ++status)
    metrics.served(
        {.method = "GET", .status = status, .duration = std::chrono::hours(1), .is_passed_on = true});
  metrics.served({.method = "GET", .status = 503});
  const std::string text = metrics.render({}, Format::text);
  EXPECT_THAT(text, HasSubstr("atoll_http_requests_total{method=\"GET\",status=\"passed_on\"} 900\n"));
  EXPECT_THAT(text, HasSubstr("atoll_http_requests_total{method=\"GET\",status=\"503\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("status=\"500\"")));
  EXPECT_THAT(text, HasSubstr("atoll_http_request_seconds_count 1\n"));
}

TEST(Metrics, EnvironmentsOfPoolsAreBounded) {
  Metrics metrics;
  for (std::size_t i = 0; i < 2 * Metrics::kPoolsMax; ++i)
    (void)metrics.render({{.name = "docker", .pools = {{"image-" + std::to_string(i), 1, 2}}}}, Format::text);
  const std::string text = metrics.render(
      {{.name = "docker", .pools = {{"image-0", 1, 2}, {"image-99", 1, 2}, {"more", 3, 4}}}}, Format::text);
  EXPECT_THAT(text, HasSubstr("atoll_pool_ready{provider=\"docker\",environment=\"image-0\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("atoll_pool_ready{provider=\"docker\",environment=\"other\"} 4\n"));
}

TEST(Metrics, TenantsAreBounded) {
  Metrics metrics;
  session::Session session;
  session.provider = "virtual";
  for (std::size_t i = 0; i < Metrics::kTenantsMax + 50; ++i) {
    session.tenant = "t" + std::to_string(i);
    metrics.changed(session, session::State::creating, session::State::running, {});
  }
  const std::string text = metrics.render({}, Format::text);
  EXPECT_THAT(text, HasSubstr("atoll_tenant_sessions{tenant=\"t99\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("tenant=\"t100\"")));
  EXPECT_THAT(text, HasSubstr("atoll_tenant_sessions{tenant=\"other\"} 50\n"));
}

}  // namespace
}  // namespace atl::telemetry
