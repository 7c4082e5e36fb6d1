// Receivers that do their worst: they trickle, flood, redirect, speak nonsense, name a time far away, or stay
// away while a million events come. What is bounded stays bounded, and nothing within the bound is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "net/lying_server_test.h"
#include "net/test_server.h"
#include "os/directory_test.h"
#include "telemetry/delivery.h"
#include "telemetry/span_exporter.h"

namespace atl::telemetry {
namespace {

using net::comes_to;
using net::LyingServer;
using testing::HasSubstr;
using namespace std::chrono_literals;
using Lie = LyingServer::Lie;

constexpr const char* kTaken = "HTTP/1.1 200 OK\r\n";

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

class HostileTargetTest : public testing::Test {
 protected:
  HostileTargetTest() {
    log_options_.directory = directory_.path() + "/events";
    options_.directory = log_options_.directory;
    options_.first_pause = 5ms;
    options_.longest_pause = 20ms;
  }
  void open() { log_ = std::move(*EventLog::open(log_options_)); }
  void start(Result<std::unique_ptr<EventTarget>> target) {
    if (log_ == nullptr) open();
    std::vector<std::unique_ptr<EventTarget>> targets;
    targets.push_back(std::move(*target));
    deliveries_ = std::make_unique<Deliveries>(*log_, options_, std::move(targets));
  }
  void add(int count) {
    for (int i = 0; i < count; ++i)
      log_->append(
          {.type = "session.created", .tenant = "acme", .session_id = "ses_1", .environment = "host"});
  }
  Deliveries::Standing standing() const { return deliveries_->standings().at(0); }
  std::uint64_t disk_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(log_options_.directory))
      bytes += entry.file_size();
    return bytes;
  }

  os::TestDirectory directory_;
  EventLogOptions log_options_;
  DeliveryOptions options_;
  std::unique_ptr<EventLog> log_;
  std::unique_ptr<Deliveries> deliveries_;
};

// Whoever took it said so in the first line: what follows, slow or without end, is not waited for.
TEST_F(HostileTargetTest, AWebhookThatNeverEndsItsAnswerGetsEveryEventOnce) {
  for (const auto& again : {std::string("x"), std::string(1U << 20, 'x')}) {
    const LyingServer hook(Lie{.first = std::string(kTaken) + "Content-Length: 99999999999\r\n\r\n",
                               .again = again,
                               .pause = again.size() == 1 ? 20ms : 0ms});
    start(event_webhook(hook.url(), ""));
    add(5);
    ASSERT_TRUE(comes_to([&] { return standing().waiting == 0; })) << standing().state.reason;
    EXPECT_EQ(hook.taken(), 5);
    EXPECT_EQ(standing().missed, 0U);
    deliveries_.reset();
  }
}

TEST_F(HostileTargetTest, AWebhookThatRedirectsIsNotFollowed) {
  const LyingServer inside(Lie{.first = "HTTP/1.1 204 No Content\r\n\r\n"});
  const LyingServer hook(
      Lie{.first = "HTTP/1.1 307 Go\r\nLocation: " + inside.url() + "/admin\r\nContent-Length: 0\r\n\r\n"});
  start(event_webhook(hook.url(), ""));
  add(1);
  ASSERT_TRUE(comes_to([&] { return hook.taken() > 2; }));
  EXPECT_EQ(inside.taken(), 0);
  EXPECT_EQ(standing().waiting, 1U);
  EXPECT_THAT(standing().state.reason, HasSubstr("the webhook answered 307"));
}

TEST_F(HostileTargetTest, ANatsServerThatSpeaksNonsenseIsToldOfAndTriedAgain) {
  const std::string lies[] = {"HTTP/1.1 200 OK\r\n\r\n",
                              "INFO {\r\n",
                              "INFO nonsense\r\n",
                              std::string(100'000, '\0'),
                              "INFO " + std::string(2'000'000, '[') + "\r\n",
                              "INFO {\"max_payload\":-1}\r\nMSG x 1 99999999999\r\n"};
  for (const std::string& lie : lies) {
    const LyingServer server(Lie{.first = lie, .speaks_first = true});
    start(event_nats("nats" + server.url().substr(4)));
    add(1);
    ASSERT_TRUE(comes_to([&] { return standing().state.condition == Condition::degraded; }))
        << lie.substr(0, 40);
    ASSERT_TRUE(comes_to([&] { return server.taken() > 1; })) << lie.substr(0, 40);
    EXPECT_THAT(standing().state.reason, HasSubstr("NATS: "));
    EXPECT_EQ(standing().missed, 0U);
    deliveries_.reset();
  }
}

// An event is one append for whoever reports it. The target is asked by its pauses alone, however many come.
TEST_F(HostileTargetTest, EventsDoNotWakeWhoWaitsForATargetThatIsAway) {
  options_.first_pause = options_.longest_pause = 10min;
  const LyingServer hook(Lie{.first = "HTTP/1.1 503 Away\r\nContent-Length: 0\r\n\r\n"});
  start(event_webhook(hook.url(), ""));
  add(1);
  ASSERT_TRUE(comes_to([&] { return standing().state.condition == Condition::degraded; }));
  const auto switches = [] {
    std::uint64_t found = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm"), name);
      std::ifstream status(task.path() / "status");
      for (std::string line; name == "atoll-events" && std::getline(status, line);)
        if (line.starts_with("voluntary_ctxt_switches:")) found += std::stoull(line.substr(line.find('\t')));
    }
    return found;
  };
  const std::uint64_t before = switches();
  ASSERT_GT(before, 0U);
  add(10'000);
  EXPECT_LE(switches() - before, 2U);
  EXPECT_EQ(hook.taken(), 1);
  EXPECT_EQ(standing().waiting, 10'001U);
}

TEST_F(HostileTargetTest, NothingIsLeftLyingBetweenTwoThreads) {
  const LyingServer hook(Lie{.first = "HTTP/1.1 204 Taken\r\n\r\n"});
  start(event_webhook(hook.url(), ""));
  for (int i = 1; i <= 200; ++i) {
    add(1);
    if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i * 7));
  }
  EXPECT_TRUE(comes_to([&] { return standing().waiting == 0; }));
  EXPECT_EQ(standing().sent, 200U);
}

TEST_F(HostileTargetTest, AMillionEventsForOneThatIsAwayStayWithinTheBounds) {
  log_options_.segment_bytes = 1U << 20;
  log_options_.keep_bytes = 8U << 20;
  open();
  start(event_nats("nats://127.0.0.1:1"));
  add(1'000);
  const std::uint64_t memory = resident_bytes();
  add(999'000);
  EXPECT_LT(disk_bytes(), (8U << 20) + (1U << 20));
  EXPECT_LT(resident_bytes(), memory + (16U << 20));
  ASSERT_TRUE(comes_to([&] { return standing().state.condition == Condition::degraded; }));
  // What is lost is known while the target is still away.
  const auto told = standing();
  EXPECT_GT(told.missed, 900'000U);
  EXPECT_EQ(told.missed + told.waiting, 1'000'000U);
  EXPECT_THAT(told.state.reason, HasSubstr(std::to_string(told.missed) + " were lost: NATS"));
  EXPECT_GT(told.waiting, 10'000U) << "as much as the bound has room for is kept";
}

TEST_F(HostileTargetTest, WhatIsLostIsCountedOnce) {
  log_options_.segment_bytes = 2'000;
  log_options_.keep_bytes = 8'000;
  log_options_.recent_max = 4;
  open();
  const LyingServer away(Lie{.first = "HTTP/1.1 503 Away\r\nContent-Length: 0\r\n\r\n"});
  start(event_webhook(away.url(), ""));
  add(1'000);
  const auto before = standing();
  EXPECT_EQ(before.missed + before.waiting, 1'000U);
  EXPECT_GT(before.missed, 900U);
  deliveries_.reset();
  const LyingServer back(Lie{.first = "HTTP/1.1 204 Taken\r\n\r\n"});
  start(event_webhook(back.url(), ""));
  ASSERT_TRUE(comes_to([&] { return standing().waiting == 0; }));
  EXPECT_EQ(standing().missed + standing().sent, 1'000U);
}

ExportOptions to(const std::string& url) {
  ExportOptions options;
  options.endpoint = *net::Url::parse(url);
  options.instance = "one";
  options.every = 5ms;
  options.first_pause = 5ms;
  options.longest_pause = 50ms;
  return options;
}

void make_spans(SpanExporter& exporter, int count) {
  trace::EndedSpan span;
  span.context = *trace::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  span.name = "policy";
  for (int i = 0; i < count; ++i) exporter.take(span);
}

TEST(HostileCollector, NamesATimeFarAwayAndIsAskedBefore) {
  for (const char* when : {"999999999", "99999999999999999999999", "86400"}) {
    const LyingServer collector(Lie{.first = std::string("HTTP/1.1 429 Busy\r\nRetry-After: ") + when +
                                             "\r\nContent-Length: 0\r\n\r\n"});
    SpanExporter exporter(to(collector.url()));
    make_spans(exporter, 3);
    EXPECT_TRUE(comes_to([&] { return collector.taken() > 2; })) << when;
    EXPECT_EQ(exporter.counts().waiting, 3U);
    EXPECT_EQ(exporter.counts().dropped, 0U);
    EXPECT_THAT(exporter.state().reason, HasSubstr("3 spans wait for the collector: it answered 429"));
  }
}

TEST(HostileCollector, ATimeThatIsNearIsHeeded) {
  const LyingServer collector(
      Lie{.first = "HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n"});
  ExportOptions options = to(collector.url());
  options.longest_pause = 60s;
  SpanExporter exporter(options);
  make_spans(exporter, 1);
  ASSERT_TRUE(comes_to([&] { return collector.taken() == 1; }));
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(collector.taken(), 1);
}

TEST(HostileCollector, NeverEndsItsAnswerAndGetsEverySpanOnce) {
  const LyingServer collector(
      Lie{.first = std::string(kTaken) + "Content-Length: 99999999999\r\n\r\n", .again = "x", .pause = 20ms});
  SpanExporter exporter(to(collector.url()));
  make_spans(exporter, 3);
  EXPECT_TRUE(comes_to([&] { return exporter.counts().exported == 3; }));
}

TEST(HostileCollector, AFullQueueCostsNothingAndIsTold) {
  ExportOptions options = to("http://127.0.0.1:1");
  options.queue_max = 10;
  options.first_pause = options.longest_pause = 10min;
  SpanExporter exporter(options);
  EXPECT_TRUE(exporter.samples({1}));
  make_spans(exporter, 10);
  EXPECT_EQ(exporter.counts().dropped, 0U);
  // No trace begins that has no room.
  EXPECT_FALSE(exporter.samples({1}));
  EXPECT_FALSE(trace::Span::of_request("").is_recorded());
  const std::uint64_t memory = resident_bytes();
  make_spans(exporter, 1'000'000);
  EXPECT_LT(resident_bytes(), memory + (4U << 20));
  EXPECT_EQ(exporter.counts().waiting, 10U);
  EXPECT_EQ(exporter.counts().dropped, 1'000'002U);
  ASSERT_TRUE(comes_to([&] { return exporter.state().condition == Condition::degraded; }));
  EXPECT_THAT(exporter.state().reason, HasSubstr("10 spans wait for the collector, and no more are kept"));
}

}  // namespace
}  // namespace atl::telemetry
