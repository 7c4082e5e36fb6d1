#include "egress/proxy.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <map>

#include "egress/authority.h"
#include "egress/buffered.h"
#include "egress/client_hello.h"
#include "egress/tls_stream.h"

namespace atl::egress {
namespace {

namespace asio = boost::asio;
using Socket = asio::local::stream_protocol::socket;
using namespace std::string_literals;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

class SocketStream final : public ByteStream {
 public:
  explicit SocketStream(Socket socket) : socket_(std::move(socket)) {}
  Task<std::string> read() override {
    std::string bytes(4096, '\0');
    auto [error, count] = co_await socket_.async_read_some(asio::buffer(bytes), kTuple);
    if (error == asio::error::eof) co_return std::string();
    if (error) co_return fail(Code::unavailable, error.message());
    bytes.resize(count);
    co_return bytes;
  }
  Task<void> write(std::string bytes) override {
    auto [error, count] = co_await asio::async_write(socket_, asio::buffer(bytes), kTuple);
    if (error) co_return fail(Code::unavailable, error.message());
    co_return Result<void>();
  }
  Task<void> close_write() override {
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return Result<void>();
  }

 private:
  Socket socket_;
};

using Pair = std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>>;
Pair make_pair(asio::io_context& loop) {
  Socket a(loop), b(loop);
  asio::local::connect_pair(a, b);
  return {std::make_unique<SocketStream>(std::move(a)), std::make_unique<SocketStream>(std::move(b))};
}

// Names resolve to what the test says; a "dialled" connection is handed to the test's server coroutine.
class Outside final : public Resolver, public Connector {
 public:
  explicit Outside(asio::io_context& loop) : loop_(loop) {}

  Task<std::vector<Address>> resolve(std::string name) override {
    resolved.push_back(name);
    co_return names[name];
  }
  Task<std::unique_ptr<ByteStream>> connect(Address address, std::uint16_t port) override {
    dialled.push_back(address.to_string() + ":" + std::to_string(port));
    auto [near, far] = make_pair(loop_);
    asio::co_spawn(loop_, server(std::move(far)), asio::detached);
    co_return std::move(near);
  }
  Task<std::unique_ptr<ByteStream>> connect_tls(Address address, std::uint16_t port,
                                                std::string name) override {
    verified.push_back(name);
    co_return co_await connect(address, port);
  }

  std::map<std::string, std::vector<Address>> names;
  std::vector<std::string> resolved, dialled, verified;
  std::string received;

 private:
  static bool is_whole(std::string_view request) {
    const auto head = request.find("\r\n\r\n");
    if (head == request.npos) return false;
    if (request.find("Content-Length: 3") != request.npos) return request.size() == head + 4 + 3;
    if (request.find("chunked") != request.npos) return request.ends_with("0\r\n\r\n");
    return true;
  }

  // As an HTTP server: answers a whole request and closes. Otherwise: answers the first bytes, reads to the
  // end.
  asio::awaitable<void> server(std::unique_ptr<ByteStream> stream) {
    for (bool answered = false;;) {
      auto bytes = co_await stream->read();
      if (!bytes || bytes->empty()) break;
      received += *bytes;
      const bool request =
          received.starts_with("GET ") || received.starts_with("POST ") || received.starts_with("PUT ");
      if (answered || (request && !is_whole(received))) continue;
      std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
      co_await stream->write(std::move(answer));
      answered = true;
      if (request) break;
    }
    co_await stream->close_write();
  }
  asio::io_context& loop_;
};

struct ProxyTest : testing::Test {
  asio::io_context loop;
  Outside outside{loop};
  std::vector<Attempt> attempts;
  std::unique_ptr<Proxy> proxy;

  void use(RuleTexts texts, Authority* authority = nullptr) {
    auto rules = std::make_shared<const Rules>(Rules::compile(texts).value());
    proxy = std::make_unique<Proxy>(loop.get_executor(), rules, outside, outside, authority,
                                    [this](const Attempt& attempt) { attempts.push_back(attempt); });
  }

  // Sends the parts one by one, after the first answer each; returns all that came back.
  std::string talk(std::vector<std::string> parts) {
    auto [client, inside] = make_pair(loop);
    proxy->serve(std::move(inside));
    std::string got;
    auto run = [](ByteStream& stream, std::vector<std::string> sends,
                  std::string& out) -> asio::awaitable<void> {
      for (std::size_t i = 0; i < sends.size(); ++i) {
        co_await stream.write(sends[i]);
        if (i + 1 == sends.size()) break;
        auto bytes = co_await stream.read();
        if (!bytes || bytes->empty()) co_return;
        out += *bytes;
      }
      co_await stream.close_write();
      for (;;) {
        auto bytes = co_await stream.read();
        if (!bytes || bytes->empty()) break;
        out += *bytes;
      }
    };
    asio::co_spawn(loop, run(*client, std::move(parts), got), asio::detached);
    loop.restart();
    loop.run();
    return got;
  }
};

// A minimal TLS 1.2 client hello that names `name`.
std::string hello(const std::string& name) {
  const auto u16 = [](std::size_t n) { return std::string{static_cast<char>(n >> 8), static_cast<char>(n)}; };
  const auto entry = "\0"s + u16(name.size()) + name;
  const auto list = u16(entry.size()) + entry;
  const auto extension = u16(0) + u16(list.size()) + list;
  const auto body = "\x03\x03"s + std::string(32, 'r') + "\0"s + u16(2) + "\x13\x01"s + "\x01\0"s +
                    u16(extension.size()) + extension;
  const auto handshake = "\x01\0"s + u16(body.size()) + body;
  return "\x16\x03\x01"s + u16(handshake.size()) + handshake;
}

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
  EXPECT_TRUE(talk({"CONNECT rebind.com:80 HTTP/1.1\r\n\r\n"}).starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(talk({"CONNECT mixed.com:80 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 200"));
  EXPECT_EQ(outside.dialled, std::vector{"1.1.1.1:80"s});
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
    return "\x05\x01\x00\x03"s + static_cast<char>(name.size()) + name + '\0' + port;
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
  bool ended = false;
  auto run = [](ByteStream& stream, bool& done) -> asio::awaitable<void> {
    std::string head = "CONNECT good.com:80 HTTP/1.1\r\n\r\n";
    co_await stream.write(std::move(head));
    for (;;) {
      auto bytes = co_await stream.read();
      if (!bytes || bytes->empty()) break;
    }
    done = true;
  };
  asio::co_spawn(loop, run(*client, ended), asio::detached);
  loop.run_for(std::chrono::milliseconds(50));
  EXPECT_EQ(proxy->open_connections(), 1U);
  proxy->set_rules(std::make_shared<const Rules>(Rules::compile({.allow = {"good.com"}}).value()));
  loop.restart();
  loop.run_for(std::chrono::milliseconds(20));
  EXPECT_EQ(proxy->open_connections(), 1U);
  proxy->set_rules(std::make_shared<const Rules>(Rules::compile({.allow = {"other.com"}}).value()));
  loop.restart();
  loop.run_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(ended);
  EXPECT_EQ(proxy->open_connections(), 0U);
}

TEST_F(ProxyTest, SetsHeadersInsideTlsForTheNamedHostOnly) {
  auto authority = Authority::create().value();
  use({.allow = {"api.com"}, .inject = {{"api.com", {{"X-Key", "s3cret"}}}}}, authority.get());
  outside.names["api.com"] = {*Address::parse("1.1.1.1")};

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  BIO* pem = BIO_new_mem_buf(authority->certificate_pem().data(),
                             static_cast<int>(authority->certificate_pem().size()));
  X509* root = PEM_read_bio_X509(pem, nullptr, nullptr, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), root);
  X509_free(root);
  BIO_free(pem);

  auto [client, inside] = make_pair(loop);
  proxy->serve(std::move(inside));
  std::string got, trouble;
  auto run = [](std::unique_ptr<ByteStream> stream, SSL_CTX& tls, std::string& out,
                std::string& error) -> asio::awaitable<void> {
    std::string head = "CONNECT api.com:443 HTTP/1.1\r\n\r\n";
    co_await stream->write(std::move(head));
    co_await stream->read();
    std::string name = "api.com";
    auto secure = co_await connect_tls(std::move(stream), tls, name);
    if (!secure) {
      error = secure.error().message();
      co_return;
    }
    std::string request = "GET /x HTTP/1.1\r\nHost: api.com\r\nX-Key: guess\r\n\r\n";
    co_await (*secure)->write(std::move(request));
    for (;;) {
      auto bytes = co_await (*secure)->read();
      if (!bytes || bytes->empty()) break;
      out += *bytes;
    }
  };
  asio::co_spawn(loop, run(std::move(client), *context, got, trouble), asio::detached);
  loop.restart();
  loop.run_for(std::chrono::seconds(5));
  EXPECT_EQ(trouble, "");
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
