#include "telemetry/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atl::telemetry {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Histogram, CountsUpToEachBound) {
  Histogram histogram;
  histogram.add(std::chrono::microseconds(300));
  histogram.add(std::chrono::seconds(2));
  histogram.add(std::chrono::hours(1));
  std::string out;
  histogram.append(out, "x", "a=\"b\",");
  EXPECT_THAT(out, HasSubstr("x_bucket{a=\"b\",le=\"0.00025\"} 0\n"));
  EXPECT_THAT(out, HasSubstr("x_bucket{a=\"b\",le=\"0.0005\"} 1\n"));
  EXPECT_THAT(out, HasSubstr("x_bucket{a=\"b\",le=\"5\"} 2\n"));
  EXPECT_THAT(out, HasSubstr("x_bucket{a=\"b\",le=\"+Inf\"} 3\n"));
  EXPECT_THAT(out, HasSubstr("x_count{a=\"b\"} 3\n"));
}

TEST(Metrics, FollowsSessionsAndExecutions) {
  Metrics metrics;
  session::Session session;
  session.provider = "native";
  metrics.changed(session, session::State::creating, session::State::creating);
  metrics.changed(session, session::State::creating, session::State::running);
  session::ExecutionRecord record;
  record.type = "python";
  record.status = session::Status::timeout;
  metrics.finished(session, record, std::chrono::milliseconds(3));
  record.status = session::Status::denied;
  metrics.finished(session, record, {});
  metrics.served({.method = "GET", .status = 200, .duration = std::chrono::microseconds(50)});
  const std::string text = metrics.render({{.name = "native", .pools = {{"host", 3, 8}}}});
  EXPECT_THAT(text, HasSubstr("atoll_sessions{provider=\"native\",state=\"creating\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("atoll_sessions{provider=\"native\",state=\"running\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("atoll_limit_hits_total{provider=\"native\",limit=\"time\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("atoll_policy_denials_total 1\n"));
  EXPECT_THAT(text, HasSubstr("atoll_pool_ready{provider=\"native\",environment=\"host\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("atoll_http_requests_total{method=\"GET\",status=\"200\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("process_resident_memory_bytes 0\n")));
}

}  // namespace
}  // namespace atl::telemetry
