// What leaves the service by itself: spans to a collector, events to webhooks and NATS. With receivers that
// refuse, hang and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/json.hpp>
#include <mutex>

#include "base/bytes.h"
#include "net/test_server.h"
#include "os/directory_test.h"
#include "telemetry/delivery.h"
#include "telemetry/span_exporter.h"

namespace atl::telemetry {
namespace {

using net::comes_to;
using testing::HasSubstr;
using namespace std::chrono_literals;

// Takes posts on every path and answers with a status of its own.
class Receiver {
 public:
  explicit Receiver(const std::string& address = "127.0.0.1:0") {
    server_.server.router().add(net::Method::post, "/{rest...}", net::anyone(),
                                [this](net::Request& request) -> Task<net::Response> {
                                  const std::lock_guard lock(mutex_);
                                  paths_.emplace_back(request.path);
                                  headers_.push_back(request.headers);
                                  if (status == 200) bodies_.push_back(request.body);
                                  ++tries;
                                  co_return net::Response::json(status, "{}");
                                });
    where_ = server_.start(address);
  }
  std::string url() const { return "http://" + where_; }
  const std::string& address() const { return where_; }
  std::vector<std::string> bodies() {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }
  std::string path() {
    const std::lock_guard lock(mutex_);
    return paths_.empty() ? "" : paths_.back();
  }
  std::string header(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return headers_.empty() ? "" : std::string(headers_.back().get(name));
  }
  std::atomic<int> status = 200, tries = 0;

 private:
  std::mutex mutex_;
  std::vector<std::string> bodies_, paths_;
  std::vector<net::Headers> headers_;
  net::TestServer server_;
  std::string where_;
};

ExportOptions to(const std::string& url) {
  ExportOptions options;
  options.endpoint = *net::Url::parse(url);
  options.instance = "one";
  options.sample = 0;
  options.every = 5ms;
  options.first_pause = 5ms;
  options.longest_pause = 20ms;
  return options;
}

// Hands them over as the rooms would. The receiver lives in this process, and what it serves must not become
// spans: it is told not to sample.
void make_spans(SpanExporter& exporter, int count) {
  for (int i = 0; i < count; ++i) {
    trace::EndedSpan span;
    span.context = *trace::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    span.name = "policy";
    exporter.take(std::move(span));
  }
}

TEST(Otlp, IsWhatCollectorsRead) {
  Spans spans;
  trace::EndedSpan& span = *spans.emplace_back(std::make_unique<trace::EndedSpan>());
  spans.push_back(std::make_unique<trace::EndedSpan>());
  span.context = *trace::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  span.parent = {1, 2, 3, 4, 5, 6, 7, 8};
  span.name = "policy \"x\"";
  span.kind = trace::Kind::server;
  span.begin = WallTime(1s);
  span.took = 5us;
  span.attributes = {
      {"number", std::int64_t(7)}, {"text", std::string("a\"b\xff")}, {"long", std::string(100'000, 'x')}};
  span.failure = "denied";
  const auto document = boost::json::parse(to_otlp(spans, "one"));
  const auto& resource = document.at("resourceSpans").at(0);
  EXPECT_EQ(resource.at("resource").at("attributes").at(0).at("value").at("stringValue"), "atoll");
  const auto& first = resource.at("scopeSpans").at(0).at("spans").at(0);
  EXPECT_EQ(first.at("traceId"), "4bf92f3577b34da6a3ce929d0e0e4736");
  EXPECT_EQ(first.at("spanId"), "00f067aa0ba902b7");
  EXPECT_EQ(first.at("parentSpanId"), "0102030405060708");
  EXPECT_EQ(first.at("name"), "policy \"x\"");
  EXPECT_EQ(first.at("kind"), 2);
  EXPECT_EQ(first.at("startTimeUnixNano"), "1000000000");
  EXPECT_EQ(first.at("endTimeUnixNano"), "1000005000");
  EXPECT_EQ(first.at("attributes").at(0).at("value").at("intValue"), "7");
  EXPECT_EQ(first.at("attributes").at(1).at("value").at("stringValue"), "a\"b\xef\xbf\xbd");
  EXPECT_EQ(first.at("status").at("code"), 2);
  const auto& second = resource.at("scopeSpans").at(0).at("spans").at(1).as_object();
  EXPECT_FALSE(second.contains("parentSpanId"));
  EXPECT_FALSE(second.contains("status"));
  EXPECT_EQ(second.at("name"), "unnamed");
  EXPECT_EQ(first.at("attributes").at(2).at("value").at("stringValue").as_string().size(), 256U);
}

TEST(SpanExporterTest, SendsWhatEnded) {
  Receiver collector;
  SpanExporter exporter(to(collector.url()));
  make_spans(exporter, 3);
  EXPECT_TRUE(comes_to([&] { return exporter.counts().exported == 3; }));
  EXPECT_EQ(collector.path(), "/v1/traces");
  EXPECT_EQ(collector.header("Content-Type"), "application/json");
  EXPECT_EQ(exporter.state().condition, Condition::ok);
}

TEST(SpanExporterTest, TakesAWholePathAsItIs) {
  Receiver collector;
  SpanExporter exporter(to(collector.url() + "/v1/traces"));
  make_spans(exporter, 1);
  EXPECT_TRUE(comes_to([&] { return exporter.counts().exported == 1; }));
  EXPECT_EQ(collector.path(), "/v1/traces");
}

TEST(SpanExporterTest, SamplesAPart) {
  auto options = to("http://127.0.0.1:1");
  options.sample = 0.25;
  const SpanExporter some(options);
  int kept = 0;
  for (int i = 0; i < 256; ++i) kept += some.samples({static_cast<std::uint8_t>(i)}) ? 1 : 0;
  EXPECT_EQ(kept, 64);
}

TEST(SpanExporterTest, NothingIsKeptAtZero) {
  auto options = to("http://127.0.0.1:1");
  options.sample = 0;
  const SpanExporter none(options);
  EXPECT_FALSE(none.samples({}));
}

TEST(SpanExporterTest, WaitsForACollectorThatIsAway) {
  Receiver collector;
  collector.status = 503;
  SpanExporter exporter(to(collector.url()));
  make_spans(exporter, 5);
  EXPECT_TRUE(comes_to([&] { return exporter.state().condition == Condition::degraded; }));
  EXPECT_THAT(exporter.state().reason, HasSubstr("503"));
  collector.status = 200;
  EXPECT_TRUE(comes_to([&] { return exporter.counts().exported == 5; }));
  EXPECT_EQ(exporter.counts().dropped, 0U);
  EXPECT_TRUE(comes_to([&] { return exporter.state().condition == Condition::ok; }));
}

TEST(SpanExporterTest, DropsBeyondItsBound) {
  Receiver collector;
  collector.status = 503;
  auto options = to(collector.url());
  options.queue_max = 10;
  options.batch = 4;
  SpanExporter exporter(options);
  make_spans(exporter, 100);
  const auto counts = exporter.counts();
  EXPECT_LE(counts.waiting, 10U);
  EXPECT_TRUE(comes_to([&] { return exporter.counts().failed_posts > 2; }));
  EXPECT_LE(exporter.counts().waiting, 10U);
  EXPECT_GE(exporter.counts().dropped, 86U);
}

TEST(SpanExporterTest, LetsGoWhatIsRefusedForGood) {
  Receiver collector;
  collector.status = 400;
  SpanExporter exporter(to(collector.url()));
  make_spans(exporter, 2);
  EXPECT_TRUE(comes_to([&] { return exporter.counts().dropped == 2; }));
  EXPECT_EQ(exporter.counts().exported, 0U);
  EXPECT_EQ(exporter.counts().waiting, 0U);
}

TEST(SpanExporterTest, TheLastSpansAreSentAtTheEnd) {
  Receiver collector;
  auto options = to(collector.url());
  options.every = 1h;
  {
    SpanExporter exporter(options);
    make_spans(exporter, 2);
  }
  EXPECT_EQ(collector.bodies().size(), 1U);
  EXPECT_FALSE(trace::is_on());
}

class DeliveryTest : public testing::Test {
 protected:
  DeliveryTest() {
    EventLogOptions options;
    options.directory = directory_.path() + "/events";
    log_ = std::move(*EventLog::open(options));
    options_.directory = options.directory;
    options_.first_pause = 5ms;
    options_.longest_pause = 20ms;
  }
  std::unique_ptr<Deliveries> start(Result<std::unique_ptr<EventTarget>> target) {
    EXPECT_TRUE(target) << target.error().message();
    std::vector<std::unique_ptr<EventTarget>> targets;
    targets.push_back(std::move(*target));
    return std::make_unique<Deliveries>(*log_, options_, std::move(targets));
  }
  void add(int count) {
    for (int i = 0; i < count; ++i)
      log_->append(
          {.type = "session.created", .tenant = "acme", .session_id = "ses_1", .environment = "host"});
  }
  static std::vector<std::uint64_t> ids(const std::vector<std::string>& bodies) {
    std::vector<std::uint64_t> found;
    for (const std::string& body : bodies) found.push_back(parse_event(body)->id);
    return found;
  }

  os::TestDirectory directory_;
  std::unique_ptr<EventLog> log_;
  DeliveryOptions options_;
};

TEST(EventTargets, RefuseAddressesThatAreNone) {
  EXPECT_FALSE(event_webhook("unix:/tmp/x", ""));
  EXPECT_FALSE(event_webhook("nonsense", ""));
  EXPECT_FALSE(event_nats("http://127.0.0.1:4222"));
}

TEST_F(DeliveryTest, PostsEachEventWithItsSignature) {
  Receiver hook;
  add(1);  // before the target was known
  const auto deliveries = start(event_webhook(hook.url() + "/hook", "s3cret"));
  add(2);
  ASSERT_TRUE(comes_to([&] { return hook.bodies().size() == 2; }));
  EXPECT_EQ(ids(hook.bodies()), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(hook.path(), "/hook");
  EXPECT_EQ(hook.header("X-Atoll-Event"), "session.created");
  EXPECT_EQ(hook.header("X-Atoll-Delivery"), "3");
  const std::string signature = hook.header("X-Atoll-Signature");
  const std::string seconds = signature.substr(2, signature.find(',') - 2);
  EXPECT_EQ(signature,
            "t=" + seconds + ",v1=" + to_hex(hmac_sha256("s3cret", seconds + "." + hook.bodies().back())));
}

TEST_F(DeliveryTest, LosesNothingWhileTheTargetIsAway) {
  Receiver hook;
  hook.status = 500;
  const auto deliveries = start(event_webhook(hook.url(), ""));
  add(30);
  ASSERT_TRUE(comes_to([&] { return hook.tries > 2; }));
  auto standing = deliveries->standings().at(0);
  EXPECT_EQ(standing.state.condition, Condition::degraded);
  EXPECT_EQ(standing.waiting, 30U);
  hook.status = 200;
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  std::vector<std::uint64_t> all(30);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i + 1;
  EXPECT_EQ(ids(hook.bodies()), all);
}

TEST_F(DeliveryTest, GoesOnAfterARestart) {
  Receiver hook;
  {
    const auto deliveries = start(event_webhook(hook.url(), ""));
    add(2);
    ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  }
  add(3);
  const auto deliveries = start(event_webhook(hook.url(), ""));
  ASSERT_TRUE(comes_to([&] { return hook.bodies().size() == 5; }));
  EXPECT_EQ(ids(hook.bodies()), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST_F(DeliveryTest, CountsWhatWasGoneBeforeItWasTaken) {
  EventLogOptions small;
  small.directory = directory_.path() + "/small";
  small.recent_max = 2;
  small.segment_bytes = 300;
  small.keep_bytes = 900;
  log_ = std::move(*EventLog::open(small));
  options_.directory = small.directory;
  Receiver hook;
  hook.status = 500;
  const auto deliveries = start(event_webhook(hook.url(), ""));
  add(50);
  hook.status = 200;
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  EXPECT_GT(deliveries->standings().at(0).missed, 0U);
  EXPECT_EQ(ids(hook.bodies()).back(), 50U);
}

TEST_F(DeliveryTest, EndsAlthoughTheTargetHangs) {
  // A socket that takes connections and says nothing.
  const os::Fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(silent.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(silent.get(), 8), 0);
  socklen_t size = sizeof address;
  ::getsockname(silent.get(), reinterpret_cast<sockaddr*>(&address), &size);
  auto deliveries = start(event_webhook("http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)), ""));
  add(1);
  const auto began = std::chrono::steady_clock::now();
  deliveries.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST_F(DeliveryTest, AnAbsentNatsServerIsToldOf) {
  const auto deliveries = start(event_nats("nats://127.0.0.1:1"));
  add(1);
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).state.condition == Condition::degraded; }));
  EXPECT_THAT(deliveries->standings().at(0).state.reason, HasSubstr("NATS"));
}

}  // namespace
}  // namespace atl::telemetry
