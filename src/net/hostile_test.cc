// Clients that do not mean well, and ones that end their half early.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/body_budget.h"
#include "net/test_server.h"
#include "os/event.h"

namespace atl::net {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

boost::asio::awaitable<void> sleep_for(std::chrono::milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

Task<Response> echo(Request& request) {
  co_return Response::text(200, fmt::format("{} {} [{}]", request.host(), request.path, request.body));
}

std::string answer_to(int port, const std::string& request) {
  RawClient client(port);
  client.send(request);
  ::shutdown(client.fd(), SHUT_WR);
  return client.receive_all();
}

TEST(Heads, ThatTwoProgramsCouldReadDifferentlyAreRefused) {
  TestServer test;
  test.server.router().add(Method::get, "/", anyone(), echo);
  test.server.router().add(Method::post, "/", anyone(), echo);
  test.start();
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\n";
  const std::string chunks = "1\r\na\r\n0\r\n\r\n";
  for (const std::string& head : {
           "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"s,
           "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"s,
           post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
           post + "Content-Length: 1, 1\r\n\r\na",
           post + "Content-Length: +1\r\n\r\na",
           post + "Content-Length: -1\r\n\r\na",
           post + "Content-Length: 0x1\r\n\r\na",
           post + "Content-Length: 1 1\r\n\r\na",
           post + "Content-Length:\r\n\r\na",
           post + "Content-Length: 99999999999999999999\r\n\r\na",
           post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
           post + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n" + chunks,
           post + "Transfer-Encoding: xchunked\r\n\r\n" + chunks,
           post + "Transfer-Encoding: chunked, chunked\r\n\r\n" + chunks,
           post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
           post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n" + chunks,
           post + "Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na",
           post + "Transfer-Encoding: gzip, chunked\r\n\r\n" + chunks,
           post + "Transfer-Encoding: chunked;a=b\r\n\r\n" + chunks,
           post + "Transfer-Encoding: \"chunked\"\r\n\r\n" + chunks,
           post + "Transfer-Encoding:\r\n\r\n" + chunks,
           post + "Transfer-Encoding: \x0b" + "chunked\r\n\r\n" + chunks,
           post + "Transfer-Encoding : chunked\r\n\r\n" + chunks,
           post + "Transfer-Encoding\r\n: chunked\r\n\r\n" + chunks,
           post + " Transfer-Encoding: chunked\r\n\r\n" + chunks,
           post + "X: y\r\n Transfer-Encoding: chunked\r\n\r\n" + chunks,
           post + "X: y\r\n\tz\r\n\r\n",
           post + "X:\r\n y\r\n\r\n",
           post + "Transfer-Encoding:\r\n chunked\r\n\r\n" + chunks,
           post + "Content-Length :1\r\n\r\na",
           post + "Content Length: 1\r\n\r\na",
           post + "Content-Length: 1\nX: y\r\n\r\na",
           post + "X: a\rContent-Length: 1\r\n\r\na",
           post + "X: a\0b\r\n\r\n"s,
           post + "X\0: a\r\n\r\n"s,
           post + ": a\r\n\r\n",
           post + "no colon\r\n\r\n",
           "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
           "GET / HTTP/1.1\nHost: x\n\n"s,
           "GET /\tHTTP/1.1\r\nHost: x\r\n\r\n"s,
           "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"s,
           "GET / HTTP/1.1 x\r\nHost: x\r\n\r\n"s,
           "GET / HTTP/2.0\r\nHost: x\r\n\r\n"s,
           "GET / HTTX/1.1\r\nHost: x\r\n\r\n"s,
           "GET  / HTTP/1.1\r\nHost: x\r\n\r\n"s,
           "G@T / HTTP/1.1\r\nHost: x\r\n\r\n"s,
       }) {
    const std::string answer = answer_to(test.port(), head + get("/"));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << testing::PrintToString(head);
    EXPECT_THAT(answer, Not(HasSubstr("200 OK"))) << testing::PrintToString(head);
  }
}

TEST(Heads, ChunksThatTwoProgramsCouldReadDifferentlyAreRefused) {
  TestServer test;
  test.server.router().add(Method::get, "/", anyone(), echo);
  test.server.router().add(Method::post, "/", anyone(), echo);
  test.start();
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& body :
       {"0x1\r\na\r\n0\r\n\r\n"s, "+1\r\na\r\n0\r\n\r\n"s, " 1\r\na\r\n0\r\n\r\n"s, "-1\r\na\r\n0\r\n\r\n"s,
        "1\na\r\n0\r\n\r\n"s, "1\r\nab\r\n0\r\n\r\n"s, "1\r\na\n0\r\n\r\n"s, "1;a\nb\r\na\r\n0\r\n\r\n"s,
        "10000000000000001\r\na\r\n0\r\n\r\n"s, "ffffffffffffffff\r\na\r\n0\r\n\r\n"s, "\r\na\r\n0\r\n\r\n"s,
        "g\r\na\r\n0\r\n\r\n"s, "1\r\na\r\n0\r\nX y\r\n\r\n"s}) {
    const std::string answer = answer_to(test.port(), post + body + get("/"));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.1 413"))
        << testing::PrintToString(body) << answer;
    EXPECT_THAT(answer, Not(HasSubstr("200 OK"))) << testing::PrintToString(body);
  }
}

// The budget of bodies counts bodies: what stands between the chunks must not be where others hide theirs.
TEST(BodyBudget, LinesBetweenChunksAreBounded) {
  TestServer test;
  test.server.router().add(Method::post, "/", anyone(), echo);
  test.start();
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const auto& [first, again] :
       {std::pair("1;a="s, std::string(1 << 16, 'a')), std::pair(""s, std::string(1 << 16, '0')),
        std::pair("0\r\n"s, "X: y\r\n"s + std::string(1 << 10, ' ')),
        std::pair("0\r\nX: "s, std::string(1 << 16, 'a'))}) {
    RawClient client(test.port());
    client.send(post + first);
    std::string answer;
    std::size_t sent = 0;
    for (constexpr std::size_t kMuch = 64U << 20; answer.empty() && sent < kMuch; sent += again.size()) {
      client.send(again);
      char bytes[4096];
      const ssize_t got = ::recv(client.fd(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN)) break;
      if (got > 0) answer.assign(bytes, static_cast<std::size_t>(got));
    }
    EXPECT_LT(sent, 16U << 20) << first;
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400")) << first;
  }
}

TEST(Heads, OrdinaryOnesPass) {
  TestServer test;
  test.server.router().add(Method::get, "/a", anyone(), echo);
  test.server.router().add(Method::post, "/a", anyone(), echo);
  test.start();
  EXPECT_THAT(answer_to(test.port(), "GET /a HTTP/1.1\r\nHost: [::1]:8000\r\n\r\n"),
              EndsWith("[::1]:8000 /a []"));
  EXPECT_THAT(answer_to(test.port(), "GET /a HTTP/1.1\r\nhost:\texample.com\t\r\n\r\n"),
              EndsWith("example.com /a []"));
  EXPECT_THAT(answer_to(test.port(), "GET /a HTTP/1.0\r\n\r\n"), EndsWith(" /a []"));
  EXPECT_THAT(answer_to(test.port(),
                        "POST /a HTTP/1.1\r\nHost: x\r\ntransfer-encoding: Chunked\r\n\r\n"
                        "01;x=\"y\"\r\na\r\n00\r\nT: 1\r\n\r\n"),
              EndsWith("x /a [a]"));
  EXPECT_THAT(answer_to(test.port(), "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 001\r\n\r\na"),
              EndsWith("x /a [a]"));
  // Whom a request is for stands in one place only.
  EXPECT_THAT(answer_to(test.port(), "GET http://real.example/a HTTP/1.1\r\nHost: other\r\n\r\n"),
              EndsWith("real.example /a []"));
  EXPECT_THAT(answer_to(test.port(), "GET http://u@real.example/a HTTP/1.1\r\nHost: other\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
}

// What a route that can be canceled does: works while it watches for the client's departure.
struct Working {
  std::atomic<int> canceled = 0, finished = 0;

  StreamHandler handler(std::chrono::milliseconds time, bool chunked = false) {
    return [this, time, chunked](Exchange& exchange) -> Task<void> {
      bool left = false;
      const auto body = co_await exchange.read_whole();
      if (!body) co_return fail(body.error());
      if (chunked) CO_CHECK(co_await exchange.start(200, {}));
      exchange.on_disconnect([&] { left = true; });
      for (auto waited = 0ms; waited < time && !left; waited += 10ms) co_await sleep_for(10ms);
      exchange.on_disconnect({});
      ++(left ? canceled : finished);
      if (left) co_return fail(Code::canceled, "the client went away");
      if (!chunked) co_return co_await exchange.send(Response::text(200, "worked on " + body->text));
      CO_CHECK(co_await exchange.write("worked on " + body->text));
      co_return co_await exchange.finish();
    };
  }
};

TEST(HalfClose, GetsItsAnswer) {
  TestServer test;
  Working work;
  test.server.router().add_stream(Method::post, "/whole", anyone(), work.handler(200ms));
  test.server.router().add_stream(Method::post, "/chunked", anyone(), work.handler(200ms, true));
  test.start();
  for (const std::string& path : {"/whole"s, "/chunked"s}) {
    const std::string answer =
        answer_to(test.port(), "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("worked on hi"))) << path;
  }
  EXPECT_EQ(work.finished, 2);
  EXPECT_TRUE(comes_to([&] { return test.connections() == 0; }));
}

TEST(HalfClose, AfterSeveralRequestsAllGetTheirAnswers) {
  TestServer test;
  Working work;
  test.server.router().add_stream(Method::post, "/w", anyone(), work.handler(50ms));
  test.server.router().add(Method::get, "/a", anyone(), echo);
  test.start();
  const std::string one = "POST /w HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n";
  const std::string answer = answer_to(test.port(), one + "1" + get("/a") + one + "2");
  EXPECT_THAT(answer, AllOf(HasSubstr("worked on 1"), HasSubstr("x /a []"), EndsWith("worked on 2")));
}

TEST(HalfClose, InTheMiddleOfABodyIsSaid) {
  TestServer test;
  test.server.router().add(Method::post, "/a", anyone(), echo);
  test.start();
  EXPECT_THAT(answer_to(test.port(), "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhi"),
              AllOf(StartsWith("HTTP/1.1 400"), HasSubstr("ended before it was complete")));
}

TEST(HalfClose, AClientThatLeavesAltogetherStillCancels) {
  TestServer test;
  Working work;
  test.server.router().add_stream(Method::post, "/whole", anyone(), work.handler(60s));
  test.server.router().add_stream(Method::post, "/chunked", anyone(), work.handler(60s, true));
  test.start();
  for (const std::string& path : {"/whole"s, "/chunked"s}) {
    RawClient client(test.port());
    client.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    if (path == "/chunked") client.receive_until("\r\n\r\n");
    client.close();
  }
  EXPECT_TRUE(comes_to([&] { return work.canceled == 2; })) << work.canceled;
  // And one that first ends its half, and leaves later.
  RawClient client(test.port());
  client.send("POST /whole HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.receive(1), "H");
  EXPECT_EQ(work.canceled, 2);
  client.close();
  EXPECT_TRUE(comes_to([&] { return work.canceled == 3; }));
  EXPECT_TRUE(comes_to([&] { return test.connections() == 0; }));
}

TEST(HalfClose, OverAUnixSocketIsNoDepartureEither) {
  TestServer test;
  Working work;
  test.server.router().add_stream(Method::post, "/w", anyone(), work.handler(100ms));
  test.server.router().add_stream(Method::post, "/long", anyone(), work.handler(60s));
  const std::string path = fmt::format("/tmp/atoll-half-{}.sock", ::getpid());
  test.start("unix:" + path);
  RawClient client(path);
  client.send("POST /w HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_THAT(client.receive_all(), EndsWith("worked on hi"));
  RawClient leaving(path);
  leaving.send("POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
  leaving.close();
  EXPECT_TRUE(comes_to([&] { return work.canceled == 1; }));
}

// The client's side of TLS over a bare socket. It trusts anybody.
class RawTlsClient {
 public:
  explicit RawTlsClient(int port)
      : plain_(port), context_(SSL_CTX_new(TLS_client_method())), tls_(SSL_new(context_)) {
    SSL_set_fd(tls_, plain_.fd());
    connected = SSL_connect(tls_) == 1;
  }
  ~RawTlsClient() {
    SSL_free(tls_);
    SSL_CTX_free(context_);
  }
  RawTlsClient(const RawTlsClient&) = delete;
  RawTlsClient& operator=(const RawTlsClient&) = delete;

  void send(const std::string& bytes) {
    EXPECT_EQ(SSL_write(tls_, bytes.data(), static_cast<int>(bytes.size())), static_cast<int>(bytes.size()));
  }
  // close_notify goes out; what the other side says can still be read.
  void end_half() { EXPECT_EQ(SSL_shutdown(tls_), 0); }
  // Until the other side ends its half, or nothing comes for five seconds.
  std::string receive_all() {
    std::string all;
    char bytes[4096];
    for (int got = 0; (got = SSL_read(tls_, bytes, sizeof bytes)) > 0;)
      all.append(bytes, static_cast<std::size_t>(got));
    return all;
  }
  void close() { plain_.close(); }

  bool connected = false;

 private:
  RawClient plain_;
  SSL_CTX* context_;
  SSL* tls_;
};

TEST(HalfClose, UnderTlsIsNoDepartureEither) {
  TestServer test;
  Working work;
  test.server.router().add(Method::post, "/simple", anyone(), echo);
  test.server.router().add_stream(Method::post, "/whole", anyone(), work.handler(200ms));
  test.server.router().add_stream(Method::post, "/chunked", anyone(), work.handler(200ms, true));
  test.server.router().add_stream(Method::post, "/long", anyone(), work.handler(60s));
  test.start("127.0.0.1:0", TlsContext::make(make_self_signed({"localhost"}).value()).value());
  for (const std::string& path : {"/simple"s, "/whole"s, "/chunked"s}) {
    RawTlsClient client(test.port());
    ASSERT_TRUE(client.connected);
    client.send("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    client.end_half();
    EXPECT_THAT(client.receive_all(), AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("hi"))) << path;
  }
  EXPECT_EQ(work.finished, 2);
  EXPECT_EQ(work.canceled, 0);
  EXPECT_TRUE(comes_to([&] { return test.connections() == 0; }));
  // Who leaves altogether, at once or after its half, still cancels.
  for (const bool ends_half : {false, true}) {
    RawTlsClient client(test.port());
    client.send("POST /long HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
    if (ends_half) {
      client.end_half();
      // Another half-closed client is served meanwhile, which takes longer than noticing this one.
      RawTlsClient other(test.port());
      other.send("POST /whole HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
      other.end_half();
      EXPECT_THAT(other.receive_all(), StartsWith("HTTP/1.1 200 OK\r\n"));
      EXPECT_EQ(work.canceled, 1);
    }
    client.close();
    EXPECT_TRUE(comes_to([&] { return work.canceled == (ends_half ? 2 : 1); })) << ends_half;
  }
  EXPECT_TRUE(comes_to([&] { return test.connections() == 0; }));
}

TEST(ConnectionClose, EndsTheConnectionOfARouteThatWatches) {
  TestServer test;
  Working work;
  test.server.router().add_stream(Method::post, "/w", anyone(), work.handler(20ms));
  test.start();
  for (const char* version : {"1.0", "1.1"}) {
    RawClient client(test.port());
    client.send(fmt::format("POST /w HTTP/{}\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
                            version));
    const std::string answer = client.receive_all();
    EXPECT_THAT(answer, AllOf(HasSubstr("Connection: close"), EndsWith("worked on hi")));
    EXPECT_FALSE(client.reset) << "the answer ended with a time-out or a reset";
  }
  EXPECT_TRUE(comes_to([&] { return test.connections() == 0; }));
}

TEST(BodyBudget, RefusesOverEachBoundAndTakesNothing) {
  BodyBudget budget({.total_bytes = 1'000'000, .connection_bytes = 600'000});
  BodyBudget::Share one(budget), two(budget), small(budget);
  EXPECT_EQ(one.grow(600'001).error().code(), Code::too_large);
  ASSERT_TRUE(one.grow(600'000));
  EXPECT_EQ(one.grow(1).error().code(), Code::too_large);
  EXPECT_EQ(two.grow(200'000).error().code(), Code::unavailable) << "the last quarter is for small bodies";
  EXPECT_TRUE(small.grow(60'000));
  EXPECT_EQ(budget.used_bytes(), 660'000U);
  one.release();
  EXPECT_TRUE(two.grow(200'000));
  { const BodyBudget::Share moved = std::move(two); }
  EXPECT_EQ(budget.used_bytes(), 60'000U);
}

TEST(BodyBudget, AsksForRoomBeforeItRefuses) {
  BodyBudget budget({.total_bytes = 1'000'000, .connection_bytes = 1'000'000});
  BodyBudget::Share stale(budget), fresh(budget);
  ASSERT_TRUE(stale.grow(700'000));
  budget.on_shortage([&] { stale.release(); });
  EXPECT_TRUE(fresh.grow(700'000));
}

TEST(BodyBudget, HoldsForAllConnectionsTogetherAndIsGivenBack) {
  TestServer test({.bodies = {.total_bytes = 4U << 20, .connection_bytes = 2U << 20}});
  test.server.router().add(Method::post, "/a", anyone(),
                           [](Request& request) -> Task<Response> {
                             co_return Response::text(200, std::to_string(request.body.size()));
                           },
                           {.body_bytes_max = 16U << 20});
  test.start();
  // Three bodies that are not complete yet take what large bodies may have.
  std::vector<std::unique_ptr<RawClient>> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(std::make_unique<RawClient>(test.port()));
    held.back()->send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n" +
                      std::string((1U << 20) - 1, 'a'));
  }
  const auto used = [&] {
    return boost::asio::post(test.loop,
                             boost::asio::use_future([&] { return test.server.bodies().used_bytes(); }))
        .get();
  };
  ASSERT_TRUE(comes_to([&] { return used() == (3U << 20) - 3; })) << used();
  const std::string large =
      answer_to(test.port(),
                "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'a'));
  EXPECT_THAT(large, AllOf(StartsWith("HTTP/1.1 503"), HasSubstr("Retry-After: 1"), HasSubstr("try again")));
  EXPECT_THAT(answer_to(test.port(), "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"),
              EndsWith("2"));
  EXPECT_THAT(answer_to(test.port(), "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n" +
                                         std::string(3'000'000, 'a')),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("one connection")));
  for (auto& client : held) {
    client->send("a");
    EXPECT_THAT(client->receive_until("\r\n\r\n1048576"), StartsWith("HTTP/1.1 200"));
  }
  EXPECT_TRUE(comes_to([&] { return used() == 0; }));
  EXPECT_THAT(answer_to(test.port(), "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" +
                                         std::string(100'000, 'a')),
              EndsWith("100000"));
}

TEST(BodyBudget, BodiesThatStandStillMakeRoom) {
  TestServer test({.bodies = {.total_bytes = 2U << 20, .connection_bytes = 2U << 20}});
  test.server.router().add(Method::post, "/a", anyone(),
                           [](Request& request) -> Task<Response> {
                             co_return Response::text(200, std::to_string(request.body.size()));
                           },
                           {.body_bytes_max = 16U << 20});
  test.start();
  RawClient stalling(test.port());
  stalling.send("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1500000\r\n\r\n" +
                std::string(1'400'000, 'a'));
  const std::string request =
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n" + std::string(500'000, 'b');
  // Refused at first; then what stands still is cut, long before its own time is over.
  EXPECT_TRUE(comes_to([&] { return answer_to(test.port(), request).starts_with("HTTP/1.1 503"); }));
  EXPECT_TRUE(comes_to([&] { return answer_to(test.port(), request).starts_with("HTTP/1.1 200"); }));
  EXPECT_THAT(stalling.receive_all(), StartsWith("HTTP/1.1 408"));
}

TEST(Connections, IdleOnesMakeRoomTheOldestFirst) {
  TestServer test({.connections_max = 8});
  Working work;
  test.server.router().add(Method::get, "/a", anyone(), echo);
  test.server.router().add_stream(Method::post, "/w", anyone(), work.handler(300ms));
  test.start();
  RawClient busy(test.port());
  busy.send("POST /w HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi");
  std::vector<std::unique_ptr<RawClient>> idle;
  for (int i = 0; i < 40; ++i) idle.push_back(std::make_unique<RawClient>(test.port()));
  // A stranger is served although nobody left, and who waits for an answer gets it.
  RawClient stranger(test.port());
  stranger.send(get("/a"));
  EXPECT_THAT(stranger.receive_until("[]"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(busy.receive_until("hi"), HasSubstr("worked on hi"));
  EXPECT_EQ(idle.front()->receive(), "");
  EXPECT_FALSE(idle.front()->reset) << "the oldest was closed in order";
  EXPECT_LE(test.connections(), 8U);
}

// A rule that finds out who asks.
class Known final : public Guard {
 public:
  Task<std::optional<Response>> admit(Request& request) const override {
    request.grant = std::make_shared<int>(1);
    co_return std::nullopt;
  }
};

TEST(Connections, ThoseOfKnownClientsAreClosedLast) {
  TestServer test({.connections_max = 8});
  test.server.router().add(Method::get, "/a", std::make_shared<Known>(), echo);
  test.start();
  RawClient known(test.port());
  known.send(get("/a"));
  known.receive_until("[]");
  std::vector<std::unique_ptr<RawClient>> strangers;
  for (int i = 0; i < 40; ++i) strangers.push_back(std::make_unique<RawClient>(test.port()));
  EXPECT_EQ(strangers.front()->receive(), "") << "a stranger made room";
  known.send(get("/a"));
  EXPECT_THAT(known.receive_until("[]"), StartsWith("HTTP/1.1 200"));
}

}  // namespace
}  // namespace atl::net
