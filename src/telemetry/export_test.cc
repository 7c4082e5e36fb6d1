// What leaves the service by itself: spans to a collector, events to webhooks and NATS. With receivers that
// refuse, hang and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "base/bytes.h"
#include "net/test_server.h"
#include "os/directory_test.h"
#include "os/file.h"
#include "telemetry/delivery.h"
#include "telemetry/otlp.h"
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

// Takes connections and says nothing.
class Silent {
 public:
  Silent() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  }
  const std::string& url() const { return url_; }
  // Closed if nobody came.
  os::Fd accept_within(int milliseconds) const {
    pollfd ready{socket_.get(), POLLIN, 0};
    if (::poll(&ready, 1, milliseconds) <= 0) return {};
    return os::Fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  os::Fd socket_;
  std::string url_;
};

// As much of a NATS server as one publisher needs; tests/telemetry has the real one.
class NatsDouble {
 public:
  NatsDouble() : thread_([this] { serve(); }) {}
  ~NatsDouble() {
    stopping_ = true;
    thread_.join();
  }
  std::string url() const { return "nats" + place_.url().substr(4); }
  std::string heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  std::atomic<bool> answers = true;  // to pings; false: it hangs up at the next one

 private:
  void serve() {
    while (!stopping_) {
      const os::Fd client = place_.accept_within(20);
      if (!client.is_open()) continue;
      say(client, "INFO {\"server_id\":\"x\",\"version\":\"2.9.10\",\"max_payload\":1048576}\r\n");
      for (std::string bytes; !stopping_;) {
        pollfd ready{client.get(), POLLIN, 0};
        if (::poll(&ready, 1, 20) == 0) continue;
        std::array<char, 4096> piece{};
        const ssize_t size = ::read(client.get(), piece.data(), piece.size());
        if (size <= 0) break;
        bytes.assign(piece.data(), static_cast<std::size_t>(size));
        const bool is_asked = bytes.find("PING\r\n") != std::string::npos;
        {
          const std::lock_guard lock(mutex_);
          heard_ += bytes;
        }
        if (is_asked && !answers) break;
        if (is_asked) say(client, "PONG\r\n");
      }
    }
  }
  static void say(const os::Fd& client, std::string_view text) {
    EXPECT_EQ(::write(client.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  Silent place_;
  std::mutex mutex_;
  std::string heard_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
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
    exporter.take(span);
  }
}

// A message of protocol buffers, read back: what stands in each field, by its number. A number is eight
// bytes, the lowest first.
using Fields = std::map<int, std::vector<std::string>>;

std::uint64_t number_at(std::string_view bytes, std::size_t& at) {
  std::uint64_t number = 0;
  for (int shift = 0; at < bytes.size(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(bytes[at++]);
    number |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  return number;
}

std::string eight_bytes(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i, number >>= 8) bytes += static_cast<char>(number);
  return bytes;
}

Fields fields(std::string_view bytes) {
  Fields found;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto tag = static_cast<int>(number_at(bytes, at));
    std::string value;
    if ((tag & 7) == 0) {
      value = eight_bytes(number_at(bytes, at));
    } else {
      const std::size_t size = (tag & 7) == 1 ? 8 : number_at(bytes, at);
      EXPECT_LE(at + size, bytes.size());
      value = bytes.substr(at, size);
      at += size;
    }
    found[tag >> 3].push_back(value);
  }
  return found;
}

TEST(Otlp, IsWhatCollectorsRead) {
  trace::EndedSpan span;
  span.context = *trace::parse_traceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  span.parent = {1, 2, 3, 4, 5, 6, 7, 8};
  span.name = "policy \"x\"";
  span.kind = trace::Kind::server;
  span.begin = WallTime(1s);
  span.took = 5us;
  span.attributes = {{"number", std::int64_t(-7)},
                     {"text", std::string("a\"b\xff")},
                     {"long", std::string(255, 'x') + "\xc3\xa9" + std::string(100'000, 'x')}};
  span.failure = "denied";
  std::string encoded;
  append_span(encoded, span);
  append_span(encoded, {});
  const Fields resource = fields(fields(export_request(encoded, "one")).at(1).at(0));
  const auto about = fields(resource.at(1).at(0)).at(1);
  ASSERT_EQ(about.size(), 3U);
  EXPECT_EQ(fields(about[0]).at(1).at(0), "service.name");
  EXPECT_EQ(fields(fields(about[0]).at(2).at(0)).at(1).at(0), "atoll");
  EXPECT_EQ(fields(fields(about[2]).at(2).at(0)).at(1).at(0), "one");
  const Fields scope = fields(resource.at(2).at(0));
  EXPECT_EQ(fields(scope.at(1).at(0)).at(1).at(0), "atoll");
  ASSERT_EQ(scope.at(2).size(), 2U);
  Fields first = fields(scope.at(2).at(0));
  EXPECT_EQ(first[1].at(0), *from_hex("4bf92f3577b34da6a3ce929d0e0e4736"));
  EXPECT_EQ(first[2].at(0), *from_hex("00f067aa0ba902b7"));
  EXPECT_EQ(first[4].at(0), *from_hex("0102030405060708"));
  EXPECT_EQ(first[5].at(0), "policy \"x\"");
  EXPECT_EQ(first[6].at(0), eight_bytes(2));
  EXPECT_EQ(first[7].at(0), eight_bytes(1'000'000'000));
  EXPECT_EQ(first[8].at(0), eight_bytes(1'000'005'000));
  const auto value = [&](std::size_t at) { return fields(fields(first[9].at(at)).at(2).at(0)); };
  EXPECT_EQ(fields(first[9].at(0)).at(1).at(0), "number");
  EXPECT_EQ(value(0).at(3).at(0), eight_bytes(static_cast<std::uint64_t>(-7)));
  EXPECT_EQ(value(1).at(1).at(0), "a\"b\xef\xbf\xbd");
  // Cut in the middle of a character.
  EXPECT_EQ(value(2).at(1).at(0), std::string(255, 'x') + "\xef\xbf\xbd");
  EXPECT_EQ(fields(first[15].at(0)).at(2).at(0), "denied");
  EXPECT_EQ(fields(first[15].at(0)).at(3).at(0), eight_bytes(2));
  const Fields second = fields(scope.at(2).at(1));
  EXPECT_FALSE(second.contains(4) || second.contains(9) || second.contains(15));
  EXPECT_EQ(second.at(5).at(0), "unnamed");
}

TEST(SpanExporterTest, SendsWhatEnded) {
  Receiver collector;
  SpanExporter exporter(to(collector.url()));
  make_spans(exporter, 3);
  EXPECT_TRUE(comes_to([&] { return exporter.counts().exported == 3; }));
  EXPECT_EQ(collector.path(), "/v1/traces");
  EXPECT_EQ(collector.header("Content-Type"), "application/x-protobuf");
  const auto bodies = collector.bodies();
  ASSERT_EQ(bodies.size(), 1U);
  const Fields scope = fields(fields(fields(bodies[0]).at(1).at(0)).at(2).at(0));
  EXPECT_EQ(scope.at(2).size(), 3U);
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

TEST(SpanExporterTest, FullBatchesGoAtOnceAndInOrder) {
  Receiver collector;
  auto options = to(collector.url());
  options.every = 1h;
  options.batch = 4;
  SpanExporter exporter(options);
  make_spans(exporter, 9);
  EXPECT_TRUE(comes_to([&] { return exporter.counts().exported >= 8; }));
  EXPECT_LE(collector.bodies().size(), 3U);
}

TEST(SpanExporterTest, ACollectorThatHangsDoesNotHoldUpTheEnd) {
  const Silent silent;
  const auto began = Clock::machine().steady();
  {
    SpanExporter exporter(to(silent.url()));
    make_spans(exporter, 3);
    EXPECT_TRUE(comes_to([&] { return exporter.counts().waiting == 3; }));
  }
  EXPECT_LT(Clock::machine().steady() - began, 9s);
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

TEST_F(DeliveryTest, WhatATargetWillNeverTakeDoesNotHoldUpTheRest) {
  for (const int status : {400, 410, 413, 422}) {
    Receiver hook;
    hook.status = status;
    const auto deliveries = start(event_webhook(hook.url(), ""));
    add(2);
    ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; })) << status;
    EXPECT_EQ(hook.tries, 2) << status;
    EXPECT_EQ(deliveries->standings().at(0).missed, 2U) << status;
    EXPECT_EQ(deliveries->standings().at(0).state.condition, Condition::ok) << status;
    hook.status = 200;
    add(1);
    ASSERT_TRUE(comes_to([&] { return hook.bodies().size() == 1; })) << status;
  }
}

// Refusals that a change of the target's settings ends are tried again.
TEST_F(DeliveryTest, AWrongKeyIsWaitedFor) {
  Receiver hook;
  hook.status = 401;
  const auto deliveries = start(event_webhook(hook.url(), ""));
  add(1);
  ASSERT_TRUE(comes_to([&] { return hook.tries > 2; }));
  hook.status = 204;
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  EXPECT_EQ(deliveries->standings().at(0).missed, 0U);
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
  const Silent silent;
  auto deliveries = start(event_webhook(silent.url(), ""));
  add(1);
  const auto began = std::chrono::steady_clock::now();
  deliveries.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST_F(DeliveryTest, PublishesUnderTenantAndType) {
  NatsDouble server;
  const auto deliveries = start(event_nats(server.url()));
  add(2);
  log_->append({.type = "session.ended", .tenant = "a.b*>", .session_id = "ses_1", .environment = "host"});
  log_->append({.type = "session.ended", .tenant = "", .session_id = "ses_1", .environment = "host"});
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  EXPECT_EQ(deliveries->standings().at(0).sent, 4U);
  EXPECT_THAT(server.heard(), HasSubstr("PUB atoll.events.acme.session.created "));
  // Whoever names a tenant cannot name another subject with it.
  EXPECT_THAT(server.heard(), HasSubstr("PUB atoll.events.a_b__.session.ended "));
  EXPECT_THAT(server.heard(), HasSubstr("PUB atoll.events.none.session.ended "));
}

TEST_F(DeliveryTest, ANatsServerThatHangsUpGetsThemAgain) {
  NatsDouble server;
  const auto deliveries = start(event_nats(server.url()));
  add(1);
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  server.answers = false;
  add(2);
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).state.condition == Condition::degraded; }));
  EXPECT_EQ(deliveries->standings().at(0).waiting, 2U);
  server.answers = true;
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  EXPECT_EQ(deliveries->standings().at(0).missed, 0U);
}

TEST_F(DeliveryTest, APositionThatCannotBeKeptHoldsUpNothing) {
  Receiver hook;
  options_.directory = directory_.path() + "/nowhere";
  const auto deliveries = start(event_webhook(hook.url(), ""));
  add(2);
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  // They are not sent again and again for that.
  add(1);
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).waiting == 0; }));
  EXPECT_EQ(ids(hook.bodies()), (std::vector<std::uint64_t>{1, 2, 3}));
}

// Of a log that was removed since: what is new is not waited for until the numbers are as high as they were.
TEST_F(DeliveryTest, APositionAheadOfTheLogIsItsEnd) {
  ASSERT_TRUE(os::write_file(options_.directory + "/webhook.position", "1000", 0600));
  Receiver hook;
  const auto deliveries = start(event_webhook(hook.url(), ""));
  add(1);
  ASSERT_TRUE(comes_to([&] { return hook.bodies().size() == 1; }));
}

TEST_F(DeliveryTest, AnAbsentNatsServerIsToldOf) {
  const auto deliveries = start(event_nats("nats://127.0.0.1:1"));
  add(1);
  ASSERT_TRUE(comes_to([&] { return deliveries->standings().at(0).state.condition == Condition::degraded; }));
  EXPECT_THAT(deliveries->standings().at(0).state.reason, HasSubstr("NATS"));
}

}  // namespace
}  // namespace atl::telemetry
