#include "net/client.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fstream>

#include "net/lying_server_test.h"
#include "net/test_server.h"

namespace atl::net {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Runs one coroutine on the server's loop and waits for it.
template <class T>
Result<T> wait(TestServer& test, Task<T> task) {
  return boost::asio::co_spawn(test.loop, std::move(task), boost::asio::use_future).get();
}

struct ClientTest : ::testing::Test {
  TestServer test;
  std::atomic<int> calls = 0;

  void SetUp() override {
    Router& router = test.server.router();
    router.add(Method::post, "/echo", anyone(),
               [](Request& request) -> Task<Response> { co_return Response::text(201, request.body); },
               {.body_bytes_max = 10 << 20});
    router.add(Method::get, "/flaky", anyone(), [this](Request&) -> Task<Response> {
      if (++calls < 3) co_return Response::text(503, "busy");
      co_return Response::text(200, "at last");
    });
    router.add(Method::post, "/busy", anyone(), [this](Request&) -> Task<Response> {
      ++calls;
      co_return Response::text(503, "busy");
    });
    router.add(Method::get, "/hang", anyone(), [](Request&) -> Task<Response> {
      boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 3s);
      co_await timer.async_wait(boost::asio::use_awaitable);
      co_return Response::empty();
    });
    router.add_stream(Method::get, "/broken", anyone(), [](Exchange& exchange) -> Task<void> {
      CO_CHECK(co_await exchange.start(200, {}));
      CO_CHECK(co_await exchange.write("half"));
      exchange.abort();
      co_return Result<void>();
    });
    router.add_stream(Method::post, "/stream", anyone(), [](Exchange& exchange) -> Task<void> {
      CO_CHECK(co_await exchange.start(200, {}));
      while (true) {
        CO_TRY(std::string piece, co_await exchange.read());
        if (piece.empty()) break;
        CO_CHECK(co_await exchange.write("<" + piece + ">"));
      }
      co_return co_await exchange.finish();
    });
    router.add_stream(Method::get, "/raw", anyone(), [](Exchange& exchange) -> Task<void> {
      CO_TRY(auto stream, co_await exchange.upgrade(101, {}));
      CO_CHECK(co_await stream->write("hello"));
      CO_TRY(std::string bytes, co_await stream->read());
      CO_CHECK(co_await stream->write("got " + bytes));
      co_return Result<void>();
    });
  }
  Client client(std::string_view url, ClientOptions options = {}) {
    return Client(test.loop.get_executor(), Url::parse(url).value(), std::move(options));
  }
  std::string base() { return "http://" + test.where; }
};

TEST(Url, ParsesAndRefuses) {
  EXPECT_FALSE(Url::parse("ftp://x"));
  EXPECT_FALSE(Url::parse("http://"));
  EXPECT_FALSE(Url::parse("http://x:port"));
  EXPECT_FALSE(Url::parse("unix:"));
  Url url = Url::parse("https://[::1]:8443/base/").value();
  EXPECT_EQ(url.host, "::1");
  EXPECT_EQ(url.port, 8443);
  EXPECT_EQ(url.base, "/base");
  EXPECT_EQ(url.authority(), "[::1]:8443");
  EXPECT_EQ(Url::parse("http://example.org").value().authority(), "example.org");
}

TEST_F(ClientTest, SaysWhenNobodyListens) {
  test.start();
  Client nobody = client("http://127.0.0.1:1", {.tries = 2, .back_off = 1ms});
  auto answer = wait(test, nobody.send({}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), Code::unavailable);
  EXPECT_FALSE(wait(test, client("unix:/nonexistent.sock", {.tries = 1}).send({})));
}

TEST_F(ClientTest, ATargetIsOneLine) {
  test.start();
  Client one = client(base(), {.tries = 1});
  for (const char* target :
       {"/a b", "/a\r\nX: y", "/a HTTP/1.1\r\n\r\nPOST /echo HTTP/1.1\r\n\r\n", "/\x7f"}) {
    EXPECT_EQ(wait(test, one.send({.target = target})).error().code(), Code::invalid_argument) << target;
    ClientRequest request{.target = target};
    EXPECT_EQ(wait(test, one.open(std::move(request))).error().code(), Code::invalid_argument) << target;
  }
  EXPECT_EQ(wait(test, one.send({.method = "GET /x", .target = "/"})).error().code(), Code::invalid_argument);
}

TEST_F(ClientTest, RunsOutOfTimeAndOfRoom) {
  test.start();
  Client impatient = client(base(), {.head_time = 50ms, .tries = 1});
  EXPECT_EQ(wait(test, impatient.send({.target = "/hang"})).error().code(), Code::deadline_exceeded);
  Client small = client(base(), {.tries = 1, .body_bytes_max = 10});
  EXPECT_EQ(wait(test, small.send({.method = "POST", .target = "/echo", .body = std::string(100, 'x')}))
                .error()
                .code(),
            Code::too_large);
}

TEST_F(ClientTest, BrokenAnswersAreNotWhole) {
  test.start();
  Client one = client(base(), {.tries = 1});
  EXPECT_FALSE(wait(test, one.send({.target = "/broken"})));
}

TEST_F(ClientTest, AnswersWithoutAnEndAreGivenUp) {
  test.start();
  const std::string ok = "HTTP/1.1 200 OK\r\n", chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
  const std::string many(64 << 10, 'a');
  struct Case {
    const char* what;
    LyingServer::Lie lie;
  };
  ClientOptions options;
  options.tries = 1;
  options.body_bytes_max = 1 << 20;
  for (const Case& one : {
           Case{"a status line", {"HTTP/1.1 200 ", many}},
           Case{"the name of a header", {ok, many}},
           Case{"the value of a header", {ok + "X: ", many}},
           Case{"headers", {ok, "X: y\r\n"}},
           Case{"answers before the answer", {"", "HTTP/1.1 100 Continue\r\n\r\n"}},
           Case{"the length of a chunk", {chunked, std::string(64 << 10, '0')}},
           Case{"an extension of a chunk", {chunked + "1;a=", many}},
           Case{"trailers", {chunked + "0\r\n", "X: y\r\n"}},
           Case{"a body of a length", {ok + "Content-Length: 9999999999999\r\n\r\n", many}},
           Case{"a body without a length", {ok + "\r\n", many}},
           Case{"chunks", {chunked, "10000\r\n" + many + "\r\n"}},
       }) {
    LyingServer liar(one.lie);
    const auto answer = wait(test, client(liar.url(), options).send({}));
    EXPECT_FALSE(answer) << one.what;
    // What the kernel holds between the two is not ours.
    EXPECT_LT(liar.sent(), 32U << 20) << one.what;
  }
}

TEST_F(ClientTest, AnswersThatLieAreErrors) {
  test.start();
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  ClientOptions options;
  options.tries = 1;
  for (const std::string& text : {
           std::string("nonsense\r\n\r\n"),
           std::string("\x16\x03\x01\x02"),
           std::string("HTTP/9.9 200 OK\r\n\r\n"),
           std::string("HTTP/1.1 -20 OK\r\n\r\n"),
           std::string("HTTP/1.1 100 Continue\r\n\r\n"),
           ok + "Content-Length: 10\r\n\r\nhalf",
           ok + "Content-Length: -1\r\n\r\n",
           ok + "Content-Length: 99999999999999999999\r\n\r\n",
           ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
           ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nha",
           ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
           ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
           ok + "X\x01: y\r\n\r\n",
           ok,
       }) {
    LyingServer liar({text});
    EXPECT_FALSE(wait(test, client(liar.url(), options).send({}))) << testing::PrintToString(text);
  }
}

TEST_F(ClientTest, SmallChunksAreReadToTheirEnd) {
  test.start();
  std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", whole;
  for (int i = 0; i < 50'000; ++i) {
    const char letter = static_cast<char>('a' + i % 26);
    text += std::string("1\r\n") + letter + "\r\n";
    whole += letter;
  }
  LyingServer server({text + "0\r\n\r\n"});
  const auto answer = wait(test, client(server.url()).send({}));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->body, whole);
}

TEST_F(ClientTest, TriesIdempotentCallsAgainAndNoOthers) {
  test.start();
  Client patient = client(base(), {.back_off = 1ms});
  EXPECT_EQ(wait(test, patient.send({.target = "/flaky"})).value().body, "at last");
  EXPECT_EQ(calls, 3);
  calls = 0;
  EXPECT_EQ(wait(test, patient.send({.method = "POST", .target = "/busy"})).value().status, 503);
  EXPECT_EQ(calls, 1);
}

TEST_F(ClientTest, KeepsItsConnection) {
  test.start();
  Client one = client(base());
  std::string big(3 << 20, 'b');
  EXPECT_EQ(wait(test, one.send({.method = "POST", .target = "/echo", .body = big})).value().body, big);
  EXPECT_EQ(wait(test, one.send({.method = "POST", .target = "/echo", .body = "x"})).value().status, 201);
  EXPECT_EQ(test.connections(), 1U);
}

TEST_F(ClientTest, StreamsBothWays) {
  test.start();
  Client one = client(base());
  auto talk = [&]() -> Task<std::string> {
    ClientRequest request{.method = "POST", .target = "/stream"};
    CO_TRY(auto call, co_await one.open(request, RequestBody::streamed));
    std::string all;
    for (int i = 0; i < 3; ++i) {
      CO_CHECK(co_await call->write(fmt::format("p{}", i)));
      CO_TRY(std::string piece, co_await call->read());
      all += piece;
    }
    CO_CHECK(co_await call->finish_request());
    CO_TRY(std::string end, co_await call->read());
    co_return all + end;
  };
  EXPECT_EQ(wait(test, talk()).value(), "<p0><p1><p2>");
}

TEST_F(ClientTest, TakesOverAnUpgradedConnection) {
  test.start();
  Client one = client(base());
  auto talk = [&]() -> Task<std::string> {
    ClientRequest request{.target = "/raw"};
    CO_TRY(auto call, co_await one.open(request));
    CO_TRY(auto head, co_await call->head());
    EXPECT_EQ(head.status, 101);
    auto stream = call->release();
    CO_TRY(std::string hello, co_await stream->read());
    CO_CHECK(co_await stream->write("yes"));
    CO_TRY(std::string answer, co_await stream->read());
    co_return hello + " " + answer;
  };
  EXPECT_EQ(wait(test, talk()).value(), "hello got yes");
}

TEST_F(ClientTest, SpeaksTlsAndVerifies) {
  Certificate certificate = make_self_signed({"localhost", "*.localhost", "127.0.0.1"}).value();
  test.start("127.0.0.1:0", TlsContext::make(certificate).value());
  std::string file = fmt::format("/tmp/atoll-ca-{}.pem", ::getpid());
  std::ofstream(file) << certificate.chain_pem;
  std::string url = fmt::format("https://localhost:{}", test.port());
  ClientRequest request{.method = "POST", .target = "/echo", .body = "over TLS"};
  Client trusting = client(url, {.tries = 1, .ca_file = file});
  EXPECT_EQ(wait(test, trusting.send(request)).value().body, "over TLS");
  EXPECT_FALSE(wait(test, client(url, {.tries = 1}).send(request))) << "an unknown authority was trusted";
  EXPECT_FALSE(wait(test, client(url, {.tries = 1, .ca_file = "/nonexistent.pem"}).send(request)));
  ::unlink(file.c_str());
}

// That a certificate is shown to those who ask is for sandbox/docker's tests, which have a server that
// insists.
TEST_F(ClientTest, RefusesACertificateOfItsOwnThatIsOfNoUse) {
  const Certificate server = make_self_signed({"localhost"}).value();
  const Certificate own = make_self_signed({"somebody"}).value();
  test.start("127.0.0.1:0", TlsContext::make(server).value());
  const std::string file = fmt::format("/tmp/atoll-own-{}", ::getpid());
  std::ofstream(file + ".ca") << server.chain_pem;
  std::ofstream(file + ".pem") << own.chain_pem;
  std::ofstream(file + ".key") << own.key_pem;
  std::ofstream(file + ".other") << server.key_pem;
  const std::string url = fmt::format("https://localhost:{}", test.port());
  const ClientRequest request{.method = "POST", .target = "/echo", .body = "it is me"};
  ClientOptions options{.tries = 1, .ca_file = file + ".ca", .certificate_file = file + ".pem"};
  for (const char* key : {"", ".none", ".other"}) {
    options.key_file = *key == '\0' ? "" : file + key;
    const auto refused = wait(test, client(url, options).send(request));
    ASSERT_FALSE(refused) << key;
    EXPECT_EQ(refused.error().code(), Code::invalid_argument) << refused.error().message();
  }
  options.key_file = file + ".key";
  EXPECT_EQ(wait(test, client(url, options).send(request)).value().body, "it is me");
  options.certificate_file = "/nonexistent.pem";
  EXPECT_FALSE(wait(test, client(url, options).send(request)));
  for (const char* end : {".ca", ".pem", ".key", ".other"}) ::unlink((file + end).c_str());
}

TEST_F(ClientTest, SpeaksOverUnixSockets) {
  std::string path = fmt::format("/tmp/atoll-client-test-{}.sock", ::getpid());
  test.start("unix:" + path);
  Client one = client("unix:" + path);
  EXPECT_EQ(wait(test, one.send({.method = "POST", .target = "/echo", .body = "u"})).value().body, "u");
}

TEST(Tls, RefusesBadCertificates) {
  EXPECT_FALSE(make_self_signed({}));
  Certificate a = make_self_signed({"a"}).value(), b = make_self_signed({"b"}).value();
  EXPECT_FALSE(TlsContext::make({a.chain_pem, b.key_pem}));
  EXPECT_FALSE(TlsContext::make({"nonsense", a.key_pem}));
  EXPECT_FALSE(TlsContext::make({a.chain_pem, "nonsense"}));
}

}  // namespace
}  // namespace atl::net
