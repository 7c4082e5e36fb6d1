// Copies elsewhere: targets that refuse, hang or come back, and what they got.
#include "audit/forward.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>

#include "audit/harness_test.h"
#include "base/bytes.h"
#include "net/test_server.h"

namespace atl::audit {
namespace {

using testing::HasSubstr;

// Keeps what it got, and refuses as long as it is told to.
struct Seen {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::atomic<bool> refuses = false;
  std::atomic<int> tries = 0;

  std::size_t entries() {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("{\"seq\""); }));
  }
  std::size_t heads() {
    const std::lock_guard lock(mutex);
    return lines.size() - static_cast<std::size_t>(std::ranges::count_if(
                              lines, [](const std::string& line) { return line.starts_with("{\"seq\""); }));
  }
};

class FakeTarget final : public Target {
 public:
  explicit FakeTarget(std::shared_ptr<Seen> seen) : seen_(std::move(seen)) {}
  const std::string& name() const override {
    static const std::string kName = "fake";
    return kName;
  }
  Result<void> send(const std::vector<std::string>& lines) override {
    ++seen_->tries;
    if (seen_->refuses) return fail(Code::unavailable, "not now");
    const std::lock_guard lock(seen_->mutex);
    seen_->lines.insert(seen_->lines.end(), lines.begin(), lines.end());
    return {};
  }

 private:
  std::shared_ptr<Seen> seen_;
};

class ForwardTest : public LogTest {
 protected:
  ForwardTest() {
    forward_.data = directory_.path();
    forward_.first_pause = std::chrono::milliseconds(5);
    forward_.longest_pause = std::chrono::milliseconds(20);
    options_.sign_every = std::chrono::milliseconds(10);
    options_.clock = &Clock::machine();
  }
  template <class Condition>
  static bool until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return condition();
  }
  std::unique_ptr<Forwarder> forwarder(std::unique_ptr<Target> target) {
    std::vector<std::unique_ptr<Target>> targets;
    targets.push_back(std::move(target));
    return std::make_unique<Forwarder>(forward_, std::move(targets));
  }

  ForwardOptions forward_;
};

TEST(TargetTest, BadSettings) {
  EXPECT_EQ(file_target("relative").error().code(), Code::invalid_argument);
  for (const char* bad :
       {"", "x", "udp://", "udp://host", "udp://:1", "tcp://host:x", "tcp://host:123456", "unix:rel"})
    EXPECT_EQ(syslog_target(bad).error().code(), Code::invalid_argument) << bad;
  for (const char* bad : {"", "ftp://x", "unix:/x"})
    EXPECT_EQ(webhook_target(bad, "").error().code(), Code::invalid_argument) << bad;
}

TEST(TargetTest, WhatCannotBeReached) {
  EXPECT_FALSE((*file_target("/nonexistent/file"))->send({"{}\n"}));
  EXPECT_FALSE((*syslog_target("unix:/nonexistent/log"))->send({"{}\n"}));
  EXPECT_FALSE((*syslog_target("unix:/" + std::string(200, 'x')))->send({"{}\n"}));
  EXPECT_FALSE((*syslog_target("tcp://127.0.0.1:1"))->send({"{}\n"}));
  EXPECT_FALSE((*webhook_target("http://127.0.0.1:1/x", ""))->send({"{}\n"}));
  const auto stopped = webhook_target("http://127.0.0.1:1/x", "");
  (*stopped)->stop();
  EXPECT_EQ((*stopped)->send({"{}\n"}).error().code(), Code::canceled);
}

TEST_F(ForwardTest, ATargetThatComesBackGetsEverythingOnceAndInOrder) {
  auto seen = std::make_shared<Seen>();
  seen->refuses = true;
  const auto log = open();
  const auto forwarder = this->forwarder(std::make_unique<FakeTarget>(seen));
  forwarder->start(log);
  for (int i = 0; i < 30; ++i)
    ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/f" + std::to_string(i))));
  ASSERT_TRUE(until([&] { return seen->tries > 3; }));
  EXPECT_EQ(forwarder->sent(), 0U);
  seen->refuses = false;
  ASSERT_TRUE(until([&] { return seen->entries() == 31 && seen->heads() > 0; }));
  EXPECT_EQ(forwarder->sent(), 31U);
  const std::lock_guard lock(seen->mutex);
  std::uint64_t expected = 1;
  for (const std::string& line : seen->lines) {
    if (!line.starts_with("{\"seq\"")) continue;
    EXPECT_EQ(*seq_of(line), expected++);
  }
}

TEST_F(ForwardTest, ARestartGoesOnWhereItWas) {
  auto seen = std::make_shared<Seen>();
  {
    const auto log = open();
    const auto one = forwarder(std::make_unique<FakeTarget>(seen));
    one->start(log);
    ASSERT_TRUE(until([&] { return one->sent() >= 1; }));
  }
  fill(5);  // nobody forwards meanwhile
  const auto log = open();
  const auto two = forwarder(std::make_unique<FakeTarget>(seen));
  two->start(log);
  const auto last = log->facts().seq;
  ASSERT_TRUE(until([&] { return two->sent() >= last; }));
  EXPECT_EQ(seen->entries(), last) << "none twice, none missing";
}

TEST_F(ForwardTest, ATargetThatStaysAwayMissesTheOldest) {
  forward_.spool_bytes = 6000;
  auto seen = std::make_shared<Seen>();
  seen->refuses = true;
  const auto log = open();
  const auto one = forwarder(std::make_unique<FakeTarget>(seen));
  one->start(log);
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/f" + std::to_string(i))));
  ASSERT_TRUE(until([&] { return one->sent() > 60; }));
  seen->refuses = false;
  ASSERT_TRUE(until([&] { return seen->entries() > 0 && one->sent() >= log->facts().seq; }));
  const auto entries = all_entries();
  EXPECT_TRUE(std::ranges::any_of(
      entries, [](const StoredEntry& entry) { return entry.entry.action == "audit.skip"; }));
  EXPECT_TRUE(check().good);
}

TEST_F(ForwardTest, WithoutTargetsEverythingCountsAsSent) {
  const auto log = open();
  Forwarder none(forward_, {});
  none.start(log);
  EXPECT_EQ(none.sent(), UINT64_MAX);
}

TEST_F(ForwardTest, AFileGetsTheLines) {
  const auto log = open();
  const auto one = forwarder(*file_target(directory_.at("copy.jsonl")));
  one->start(log);
  ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/f")));
  ASSERT_TRUE(until([&] { return one->sent() == 2; }));
  const auto lines = lines_of(directory_.at("copy.jsonl"));
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[0], all_lines()[0]);
  struct stat info {};
  ASSERT_EQ(::stat(directory_.at("copy.jsonl").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(ForwardTest, SyslogOverEachWay) {
  // Datagrams of a local socket.
  const os::Fd local(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un path{};
  path.sun_family = AF_UNIX;
  directory_.at("log").copy(path.sun_path, sizeof path.sun_path - 1);
  ASSERT_EQ(::bind(local.get(), reinterpret_cast<sockaddr*>(&path), sizeof path), 0);
  ASSERT_TRUE((*syslog_target("unix:" + directory_.at("log")))->send({"{\"seq\":1}\n"}));
  char buffer[4096] = {};
  ASSERT_GT(::recv(local.get(), buffer, sizeof buffer - 1, 0), 0);
  EXPECT_THAT(std::string(buffer), testing::MatchesRegex(R"(<110>1 .* atoll .* audit - \{"seq":1\})"));

  for (const int type : {SOCK_DGRAM, SOCK_STREAM}) {
    const os::Fd server(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    const bool listens = type != SOCK_STREAM || ::listen(server.get(), 1) == 0;
    ASSERT_TRUE(listens);
    const std::string where =
        fmt::format("{}://127.0.0.1:{}", type == SOCK_STREAM ? "tcp" : "udp", ntohs(address.sin_port));
    const auto target = *syslog_target(where);
    ASSERT_TRUE(target->send({"{\"seq\":2}\n"}));
    os::Fd peer;
    if (type == SOCK_STREAM) peer.reset(::accept(server.get(), nullptr, nullptr));
    std::memset(buffer, 0, sizeof buffer);
    ASSERT_GT(::recv(peer.is_open() ? peer.get() : server.get(), buffer, sizeof buffer - 1, 0), 0);
    const std::string text(buffer);
    EXPECT_THAT(text, HasSubstr("{\"seq\":2}"));
    if (type == SOCK_DGRAM) continue;
    EXPECT_EQ(std::stoul(text), text.size() - text.find(' ') - 1) << "octet counting";
  }
}

TEST_F(ForwardTest, AWebhookIsSignedAndTriedAgain) {
  net::TestServer server;
  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> got;  // signature, body
  std::atomic<int> calls = 0;
  server.server.router().add(net::Method::post, "/hook", net::anyone(),
                             [&](net::Request& request) -> Task<net::Response> {
                               if (++calls == 1) co_return net::Response::empty(503);
                               const std::lock_guard lock(mutex);
                               got.emplace_back(request.headers.get("X-Atoll-Signature"), request.body);
                               co_return net::Response::empty(204);
                             });
  const std::string where = server.start();
  const auto log = open();
  const auto one = forwarder(*webhook_target("http://" + where + "/hook", "s3cret"));
  one->start(log);
  ASSERT_TRUE(log->append(entry_of("file.write", "ses_1:/f")));
  ASSERT_TRUE(until([&] { return one->sent() == 2; }));
  EXPECT_GE(calls, 2);
  const std::lock_guard lock(mutex);
  const auto& [signature, body] = got.front();
  const auto comma = signature.find(",v1=");
  ASSERT_NE(comma, std::string::npos) << signature;
  const std::string seconds = signature.substr(2, comma - 2);
  EXPECT_EQ(signature.substr(comma + 4), to_hex(hmac_sha256("s3cret", seconds + "." + body)));
  EXPECT_THAT(body, HasSubstr("audit.start"));
}

}  // namespace
}  // namespace atl::audit
