#include "net/blocking_client.h"

#include <gtest/gtest.h>

#include <thread>

#include "net/lying_server_test.h"
#include "net/test_server.h"

namespace atl::net {
namespace {

using namespace std::chrono_literals;
using Lie = LyingServer::Lie;

constexpr const char* kTaken = "HTTP/1.1 200 OK\r\n";

ClientRequest post() {
  return {.method = "POST", .target = "", .headers = {}, .body = "{}"};
}

TEST(BlockingClientTest, AHeadThatTricklesEnds) {
  const LyingServer server(Lie{.first = kTaken, .again = "X: y\r\n", .pause = 20ms});
  BlockingClient client(*Url::parse(server.url()), 100ms);
  for (const bool whole : {true, false}) {
    const auto began = std::chrono::steady_clock::now();
    const auto answer = whole ? client.send(post()) : client.send_for_head(post());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), Code::deadline_exceeded) << answer.error().message();
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  }
  // The call after it is one of its own.
  const LyingServer fine(Lie{.first = "HTTP/1.1 204 No Content\r\n\r\n"});
  BlockingClient other(*Url::parse(fine.url()), 5s);
  EXPECT_EQ(other.send(post())->status, 204);
  EXPECT_EQ(other.send_for_head(post())->status, 204);
}

TEST(BlockingClientTest, ABodyThatTricklesEndsAndIsNotWaitedForByThoseWhoNeedNone) {
  const LyingServer server(
      Lie{.first = std::string(kTaken) + "Content-Length: 1000000\r\n\r\n", .again = "x", .pause = 20ms});
  BlockingClient client(*Url::parse(server.url()), 100ms);
  const auto whole = client.send(post());
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code(), Code::deadline_exceeded);
  const auto head = client.send_for_head(post());
  ASSERT_TRUE(head) << head.error().message();
  EXPECT_EQ(head->status, 200);
}

TEST(BlockingClientTest, AnEndlessAnswerIsGivenUp) {
  const LyingServer server(Lie{.first = std::string(kTaken) + "Transfer-Encoding: chunked\r\n\r\n",
                               .again = "10000\r\n" + std::string(0x10000, 'x') + "\r\n"});
  BlockingClient client(*Url::parse(server.url()), 10s);
  EXPECT_FALSE(client.send(post()));
  const std::uint64_t before = server.sent();
  const auto head = client.send_for_head(post());
  ASSERT_TRUE(head) << head.error().message();
  EXPECT_EQ(head->status, 200);
  // What was under way when the connection was closed.
  EXPECT_LT(before, 64U << 20);
}

TEST(BlockingClientTest, ARedirectionIsTheAnswer) {
  const LyingServer inside(Lie{.first = "HTTP/1.1 204 No Content\r\n\r\n"});
  for (const int status : {301, 302, 307, 308}) {
    const LyingServer server(Lie{.first = "HTTP/1.1 " + std::to_string(status) + " Moved\r\nLocation: " +
                                          inside.url() + "/\r\nContent-Length: 0\r\n\r\n"});
    BlockingClient client(*Url::parse(server.url()), 5s);
    EXPECT_EQ(client.send(post())->status, status);
    EXPECT_EQ(client.send_for_head(post())->status, status);
  }
  EXPECT_EQ(inside.taken(), 0);
}

// Gives so many requests, and remembers what came of them.
struct Row {
  explicit Row(int count) : left(count) {}
  Result<void> send_with(BlockingClient& client) {
    return client.send_for_heads(
        [this]() -> std::optional<ClientRequest> {
          if (left == 0) return std::nullopt;
          return post();
        },
        [this](const ClientResponse& answer) -> Result<void> {
          if (answer.status / 100 != 2) return fail(Code::unavailable, "refused");
          --left;
          return {};
        });
  }
  int left;
};

TEST(BlockingClientTest, ManyGoOverOneConnection) {
  TestServer server;
  int got = 0;
  server.server.router().add(Method::post, "/{rest...}", anyone(), [&](Request&) -> Task<Response> {
    ++got;
    co_return Response::json(got == 40 ? 503 : 200, std::string(1000, ' '));
  });
  BlockingClient client(*Url::parse("http://" + server.start("127.0.0.1:0")), 5s);
  Row row(30);
  ASSERT_TRUE(row.send_with(client));
  EXPECT_EQ(got, 30);
  EXPECT_LE(server.connections(), 1U);
  // The first that is refused ends it.
  Row more(30);
  EXPECT_FALSE(more.send_with(client));
  EXPECT_EQ(more.left, 21);
  EXPECT_EQ(got, 40);
}

// One that says it keeps connections and does not, and those whose answers are no use for the next.
TEST(BlockingClientTest, EachOfManyComesWhateverBecomesOfTheConnection) {
  const std::string much = std::string(kTaken) + "Content-Length: 99999999999\r\n\r\n";
  for (const Lie& lie : {Lie{.first = "HTTP/1.1 204 No Content\r\n\r\n"},
                         Lie{.first = std::string(kTaken) + "Content-Length: 2\r\n\r\n{}"},
                         Lie{.first = std::string(kTaken) + "Connection: close\r\n\r\nsome"},
                         Lie{.first = much, .again = std::string(1U << 20, 'x')}, Lie{.first = much}}) {
    const LyingServer server(lie);
    BlockingClient client(*Url::parse(server.url()), 5s);
    Row row(6);
    const auto sent = row.send_with(client);
    ASSERT_TRUE(sent) << lie.first << sent.error().message();
    EXPECT_EQ(server.taken(), 6) << lie.first;
  }
}

// A little that is promised and does not come is waited for a moment, once, and not for every one of them.
TEST(BlockingClientTest, ARestThatTricklesIsNotWaitedForLong) {
  const LyingServer server(
      Lie{.first = std::string(kTaken) + "Content-Length: 1000\r\n\r\n", .again = "x", .pause = 20ms});
  BlockingClient client(*Url::parse(server.url()), 30s);
  Row row(3);
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(row.send_with(client));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

TEST(BlockingClientTest, StopEndsTheCallUnderWayAndAllLaterOnes) {
  const LyingServer server(Lie{.then = LyingServer::Then::stay_silent});
  BlockingClient client(*Url::parse(server.url()), 60s);
  std::thread other([&] {
    while (server.taken() == 0) std::this_thread::sleep_for(1ms);
    client.stop();
  });
  const auto answer = client.send_for_head(post());
  other.join();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::canceled);
  EXPECT_EQ(client.send(post()).error().code(), Code::canceled);
}

}  // namespace
}  // namespace atl::net
