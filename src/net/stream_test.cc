#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/use_awaitable.hpp>
#include <thread>
#include <utility>

#include "net/test_server.h"

namespace atl::net {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Stream, WritesChunkByChunk) {
  TestServer test;
  std::atomic<bool> first_seen = false;
  test.server.router().add_stream(Method::get, "/s", anyone(), [&](Exchange& exchange) -> Task<void> {
    Headers headers{{"Content-Type", "text/plain"}};
    CO_CHECK(co_await exchange.start(200, headers));
    for (int i = 0; i < 3; ++i) {
      CO_CHECK(co_await exchange.write(fmt::format("part{}", i)));
      // The rest is written when the client has the first part: nothing may hold that back.
      EXPECT_TRUE(co_await comes_to_on_loop([&] { return first_seen.load(); }));
    }
    co_return co_await exchange.finish();
  });
  test.start();
  RawClient client(test.port());
  client.send(get("/s"));
  EXPECT_THAT(client.receive_until("part0\r\n"), Not(HasSubstr("part1")));
  first_seen = true;
  EXPECT_THAT(client.receive_until("0\r\n\r\n"), EndsWith("5\r\npart2\r\n0\r\n\r\n"));
  client.send("GET /s HTTP/1.0\r\n\r\n");
  EXPECT_THAT(client.receive_all(), AllOf(EndsWith("part0part1part2"), Not(HasSubstr("chunked"))));
}

TEST(Stream, AbortLeavesNoFinalChunk) {
  TestServer test;
  test.server.router().add_stream(Method::get, "/abort", anyone(), [](Exchange& exchange) -> Task<void> {
    CO_CHECK(co_await exchange.start(200, {}));
    CO_CHECK(co_await exchange.write("some"));
    exchange.abort();
    co_return Result<void>();
  });
  test.server.router().add_stream(Method::get, "/error", anyone(), [](Exchange& exchange) -> Task<void> {
    CO_CHECK(co_await exchange.start(200, {}));
    CO_CHECK(co_await exchange.write("some"));
    co_return fail(Code::internal, "broke");
  });
  test.server.router().add_stream(Method::get, "/short", anyone(), [](Exchange& exchange) -> Task<void> {
    CO_CHECK(co_await exchange.start(200, {}, 10));
    CO_CHECK(co_await exchange.write("some"));
    co_return co_await exchange.finish();
  });
  test.start();
  for (std::string_view path : {"/abort", "/error", "/short"}) {
    RawClient client(test.port());
    client.send(get(path));
    EXPECT_THAT(client.receive_all(), AllOf(HasSubstr("some"), Not(HasSubstr("\r\n0\r\n\r\n"))));
  }
}

// Admits who has the word, and says no in both ways there are.
class Password final : public Guard {
 public:
  Task<std::optional<Response>> admit(Request& request) const override {
    const std::string_view word = request.headers.get("X-Word");
    if (word.empty()) co_return fail(Code::unauthenticated, "no word");
    if (word != "open") co_return Response::text(403, "wrong word");
    request.grant = std::make_shared<const std::string>("friend");
    co_return std::nullopt;
  }
};

TEST(Stream, WhoMayNotCallIsToldBeforeTheBodyIsRead) {
  TestServer test;
  const auto rule = std::make_shared<Password>();
  auto greet = [](Request& request) -> Task<Response> {
    const std::string& who = *static_cast<const std::string*>(request.grant.get());
    co_return Response::text(200, who + " " + request.body);
  };
  test.server.router().add(Method::post, "/in", rule, greet, {.body_bytes_max = 1U << 30});
  test.start();
  // Nothing of the announced body is ever sent, and the client is not asked to go on with it.
  const std::string head =
      "POST /in HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000000000\r\n";
  for (const auto& [word, status, text] :
       {std::tuple("", "401", "no word"), std::tuple("X-Word: no\r\n", "403", "wrong word")}) {
    RawClient client(test.port());
    client.send(head + word + "\r\n");
    EXPECT_THAT(client.receive_until(text),
                AllOf(HasSubstr(status), HasSubstr(text), HasSubstr("Connection: close"),
                      Not(HasSubstr("100 Continue"))));
  }
  // A small body is stepped over, so that the connection can go on.
  RawClient client(test.port());
  client.send("POST /in HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_THAT(client.receive_until("no word"), Not(HasSubstr("Connection: close")));
  client.send("POST /in HTTP/1.1\r\nHost: x\r\nX-Word: open\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_THAT(client.receive_until("body"), AllOf(HasSubstr("200 OK"), HasSubstr("friend body")));
}

TEST(Stream, ARefusalReachesAClientThatStillSends) {
  TestServer test;
  test.server.router().add_stream(
      Method::post, "/no", anyone(),
      [](Exchange&) -> Task<void> { co_return fail(Code::invalid_argument, "not this"); },
      {.body_bytes_max = 1U << 30});
  test.start();
  RawClient client(test.port());
  client.send("POST /no HTTP/1.1\r\nHost: x\r\nContent-Length: 33554432\r\n\r\n");
  const std::string block(1U << 20, 'x');
  for (int i = 0; i < 32; ++i) client.send(block);
  EXPECT_THAT(client.receive_all(), AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("not this")));
  EXPECT_FALSE(client.reset) << "whoever writes first and reads then would not have come to the answer";
}

TEST(Stream, ReadsPieceByPieceAndHoldsTheClientBack) {
  TestServer test;
  std::atomic<std::size_t> taken = 0;
  std::atomic<bool> go = false;
  test.server.router().add_stream(Method::post, "/up", anyone(),
                                  [&](Exchange& exchange) -> Task<void> {
                                    EXPECT_TRUE(co_await comes_to_on_loop([&] { return go.load(); }));
                                    while (true) {
                                      CO_TRY(std::string piece, co_await exchange.read());
                                      if (piece.empty()) break;
                                      EXPECT_LE(piece.size(), 65536U);
                                      taken += piece.size();
                                    }
                                    Response done = Response::text(200, fmt::format("{}", taken.load()));
                                    co_return co_await exchange.send(std::move(done));
                                  },
                                  {.body_bytes_max = 1U << 30});
  test.start();
  RawClient client(test.port());
  constexpr std::size_t kTotal = 64U << 20;
  client.send(fmt::format("POST /up HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", kTotal));
  std::atomic<std::size_t> sent = 0;
  std::thread sender([&] {
    std::string block(1 << 16, 'u');
    for (std::size_t i = 0; i < kTotal; i += block.size()) {
      client.send(block);
      sent += block.size();
    }
  });
  // Until the sender stands still.
  std::size_t seen = 0;
  EXPECT_TRUE(comes_to([&] {
    const std::size_t before = std::exchange(seen, sent.load());
    std::this_thread::sleep_for(50ms);
    return seen > 0 && before == seen && seen == sent.load();
  }));
  EXPECT_LT(sent.load(), 32U << 20) << "the server took more than its buffers hold";
  go = true;
  sender.join();
  EXPECT_THAT(client.receive_until(fmt::format("\r\n\r\n{}", kTotal)), StartsWith("HTTP/1.1 200"));
}

TEST(Stream, AClientThatDoesNotReadHoldsTheHandlerBackAndIsEnded) {
  TestServer test({.write_stall_time = 300ms});
  std::atomic<std::size_t> written = 0;
  std::atomic<bool> failed = false;
  test.server.router().add_stream(Method::get, "/down", anyone(), [&](Exchange& exchange) -> Task<void> {
    CO_CHECK(co_await exchange.start(200, {}));
    for (int i = 0; i < 10'000; ++i) {
      auto sent = co_await exchange.write(std::string(65536, 'd'));
      if (!sent) {
        EXPECT_EQ(sent.error().code(), Code::canceled);
        failed = true;
        co_return sent;
      }
      written += 65536;
    }
    co_return co_await exchange.finish();
  });
  test.start();
  RawClient client(test.port());
  client.send(get("/down"));
  EXPECT_TRUE(comes_to([&] { return failed.load(); }));
  EXPECT_LT(written.load(), 64U << 20);
}

TEST(Stream, NoticesAClientThatGoesAway) {
  TestServer test;
  std::atomic<int> noticed = 0;
  std::atomic<bool> write_failed = false;
  test.server.router().add_stream(Method::post, "/watch", anyone(), [&](Exchange& exchange) -> Task<void> {
    while (true) {
      CO_TRY(std::string piece, co_await exchange.read());
      if (piece.empty()) break;
    }
    CO_CHECK(co_await exchange.start(200, {}));
    exchange.on_disconnect([&] { ++noticed; });
    co_await comes_to_on_loop([&] { return noticed > 0; });
    write_failed = !(co_await exchange.write("x"));
    co_return Result<void>();
  });
  test.start();
  {
    RawClient client(test.port());
    client.send("POST /watch HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab");
    client.receive_until("\r\n\r\n");
  }
  EXPECT_TRUE(comes_to([&] { return write_failed.load(); }));
  EXPECT_EQ(noticed, 1);
}

TEST(Stream, WatchingKeepsPipelinedRequests) {
  TestServer test;
  std::atomic<int> begun = 0, allowed = 0;
  test.server.router().add_stream(Method::get, "/w", anyone(), [&](Exchange& exchange) -> Task<void> {
    exchange.on_disconnect([] {});
    const int number = ++begun;
    EXPECT_TRUE(co_await comes_to_on_loop([&] { return allowed >= number; }));
    Response done = Response::text(200, "ok");
    co_return co_await exchange.send(std::move(done));
  });
  test.start();
  RawClient client(test.port());
  for (int i = 0; i < 3; ++i) {
    client.send(get("/w"));
    // The second request comes while the first one watches.
    ASSERT_TRUE(comes_to([&] { return begun == 2 * i + 1; }));
    client.send(get("/w"));
    allowed += 2;
    std::string all;
    while (all.size() < 8 || all.find("ok", all.find("ok") + 2) == std::string::npos) {
      std::string more = client.receive();
      ASSERT_NE(more, "");
      all += more;
    }
  }
}

TEST(Stream, UpgradesToABareTunnel) {
  TestServer test;
  test.server.router().add_stream(Method::get, "/tunnel", anyone(), [](Exchange& exchange) -> Task<void> {
    Headers headers{{"Connection", "Upgrade"}, {"Upgrade", "raw"}};
    CO_TRY(auto stream, co_await exchange.upgrade(101, headers));
    while (true) {
      CO_TRY(std::string bytes, co_await stream->read());
      if (bytes.empty()) break;
      CO_CHECK(co_await stream->write("<" + bytes + ">"));
    }
    CO_CHECK(co_await stream->write("bye"));
    co_return Result<void>();
  });
  test.start();
  RawClient client(test.port());
  client.send(get("/tunnel", "Connection: Upgrade\r\nUpgrade: raw\r\n") + "early");
  EXPECT_THAT(client.receive_until("<early>"), StartsWith("HTTP/1.1 101"));
  client.send("more");
  EXPECT_EQ(client.receive_until(">"), "<more>");
  ::shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.receive_all(), "bye");
}

TEST(Stream, StopEndsTunnels) {
  TestServer test;
  test.server.router().add_stream(Method::get, "/tunnel", anyone(), [](Exchange& exchange) -> Task<void> {
    CO_TRY(auto stream, co_await exchange.upgrade(101, {}));
    CO_TRY(std::string bytes, co_await stream->read());
    co_return Result<void>();
  });
  test.start();
  RawClient client(test.port());
  client.send(get("/tunnel"));
  client.receive_until("\r\n\r\n");
  test.stop(50ms);
  EXPECT_EQ(client.receive_all(), "");
}

}  // namespace
}  // namespace atl::net
