#include "egress/proxy_harness.h"

namespace atl::egress {
namespace {

TEST_F(ProxyTest, RefusesWhatNoRuleAllowsAndDialsNothing) {
  use({.allow = {"good.com"}});
  outside.names["evil.com"] = {*Address::parse("1.2.3.4")};
  for (const auto& target : {"evil.com:443"s, "1.2.3.4:443"s, "169.254.169.254:80"s, "good.com.evil.com:443"s,
                             "0x7f.1:80"s, "good.com@evil.com:443"s, "evil.com#.good.com:443"s,
                             "good.com\0.evil.com:443"s, "[::ffff:127.0.0.1]:80"s}) {
    const auto answer = talk({"CONNECT " + target + " HTTP/1.1\r\n\r\n"});
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 403") || answer.starts_with("HTTP/1.1 400")) << target << answer;
  }
  EXPECT_TRUE(outside.dialled.empty());
  ASSERT_FALSE(attempts.empty());
  for (const auto& attempt : attempts) EXPECT_FALSE(attempt.allowed);
}

TEST_F(ProxyTest, ChecksEveryResolvedAddress) {
  use({.allow = {"rebind.com", "mixed.com"}});
  outside.names["rebind.com"] = {*Address::parse("127.0.0.1")};
  outside.names["mixed.com"] = {*Address::parse("10.0.0.1"), *Address::parse("1.1.1.1")};
  EXPECT_TRUE(talk({"CONNECT rebind.com:8080 HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(talk({"CONNECT mixed.com:8080 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(outside.dialled, std::vector{"1.1.1.1:8080"s});
}

TEST_F(ProxyTest, TriesTheNextAllowedAddress) {
  use({.allow = {"good.com"}});
  outside.names["good.com"] = {*Address::parse("2606::1"), *Address::parse("10.0.0.1"),
                               *Address::parse("1.1.1.1")};
  outside.silent = {"2606::1"};
  EXPECT_TRUE(talk({"CONNECT good.com:8080 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(outside.dialled, (std::vector{"2606::1:8080"s, "1.1.1.1:8080"s}));
  outside.silent.insert("1.1.1.1");
  EXPECT_TRUE(talk({"CONNECT good.com:8080 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 502"));
  EXPECT_EQ(talk({"\x05\x01\x00"s, "\x05\x01\x00\x03\x08good.com\x1f\x90"s}).substr(2, 2), "\x05\x04"s);
}

TEST_F(ProxyTest, NamesThatDoNotResolveAreNotReached) {
  use({.allow = {"*"}});
  outside.names["empty.com"] = {};
  EXPECT_TRUE(talk({"CONNECT gone.com:8080 HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 502"));
  EXPECT_TRUE(talk({"CONNECT empty.com:8080 HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 403"));
}

TEST_F(ProxyTest, DialsTheCanonicalName) {
  use({.allow = {"good.com"}});
  outside.names["good.com"] = {*Address::parse("1.1.1.1")};
  talk({"CONNECT GOOD.com.:8080 HTTP/1.1\r\n\r\n", "x"});
  EXPECT_EQ(outside.resolved, std::vector{"good.com"s});
}

TEST_F(ProxyTest, ForwardsPlainHttpWithOneHost) {
  use({.allow = {"good.com"}, .inject = {{"good.com", {{"Authorization", "Bearer s3cret"}}}}});
  outside.names["good.com"] = {*Address::parse("1.1.1.1")};
  const auto answer =
      talk({"POST http://good.com/a?b HTTP/1.1\r\nHost: other.com\r\nauthorization: mine\r\n"
            "Proxy-Connection: keep-alive\r\nContent-Length: 3\r\n\r\nabcGET /smuggled HTTP/1.1\r\n\r\n"});
  EXPECT_TRUE(answer.ends_with("hi"));
  EXPECT_TRUE(outside.received.starts_with("POST /a?b HTTP/1.1\r\nHost: good.com\r\n")) << outside.received;
  EXPECT_NE(outside.received.find("Authorization: Bearer s3cret\r\n"), std::string::npos);
  EXPECT_EQ(outside.received.find("mine"), std::string::npos);
  EXPECT_EQ(outside.received.find("smuggled"), std::string::npos);
  EXPECT_EQ(outside.received.find("other.com"), std::string::npos);
}

TEST_F(ProxyTest, RefusesRequestsTwoServersReadDifferently) {
  use({.allow = {"good.com"}});
  outside.names["good.com"] = {*Address::parse("1.1.1.1")};
  for (const auto* head :
       {"GET http://good.com/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "GET http://good.com/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "GET http://good.com/ HTTP/1.1\r\nX: a\rb\r\n\r\n",
        "GET http://good.com/ HTTP/1.1\r\n folded: x\r\n\r\n", "GET http://good.com/ HTTP/2\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: good.com\r\n\r\n",
        "GET http://good.com/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"}) {
    EXPECT_TRUE(talk({head}).starts_with("HTTP/1.1 400")) << head;
  }
  EXPECT_TRUE(outside.dialled.empty());
}

TEST_F(ProxyTest, PassesChunkedBodiesOn) {
  use({.allow = {"good.com"}});
  outside.names["good.com"] = {*Address::parse("1.1.1.1")};
  talk({"PUT http://good.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=1\r\nabc\r\n0\r\n\r\nextra"});
  EXPECT_TRUE(outside.received.ends_with("3\r\nabc\r\n0\r\n\r\n")) << outside.received;
}

TEST_F(ProxyTest, TunnelMustNameItsHostInTls) {
  use({.allow = {"good.com"}});
  outside.names["good.com"] = {*Address::parse("1.1.1.1")};
  talk({"CONNECT good.com:443 HTTP/1.1\r\n\r\n", hello("other.com")});
  talk({"CONNECT good.com:443 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"});
  EXPECT_EQ(outside.received, "");
  talk({"CONNECT good.com:443 HTTP/1.1\r\n\r\n", hello("GOOD.com") + "rest"});
  EXPECT_EQ(outside.received, hello("GOOD.com") + "rest");
}

TEST_F(ProxyTest, SpeaksSocks5) {
  use({.allow = {"good.com"}});
  outside.names["good.com"] = {*Address::parse("1.1.1.1")};
  const auto socks = [](std::string name, char port) {
    return "\x05\x01\x00\x03"s + static_cast<char>(name.size()) + name + '\x1f' + port;
  };
  auto answer = talk({"\x05\x01\x00"s, socks("good.com", 80), "ping"});
  EXPECT_EQ(answer.substr(0, 4), "\x05\x00\x05\x00"s);
  EXPECT_EQ(outside.received, "ping");
  // The name that stops short at a NUL for one reader only.
  answer = talk({"\x05\x01\x00"s, socks("evil.com\0.good.com"s, 80)});
  EXPECT_EQ(answer.substr(2, 2), "\x05\x02"s);
  answer = talk({"\x05\x01\x00"s, "\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50"s});
  EXPECT_EQ(answer.substr(2, 2), "\x05\x02"s);
  answer = talk({"\x05\x01\x00"s, "\x05\x02\x00\x01\x7f\x00\x00\x01\x00\x50"s});
  EXPECT_EQ(answer.substr(2, 2), "\x05\x07"s);
}

TEST_F(ProxyTest, NewRulesCutOpenConnections) {
  use({.allow = {"good.com", "other.com"}});
  outside.names["good.com"] = outside.names["other.com"] = {*Address::parse("1.1.1.1")};
  auto [client, inside] = make_pair(loop);
  proxy->serve(std::move(inside));
  std::string got;
  bool ended = false;
  auto run = [](ByteStream& stream, std::string& out, bool& done) -> asio::awaitable<void> {
    std::string head = "CONNECT good.com:8080 HTTP/1.1\r\n\r\n";
    co_await stream.write(std::move(head));
    for (;;) {
      auto bytes = co_await stream.read();
      if (!bytes || bytes->empty()) break;
      out += *bytes;
    }
    done = true;
  };
  asio::co_spawn(loop, run(*client, got, ended), asio::detached);
  ASSERT_TRUE(comes_to([&] { return got.starts_with("HTTP/1.1 200"); }));
  EXPECT_EQ(proxy->open_connections(), 1U);
  proxy->set_rules(std::make_shared<const Rules>(Rules::compile({.allow = {"good.com"}}).value()));
  loop.restart();
  loop.run_for(std::chrono::milliseconds(20));
  EXPECT_EQ(proxy->open_connections(), 1U);
  proxy->set_rules(std::make_shared<const Rules>(Rules::compile({.allow = {"other.com"}}).value()));
  EXPECT_TRUE(comes_to([&] { return ended && proxy->open_connections() == 0; }));
  ASSERT_FALSE(attempts.empty());
  EXPECT_FALSE(attempts.back().allowed);
  EXPECT_EQ(attempts.back().reason, "cut: the rules no longer allow it");
}

TEST_F(ProxyTest, ServesABoundedNumberOfClients) {
  use({.allow = {"good.com"}});
  std::vector<std::unique_ptr<ByteStream>> clients;
  for (int i = 0; i < 300; ++i) {
    auto [client, inside] = make_pair(loop);
    proxy->serve(std::move(inside));
    clients.push_back(std::move(client));
  }
  EXPECT_EQ(proxy->open_connections(), 256U);
  bool dropped = false;
  auto read = [](ByteStream& stream, bool& ended) -> asio::awaitable<void> {
    auto bytes = co_await stream.read();
    ended = !bytes || bytes->empty();
  };
  asio::co_spawn(loop, read(*clients.back(), dropped), asio::detached);
  EXPECT_TRUE(comes_to([&] { return dropped; }));
  clients.clear();
  EXPECT_TRUE(comes_to([&] { return proxy->open_connections() == 0; }));
}

TEST_F(ProxyTest, AnEndInTheMiddleEndsQuietly) {
  use({.allow = {"good.com"}});
  outside.names["good.com"] = {*Address::parse("1.1.1.1")};
  for (const auto& text :
       {""s, "GET http://good.com/"s, "\x05"s, "\x05\x01\x00"s, "\x05\x01\x00\x05\x01\x00\x03\x08good"s,
        "GET http://good.com/ HTTP/1.1\r\nX: "s + std::string(40000, 'x')})
    EXPECT_EQ(talk({text}).find("HTTP/1.1 2"), std::string::npos) << text.substr(0, 60);
  // A body that stops short is not made whole.
  talk({"POST http://good.com/ HTTP/1.1\r\nContent-Length: 30\r\n\r\nabc"});
  EXPECT_TRUE(outside.received.ends_with("\r\n\r\nabc")) << outside.received;
  EXPECT_EQ(proxy->open_connections(), 0U);
}

TEST_F(ProxyTest, SetsHeadersInsideTlsForTheNamedHostOnly) {
  auto authority = Authority::create().value();
  use({.allow = {"api.com"}, .inject = {{"api.com", {{"X-Key", "s3cret"}}}}}, authority.get());
  outside.names["api.com"] = {*Address::parse("1.1.1.1")};
  TrustingClient client(*authority);
  const std::string got =
      client.ask(loop, *proxy, "api.com", "GET /x HTTP/1.1\r\nHost: api.com\r\nX-Key: guess\r\n\r\n");
  EXPECT_TRUE(got.ends_with("hi")) << got;
  EXPECT_NE(outside.received.find("X-Key: s3cret\r\n"), std::string::npos) << outside.received;
  EXPECT_EQ(outside.received.find("guess"), std::string::npos);
  EXPECT_EQ(outside.verified, std::vector{"api.com"s});
}

TEST(ClientHello, NeedsAllBytesAndReadsThemAcrossRecords) {
  const auto whole = hello("a.com");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(inspect_client_hello(std::string_view(whole).substr(0, i)).kind, ClientHello::Kind::incomplete);
  }
  const auto payload = whole.substr(5);
  std::string split;
  for (const char c : payload) split += "\x16\x03\x01\x00\x01"s + c;
  EXPECT_EQ(inspect_client_hello(split).server_name, "a.com");
  EXPECT_EQ(inspect_client_hello("GET /").kind, ClientHello::Kind::not_tls);
  EXPECT_EQ(inspect_client_hello("\x16\x03\x01\x00\x04\x02\x00\x00\x00"s).kind, ClientHello::Kind::malformed);
}

}  // namespace
}  // namespace atl::egress
