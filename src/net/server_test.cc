#include "net/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <mutex>

#include "net/error_header.h"
#include "net/test_server.h"

namespace atl::net {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

boost::asio::awaitable<void> sleep_for(std::chrono::milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

Task<Response> echo(Request& request) {
  co_return Response::text(200, fmt::format("{} {} [{}]", request.method_word, request.path, request.body));
}

struct ServerTest : ::testing::Test {
  void serve(ServerOptions options = {}) {
    test = std::make_unique<TestServer>(std::move(options));
    Router& router = test->server.router();
    router.add(Method::get, "/echo", anyone(), echo);
    router.add(Method::post, "/echo", anyone(), echo);
    router.add(Method::post, "/small", anyone(), echo, {.body_bytes_max = 10});
    router.add(Method::get, "/items/{id}/x", anyone(), [](Request& request) -> Task<Response> {
      co_return Response::text(200, "id=" + request.param("id"));
    });
    router.add(Method::get, "/fail", anyone(), [](Request&) -> Task<Response> {
      co_return fail(Error(Code::conflict, "not now").with_field("state").with_detail("secret path"));
    });
    router.add(Method::get, "/throw", anyone(), [](Request&) -> Task<Response> {
      throw std::runtime_error("secret detail");
      co_return Response();
    });
    router.add_stream(Method::get, "/nothing", anyone(),
                      [](Exchange&) -> Task<void> { co_return Result<void>(); });
    router.add(Method::get, "/slow", anyone(), [](Request&) -> Task<Response> {
      co_await sleep_for(300ms);
      co_return Response::text(200, "slow done");
    });
    router.add(Method::get, "/held", anyone(), [this](Request&) -> Task<Response> {
      held = true;
      co_await comes_to_on_loop([this] { return let_go.load(); });
      co_return Response::text(200, "held done");
    });
    test->start();
  }
  std::string ask(const std::string& request) {
    RawClient client(test->port());
    client.send(request);
    ::shutdown(client.fd(), SHUT_WR);
    return client.receive_all();
  }
  std::unique_ptr<TestServer> test;
  std::atomic<bool> held = false, let_go = false;  // a request to /held is under way; may end
};

TEST_F(ServerTest, RefusesMalformedRequests) {
  serve();
  EXPECT_THAT(ask("NONSENSE\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("GET /echo HTTP/1.1\r\n\r\n"), HasSubstr("missing Host"));
  EXPECT_THAT(ask("GET echo HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
              StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n"),
              StartsWith("HTTP/1.1 400"));
  EXPECT_THAT(ask(get("/items/a%2/x")), StartsWith("HTTP/1.1 400"));
}

TEST_F(ServerTest, SaysNotFoundAndNotAllowed) {
  serve();
  EXPECT_THAT(ask(get("/nowhere")), AllOf(StartsWith("HTTP/1.1 404"), HasSubstr("\"not_found\"")));
  std::string answer = ask("DELETE /echo HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 405"), HasSubstr("Allow: GET, HEAD, POST, OPTIONS")));
  EXPECT_THAT(ask("BREW /echo HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(ask("OPTIONS /echo HTTP/1.1\r\nHost: x\r\n\r\n"), StartsWith("HTTP/1.1 204"));
}

TEST_F(ServerTest, EveryRefusalNamesItsRowOfTheTable) {
  serve();
  const auto named = [](Code code) { return HasSubstr("\r\nAtoll-Error: " + error_facts(code) + "\r\n"); };
  EXPECT_EQ(error_facts(Code::not_found), "not_found; category=user; retryable=false");
  EXPECT_THAT(ask("NONSENSE\r\n\r\n"), named(Code::invalid_argument));
  EXPECT_THAT(ask("GET /echo HTTP/1.1\r\n\r\n"), named(Code::invalid_argument));
  EXPECT_THAT(ask(get("/nowhere")), named(Code::not_found));
  EXPECT_THAT(ask("DELETE /echo HTTP/1.1\r\nHost: x\r\n\r\n"), named(Code::method_not_allowed));
  EXPECT_THAT(ask(get("/fail")), named(Code::conflict));
  EXPECT_THAT(ask(get("/throw")), named(Code::internal));
  EXPECT_THAT(ask("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n12345678901"),
              named(Code::too_large));
  for (const std::size_t size : {40'000, 100'000})
    EXPECT_THAT(ask(get("/echo", "X: " + std::string(size, 'a') + "\r\n")), named(Code::too_large));
  EXPECT_THAT(ask(get("/echo")), Not(HasSubstr("Atoll-Error")));
  EXPECT_THAT(ask("OPTIONS /echo HTTP/1.1\r\nHost: x\r\n\r\n"), Not(HasSubstr("Atoll-Error")));
  // By its status alone a refusal is named by a row of that status.
  for (int i = 0; i <= static_cast<int>(Code::internal); ++i) {
    const int status = row(static_cast<Code>(i)).http_status;
    EXPECT_EQ(row(code_of_status(status)).http_status, status);
  }
  EXPECT_EQ(code_of_status(418), Code::invalid_argument);
  EXPECT_EQ(code_of_status(599), Code::internal);
}

TEST_F(ServerTest, CountsEveryByteOfARequestOnce) {
  serve();
  std::mutex mutex;
  std::vector<std::uint64_t> counted;
  test->server.set_access_sink([&](const Access& access) {
    const std::lock_guard lock(mutex);
    counted.push_back(access.bytes_in);
  });
  const auto all = [&] {
    const std::lock_guard lock(mutex);
    return counted;
  };
  const std::string small = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc";
  const std::string bare = get("/echo");
  // Three in one packet, then one whose body comes later.
  RawClient client(test->port());
  client.send(small + bare + small);
  EXPECT_TRUE(comes_to([&] { return all().size() == 3; }));
  client.send(small.substr(0, small.size() - 3));
  client.send("abc");
  EXPECT_TRUE(comes_to([&] { return all().size() == 4; }));
  EXPECT_EQ(all(), (std::vector<std::uint64_t>{small.size(), bare.size(), small.size(), small.size()}));
  test->server.set_access_sink({});
}

TEST_F(ServerTest, ErrorsKeepSecretsAndCarryTheRequestId) {
  serve();
  std::string answer = ask(get("/fail", "X-Request-Id: my-id.1\r\n"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 409"));
  EXPECT_THAT(answer, HasSubstr(R"("field":"state","request_id":"my-id.1")"));
  EXPECT_THAT(answer, Not(HasSubstr("secret")));
  answer = ask(get("/throw", "X-Request-Id: bad id\r\n"));
  EXPECT_THAT(answer,
              AllOf(StartsWith("HTTP/1.1 500"), Not(HasSubstr("secret")), HasSubstr("X-Request-Id: req_")));
  EXPECT_THAT(ask(get("/nothing")), StartsWith("HTTP/1.1 500"));
}

TEST_F(ServerTest, KeepsLimits) {
  serve();
  EXPECT_THAT(ask("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n12345678901"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask("POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
                  "chunked\r\n\r\nb\r\n12345678901\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(ask("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n1234567890"),
              EndsWith("[1234567890]"));
  EXPECT_THAT(ask(get("/echo", "X: " + std::string(40'000, 'a') + "\r\n")), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(ask(get("/echo", "X: " + std::string(100'000, 'a') + "\r\n")), StartsWith("HTTP/1.1 431"));
}

TEST_F(ServerTest, RefusedBodyOfGigabytesStillGetsItsAnswer) {
  serve();
  RawClient client(test->port());
  client.send("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000000\r\n\r\n");
  client.send(std::string(1 << 20, 'x'));
  EXPECT_THAT(client.receive_until("\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 413"), HasSubstr("Connection: close")));
}

TEST_F(ServerTest, ABodyThatAnnouncesItselfTooLargeIsNotWaitedFor) {
  serve();
  RawClient client(test->port());
  client.send("POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n");
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 413"));
}

TEST_F(ServerTest, KeepsConnectionsAliveAndPipelines) {
  serve();
  RawClient client(test->port());
  client.send(get("/echo") + "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi" +
              "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
              "chunked\r\n\r\n2;x=1\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n" +
              get("/echo", "Connection: close\r\n"));
  std::string all = client.receive_all();
  EXPECT_THAT(all, HasSubstr("POST /echo [hi]"));
  EXPECT_THAT(all, HasSubstr("POST /echo [abc]"));
  EXPECT_THAT(all, HasSubstr("Connection: close"));
  EXPECT_THAT(all, EndsWith("GET /echo []"));
}

TEST_F(ServerTest, AnswersHeadOldVersionsAndAbsoluteTargets) {
  serve();
  std::string head = ask("HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(head, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("Content-Length: 13"), EndsWith("\r\n\r\n")));
  EXPECT_THAT(ask("GET /echo HTTP/1.0\r\n\r\n"), HasSubstr("Connection: close"));
  EXPECT_THAT(ask("GET http://x/echo?a=1 HTTP/1.1\r\nHost: x\r\n\r\n"), EndsWith("GET /echo []"));
}

TEST_F(ServerTest, RoutesOnTheRawPathAndDecodesAfterwards) {
  serve();
  EXPECT_THAT(ask(get("/items/a%2Fb%20c/x")), EndsWith("id=a/b c"));
  EXPECT_THAT(ask(get("/items//x")), StartsWith("HTTP/1.1 404"));
}

TEST_F(ServerTest, TellsTheClientToContinue) {
  serve();
  RawClient client(test->port());
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(client.receive_until("\r\n\r\n"), StartsWith("HTTP/1.1 100"));
  client.send("ok");
  EXPECT_THAT(client.receive_until("[ok]"), StartsWith("HTTP/1.1 200"));
}

TEST_F(ServerTest, EndsSlowClients) {
  serve({.header_time = 100ms, .idle_time = 150ms, .body_stall_time = 100ms});
  RawClient half_head(test->port()), silent(test->port()), half_body(test->port()), idle(test->port());
  half_head.send("GET /echo HT");
  half_body.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  idle.send(get("/echo"));
  EXPECT_THAT(half_head.receive_all(), StartsWith("HTTP/1.1 408"));
  EXPECT_EQ(silent.receive_all(), "");
  EXPECT_THAT(half_body.receive_all(), StartsWith("HTTP/1.1 408"));
  EXPECT_THAT(idle.receive_all(), EndsWith("GET /echo []"));
}

TEST_F(ServerTest, ConnectionsMayBeOpenedAheadOfTheirRequests) {
  serve({.header_time = 50ms});
  RawClient client(test->port());
  // Longer than a head may take: another client, which came later, is told that its head took too long.
  RawClient late(test->port());
  late.send("GET /echo HT");
  EXPECT_THAT(late.receive_all(), StartsWith("HTTP/1.1 408"));
  client.send(get("/echo", "Connection: close\r\n"));
  EXPECT_THAT(client.receive_all(), EndsWith("GET /echo []"));
}

TEST_F(ServerTest, TrickledHeadRunsOutOfTime) {
  serve({.header_time = 150ms});
  RawClient client(test->port());
  std::string request = get("/echo", "X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
  // A byte every 10 ms, until the server answers.
  for (char c : request) {
    client.send(std::string(1, c));
    pollfd answer{client.fd(), POLLIN, 0};
    if (::poll(&answer, 1, 10) > 0) break;
  }
  EXPECT_THAT(client.receive_all(), Not(HasSubstr("200 OK")));
}

TEST_F(ServerTest, SlowHandlersAreNotTimedOut) {
  serve({.header_time = 50ms, .idle_time = 50ms, .body_stall_time = 50ms, .write_stall_time = 100ms});
  EXPECT_THAT(ask(get("/slow")), EndsWith("slow done"));
}

TEST_F(ServerTest, GracefulStopLetsRequestsFinish) {
  serve();
  RawClient busy(test->port()), idle(test->port());
  idle.send(get("/echo"));
  idle.receive_until("[]");
  busy.send(get("/held"));
  ASSERT_TRUE(comes_to([&] { return held.load(); }));
  // The server stops while the request is under way: the idle connection is closed by then.
  std::thread later([&] {
    EXPECT_EQ(idle.receive_all(), "");
    let_go = true;
  });
  test->stop(20s);
  later.join();
  EXPECT_THAT(busy.receive_all(), AllOf(EndsWith("held done"), HasSubstr("Connection: close")));
  EXPECT_FALSE(RawClient(test->port()).connected);
}

TEST_F(ServerTest, StopWithoutGraceCutsRequests) {
  serve();
  RawClient busy(test->port());
  busy.send(get("/held"));
  ASSERT_TRUE(comes_to([&] { return held.load(); }));
  test->stop(0ms);
  EXPECT_EQ(busy.receive_all(), "");
}

TEST_F(ServerTest, AnswersCors) {
  serve({.cors = {.origins = {"https://a.example"}, .exposed_headers = {"X-Next-Token"}}});
  std::string answer = ask(get("/echo", "Origin: https://a.example\r\n"));
  EXPECT_THAT(answer, HasSubstr("Access-Control-Allow-Origin: https://a.example"));
  EXPECT_THAT(answer, HasSubstr("Access-Control-Expose-Headers: X-Next-Token"));
  EXPECT_THAT(ask(get("/echo", "Origin: https://b.example\r\n")), Not(HasSubstr("Access-Control")));
  EXPECT_THAT(ask("OPTIONS /echo HTTP/1.1\r\nHost: x\r\nOrigin: https://a.example\r\n"
                  "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: X-API-Key\r\n\r\n"),
              AllOf(StartsWith("HTTP/1.1 204"), HasSubstr("Access-Control-Allow-Headers: X-API-Key"),
                    HasSubstr("Access-Control-Allow-Origin: https://a.example")));
}

TEST_F(ServerTest, SitesComeBeforeTheRouter) {
  test = std::make_unique<TestServer>();
  test->server.router().add(Method::get, "/x", anyone(),
                            [](Request&) -> Task<Response> { co_return Response::text(200, "main"); });
  Router& site =
      test->server.add_site([](const Request& request) { return request.headers.has("E2b-Sandbox-Id"); });
  site.add(Method::get, "/x", anyone(),
           [](Request&) -> Task<Response> { co_return Response::text(200, "site"); });
  site.set_error_renderer([](const Error&, const Request&) { return Response::text(502, "own error"); });
  test->start();
  EXPECT_THAT(ask(get("/x")), EndsWith("main"));
  EXPECT_THAT(ask(get("/x", "e2b-sandbox-id: a\r\n")), EndsWith("site"));
  EXPECT_THAT(ask(get("/y", "e2b-sandbox-id: a\r\n")), EndsWith("own error"));
}

TEST_F(ServerTest, WritesTheAccessLog) {
  serve();
  std::string path = fmt::format("/tmp/atoll-access-{}.log", ::getpid());
  ::unlink(path.c_str());
  auto sink = open_access_log(test->loop.get_executor(), path);
  ASSERT_TRUE(sink);
  test->server.set_access_sink(*sink);
  ask(get("/echo?token=secret", "X-Request-Id: r1\r\n"));
  std::string text;
  // Lines are gathered for a moment before they are written.
  EXPECT_TRUE(comes_to([&] {
    os::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    text.assign(1000, '\0');
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(file.get(), text.data(), text.size()))));
    return text.ends_with('\n');
  }));
  EXPECT_THAT(text, HasSubstr(R"("request_id":"r1","peer":"127.0.0.1)"));
  EXPECT_THAT(text, HasSubstr(R"("method":"GET","target":"/echo","status":200)"));
  EXPECT_THAT(text, Not(HasSubstr("secret")));
  ::unlink(path.c_str());
}

TEST_F(ServerTest, RefusesAddressesItCannotHave) {
  serve();
  auto taken = test->server.listen(test->where);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), Code::conflict);
  EXPECT_FALSE(test->server.listen("nonsense"));
  EXPECT_FALSE(test->server.listen("127.0.0.1:99999"));
  EXPECT_FALSE(test->server.listen("unix:" + std::string(200, 'a')));
  EXPECT_FALSE(test->server.listen("unix:/nonexistent/dir/s"));
}

TEST_F(ServerTest, ListensOnUnixSockets) {
  serve();
  std::string path = fmt::format("/tmp/atoll-net-test-{}.sock", ::getpid());
  test->start("unix:" + path);
  RawClient client(path);
  ASSERT_TRUE(client.connected);
  client.send(get("/echo", "Connection: close\r\n"));
  EXPECT_THAT(client.receive_all(), EndsWith("GET /echo []"));
  test->stop(0ms);
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace atl::net
