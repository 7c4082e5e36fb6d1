// Ways out through a proxy of the owner's, which is a coroutine of the test.
#include "egress/upstream.h"

#include <algorithm>

#include "egress/proxy_harness.h"

namespace atl::egress {
namespace {

// Speaks SOCKS5 as the test says, and is the server behind itself.
class SocksWorld final : public Connector {
 public:
  explicit SocksWorld(asio::io_context& loop) : loop_(loop) {}

  Task<std::unique_ptr<ByteStream>> connect(Address address, std::uint16_t port) override {
    dialled.push_back(address.to_string() + ":" + std::to_string(port));
    if (!reachable) co_return fail(Code::unavailable, "nobody answers");
    auto [near, far] = make_pair(loop_);
    asio::co_spawn(loop_, serve(std::move(far)), asio::detached);
    co_return std::move(near);
  }
  Task<std::unique_ptr<ByteStream>> secure(std::unique_ptr<ByteStream> stream, std::string name) override {
    verified.push_back(name);
    co_return std::move(stream);
  }

  bool reachable = true;
  std::string method = "\x05\x00"s;
  std::string verdict = "\x01\x00"s;
  std::string reply = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"s;
  std::string page = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  std::vector<std::string> dialled, verified;
  std::string greeting, credentials, request, received;

 private:
  asio::awaitable<void> serve(std::unique_ptr<ByteStream> stream) {
    Buffered client(std::move(stream));
    if (!co_await client.need(2) ||
        !co_await client.need(2U + static_cast<std::uint8_t>(client.buffered()[1])))
      co_return;
    greeting = client.take(client.buffered().size());
    co_await client.write(method);
    if (method == "\x05\x02"s) {
      if (!co_await client.need(1)) co_return;
      credentials = client.take(client.buffered().size());
      co_await client.write(verdict);
    }
    if (!co_await client.need(10)) co_return;
    request = client.take(10);
    // In two pieces, as a network may bring it.
    auto first = reply.substr(0, 3), rest = reply.substr(std::min<std::size_t>(3, reply.size()));
    co_await client.write(first);
    if (!rest.empty()) co_await client.write(rest);
    if (!co_await client.need(1)) co_return;
    for (;;) {
      received += client.take(client.buffered().size());
      if (received.find("\r\n\r\n") != received.npos) break;
      if (!co_await client.need(1)) co_return;
    }
    co_await client.write(page);
    co_await client.close_write();
  }
  asio::io_context& loop_;
};

class UpstreamProxy : public ProxyTest {
 protected:
  UpstreamProxy() { outside.names["a.com"] = {*Address::parse("1.2.3.4")}; }

  static RuleTexts through(std::string address, std::string username = {}, std::string sealed = {}) {
    RuleTexts texts;
    texts.allow = {"a.com"};
    texts.proxy = UpstreamText{std::move(address), std::move(username), std::move(sealed)};
    return texts;
  }
  void open(const RuleTexts& texts, std::vector<Cidr> internal = {}, Authority* authority = nullptr) {
    egress::Outside all;
    all.resolver = &outside;
    all.connector = &world;
    all.authority = authority;
    all.secrets = secrets;
    all.internal_proxies = std::move(internal);
    proxy = std::make_unique<Proxy>(
        loop.get_executor(),
        std::make_shared<const Rules>(Rules::compile(texts, InternalAddresses::all_opened(nullptr)).value()),
        all, [this](const Attempt& attempt) { attempts.push_back(attempt); });
  }
  std::string get(const std::string& url = "http://a.com/") {
    return talk({"GET " + url + " HTTP/1.1\r\nHost: a.com\r\n\r\n"});
  }

  SocksWorld world{loop};
};

TEST_F(UpstreamProxy, IsAskedForTheAddressThatWasChecked) {
  open(through("9.9.9.9:1080"));
  EXPECT_TRUE(get().ends_with("hi"));
  EXPECT_EQ(world.dialled, std::vector{"9.9.9.9:1080"s});
  EXPECT_EQ(world.greeting, "\x05\x01\x00"s);
  EXPECT_EQ(world.request, "\x05\x01\x00\x01\x01\x02\x03\x04\x00\x50"s);
  EXPECT_TRUE(world.received.starts_with("GET / HTTP/1.1\r\n")) << world.received;
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_TRUE(attempts[0].allowed);
}

TEST_F(UpstreamProxy, TunnelsGoThroughItToo) {
  open(through("9.9.9.9:1080"));
  const std::string got = talk({"CONNECT a.com:8080 HTTP/1.1\r\n\r\n", "GET /inside HTTP/1.1\r\n\r\n"});
  EXPECT_TRUE(got.ends_with("hi")) << got;
  EXPECT_EQ(world.request, "\x05\x01\x00\x01\x01\x02\x03\x04\x1f\x90"s);
  EXPECT_EQ(world.received, "GET /inside HTTP/1.1\r\n\r\n");
}

TEST_F(UpstreamProxy, IsNotAskedForWhatTheRulesRefuse) {
  open(through("9.9.9.9:1080"));
  EXPECT_TRUE(get("http://b.com/").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(world.dialled.empty());
  // A public name that points inside stays refused, whoever would dial.
  outside.names["a.com"] = {*Address::parse("10.0.0.1")};
  EXPECT_TRUE(get().starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(world.dialled.empty());
}

TEST_F(UpstreamProxy, GetsItsUserNameAndPassword) {
  open(through("9.9.9.9:1080", "me", "sealed pass"));
  world.method = "\x05\x02"s;
  EXPECT_TRUE(get().ends_with("hi"));
  EXPECT_EQ(world.greeting, "\x05\x02\x00\x02"s);
  EXPECT_EQ(world.credentials, "\x01\x02me\x04pass"s);
  EXPECT_EQ(secrets->asked, std::vector{"sealed pass"s});
}

TEST_F(UpstreamProxy, PasswordIsNotOpenedForAProxyThatWantsNone) {
  open(through("9.9.9.9:1080", "me", "sealed pass"));
  EXPECT_TRUE(get().ends_with("hi"));
  EXPECT_TRUE(secrets->asked.empty());
  EXPECT_EQ(world.credentials, "");
}

TEST_F(UpstreamProxy, SaysWhatIsWrong) {
  struct Case {
    std::string method, verdict, reply, told;
  };
  const std::string yes = "\x05\x00"s, good = "\x01\x00"s, ok = "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00"s;
  const std::vector<Case> cases = {
      {"HT", good, ok, "the egress proxy does not speak SOCKS5"},
      {"\x05\xff"s, good, ok, "the egress proxy refuses authentication by user name"},
      {"\x05\x02"s, "\x01\x01"s, ok, "the egress proxy refuses the user name or password"},
      {yes, good, "\x05\x05\x00\x01\x00\x00\x00\x00\x00\x00"s,
       "the egress proxy cannot reach 1.2.3.4:80: connection refused"},
      {yes, good, "\x05\x63\x00\x01\x00\x00\x00\x00\x00\x00"s,
       "the egress proxy cannot reach 1.2.3.4:80: unknown failure"},
      {yes, good, "\x05\x00\x00\x09\x00\x00\x00\x00\x00\x00"s, "the egress proxy does not speak SOCKS5"},
      {yes, good, "\x04\x00\x00\x01\x00\x00\x00\x00\x00\x00"s, "the egress proxy does not speak SOCKS5"},
  };
  for (const Case& one : cases) {
    attempts.clear();
    open(through("9.9.9.9:1080", "me", "sealed pass"));
    std::tie(world.method, world.verdict, world.reply) = std::tie(one.method, one.verdict, one.reply);
    const std::string got = get();
    EXPECT_TRUE(got.starts_with("HTTP/1.1 502")) << got;
    EXPECT_NE(got.find(one.told), std::string::npos) << got;
    EXPECT_EQ(got.find("pass\n"), std::string::npos);
    ASSERT_FALSE(attempts.empty());
    EXPECT_FALSE(attempts.back().allowed);
    EXPECT_EQ(attempts.back().reason, one.told);
  }
  open(through("9.9.9.9:1080"));
  world.method = "\x05\x02"s;
  EXPECT_NE(get().find("the egress proxy wants a user name"), std::string::npos);
  world.reachable = false;
  EXPECT_NE(get().find("the egress proxy cannot be reached: nobody answers"), std::string::npos);
}

TEST_F(UpstreamProxy, LongAnswersAreReadToTheirEnd) {
  open(through("9.9.9.9:1080"));
  world.reply =
      "\x05\x00\x00\x03\x05"
      "p.com"
      "\x00\x50"s;
  EXPECT_TRUE(get().ends_with("hi"));
  world.reply = "\x05\x00\x00\x04"s + std::string(16, '\1') + "\x00\x50"s;
  EXPECT_TRUE(get().ends_with("hi"));
}

TEST_F(UpstreamProxy, InternalOnesNeedTheOperatorsWord) {
  outside.names["p.com"] = {*Address::parse("192.168.1.1")};
  for (const auto* address : {"127.0.0.1:1080", "10.1.1.1:1080", "169.254.169.254:80", "[::1]:1080",
                              "2130706433:1080", "p.com:1080"}) {
    open(through(address));
    const std::string got = get();
    EXPECT_TRUE(got.starts_with("HTTP/1.1 403")) << got;
    EXPECT_NE(got.find("is at an internal address"), std::string::npos) << got;
  }
  EXPECT_TRUE(world.dialled.empty());
  open(through("p.com:1080"), {*Cidr::parse("192.168.1.0/24")});
  EXPECT_TRUE(get().ends_with("hi"));
  EXPECT_EQ(world.dialled, std::vector{"192.168.1.1:1080"s});
}

TEST_F(UpstreamProxy, NamesWithoutAddressAreUnavailable) {
  open(through("unknown.example:1080"));
  EXPECT_NE(get().find("the egress proxy 'unknown.example' has no address"), std::string::npos);
}

TEST_F(UpstreamProxy, TlsIsVerifiedThroughIt) {
  auto authority = Authority::create().value();
  RuleTexts texts = through("9.9.9.9:1080");
  texts.inject = {{"a.com", {{"X-Key", "${secrets.token}"}}}};
  secrets->values["token"] = "s3cret";
  open(texts, {}, authority.get());
  TrustingClient client(*authority);
  EXPECT_TRUE(client.ask(loop, *proxy, "a.com", "GET / HTTP/1.1\r\nHost: a.com\r\n\r\n").ends_with("hi"));
  EXPECT_EQ(world.verified, std::vector{"a.com"s});
  EXPECT_NE(world.received.find("X-Key: s3cret\r\n"), std::string::npos);
}

TEST_F(UpstreamProxy, SecretsInTheClearDoNotLeaveTheHouse) {
  RuleTexts texts = through("9.9.9.9:1080");
  texts.allow = {"10.0.0.1"};
  texts.inject = {{"10.0.0.1", {{"X-Key", "${secrets.token}"}}}};
  secrets->values["token"] = "s3cret";
  open(texts);
  const std::string got = get("http://10.0.0.1/");
  EXPECT_NE(got.find("holds a secret: use https"), std::string::npos) << got;
  EXPECT_EQ(world.received, "");
}

TEST_F(UpstreamProxy, AnotherOneCutsWhatIsOpen) {
  open(through("9.9.9.9:1080"));
  auto [client, inside] = make_pair(loop);
  proxy->serve(std::move(inside));
  std::string got;
  bool ended = false;
  auto run = [](ByteStream& stream, std::string& out, bool& over) -> asio::awaitable<void> {
    std::string head = "CONNECT a.com:8080 HTTP/1.1\r\n\r\n";
    co_await stream.write(std::move(head));
    for (;;) {
      auto bytes = co_await stream.read();
      if (!bytes || bytes->empty()) break;
      out += *bytes;
    }
    over = true;
  };
  asio::co_spawn(loop, run(*client, got, ended), asio::detached);
  ASSERT_TRUE(comes_to([&] { return got.starts_with("HTTP/1.1 200"); }));
  proxy->set_rules(std::make_shared<const Rules>(Rules::compile(through("9.9.9.9:1080")).value()));
  EXPECT_EQ(proxy->open_connections(), 1U) << "the same one cuts nothing";
  RuleTexts straight = through("9.9.9.9:1080");
  straight.proxy.reset();
  proxy->set_rules(std::make_shared<const Rules>(Rules::compile(straight).value()));
  EXPECT_TRUE(comes_to([&] { return ended; }));
}

TEST(Upstream, ReadsHostAndPort) {
  for (const auto* good :
       {"proxy.example.com:1080", "1.2.3.4:1", "[2001:db8::1]:1080", "Proxy.Example:65535"})
    EXPECT_TRUE(Upstream::parse({good, "", ""})) << good;
  for (const auto* bad :
       {"", ":1080", "proxy", "proxy:", "proxy:0", "proxy:65536", "proxy:x", "socks5://proxy:1080",
        "http://proxy:1080", "user:pw@proxy:1080", "*.proxy:1080", "2001:db8::1", "proxy:1080/x"}) {
    const auto read = Upstream::parse({bad, "", ""});
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code(), Code::invalid_argument);
    EXPECT_NE(read.error().message().find("host:port"), std::string::npos);
  }
  EXPECT_FALSE(Upstream::parse({"p:1", std::string(256, 'u'), ""}));
  EXPECT_TRUE(Upstream::parse({"p:1", std::string(255, 'u'), ""}));
  EXPECT_FALSE(Upstream::parse({"p:1", "", "sealed x"}));
}

}  // namespace
}  // namespace atl::egress
