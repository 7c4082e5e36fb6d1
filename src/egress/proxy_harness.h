#pragma once

// For tests: a proxy whose clients and servers are coroutines of the test. Nothing is resolved or dialled.
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
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <map>
#include <set>

#include "egress/authority.h"
#include "egress/buffered.h"
#include "egress/client_hello.h"
#include "egress/proxy.h"
#include "egress/tls_stream.h"

namespace atl::egress {

namespace asio = boost::asio;
using namespace std::string_literals;
constexpr auto kTuple = asio::as_tuple(asio::use_awaitable);

template <class Socket>
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
    socket_.shutdown(asio::socket_base::shutdown_send, ignored);
    co_return Result<void>();
  }

 private:
  Socket socket_;
};

using Pair = std::pair<std::unique_ptr<ByteStream>, std::unique_ptr<ByteStream>>;
inline Pair make_pair(asio::io_context& loop) {
  using Local = asio::local::stream_protocol::socket;
  Local a(loop), b(loop);
  asio::local::connect_pair(a, b);
  return {std::make_unique<SocketStream<Local>>(std::move(a)),
          std::make_unique<SocketStream<Local>>(std::move(b))};
}

class FakeSecrets final : public Secrets {
 public:
  Task<std::string> reveal(std::string name) override {
    asked.push_back(name);
    if (!values.contains(name)) co_return fail(Code::not_found, "no secret '" + name + "'");
    co_return values[name];
  }
  Task<std::string> unseal(std::string sealed) override {
    asked.push_back(sealed);
    if (!sealed.starts_with("sealed ")) co_return fail(Code::data_loss, "not sealed here");
    co_return sealed.substr(7);
  }
  std::map<std::string, std::string> values;
  std::vector<std::string> asked;
};

// Names resolve to what the test says; a "dialled" connection is handed to the test's server coroutine.
class FakeOutside final : public Resolver, public Connector {
 public:
  explicit FakeOutside(asio::io_context& loop) : loop_(loop) {}

  Task<std::vector<Address>> resolve(std::string name) override {
    resolved.push_back(name);
    if (before_resolved) std::exchange(before_resolved, nullptr)();
    if (!names.contains(name)) co_return fail(Code::not_found, "no such name");
    co_return names[name];
  }
  Task<std::unique_ptr<ByteStream>> connect(Address address, std::uint16_t port) override {
    dialled.push_back(address.to_string() + ":" + std::to_string(port));
    if (silent.contains(address.to_string())) co_return fail(Code::unavailable, "nobody answers");
    if (before_connected) std::exchange(before_connected, nullptr)();
    // Lets handlers run that a change of the rules has queued.
    co_await asio::post(loop_, asio::use_awaitable);
    auto [near, far] = make_pair(loop_);
    asio::co_spawn(loop_, server(std::move(far)), asio::detached);
    co_return std::move(near);
  }
  Task<std::unique_ptr<ByteStream>> secure(std::unique_ptr<ByteStream> stream, std::string name) override {
    verified.push_back(name);
    co_return std::move(stream);
  }

  std::map<std::string, std::vector<Address>> names;
  std::vector<std::string> resolved, dialled, verified;
  std::set<std::string> silent;  // addresses where nobody listens
  std::string received;
  std::string greeting;  // of a server that speaks first
  std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
  std::function<void()> before_resolved, before_connected;  // once, in the middle of it

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
    if (!greeting.empty()) co_await stream->write(greeting);
    for (bool answered = false;;) {
      auto bytes = co_await stream->read();
      if (!bytes || bytes->empty()) break;
      received += *bytes;
      const bool request =
          received.starts_with("GET ") || received.starts_with("POST ") || received.starts_with("PUT ");
      if (answered || (request && !is_whole(received))) continue;
      co_await stream->write(answer);
      answered = true;
      if (request && !answer.starts_with("HTTP/1.1 101")) break;
    }
    co_await stream->close_write();
  }
  asio::io_context& loop_;
};

struct ProxyTest : testing::Test {
  asio::io_context loop;
  FakeOutside outside{loop};
  std::shared_ptr<FakeSecrets> secrets = std::make_shared<FakeSecrets>();
  std::vector<Attempt> attempts;
  std::unique_ptr<Proxy> proxy;
  std::optional<DialBudget::Account> account;  // of the proxies that are made from now on

  void use(RuleTexts texts, Authority* authority = nullptr, Connector* connector = nullptr) {
    auto rules =
        std::make_shared<const Rules>(Rules::compile(texts, InternalAddresses::all_opened(nullptr)).value());
    egress::Outside world;
    world.resolver = &outside;
    world.connector = connector == nullptr ? &outside : connector;
    world.authority = authority;
    world.secrets = secrets;
    world.dials = account;
    proxy = std::make_unique<Proxy>(loop.get_executor(), rules, world,
                                    [this](const Attempt& attempt) { attempts.push_back(attempt); });
  }

  // Runs until it is true, and says whether it came to that.
  bool comes_to(const std::function<bool()>& true_now) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    loop.restart();
    while (!true_now() && std::chrono::steady_clock::now() < until)
      if (loop.run_one_for(std::chrono::milliseconds(100)) == 0) loop.restart();
    return true_now();
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

// A client inside that trusts this authority and nobody else.
class TrustingClient {
 public:
  explicit TrustingClient(const Authority& authority)
      : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    const std::string& pem = authority.certificate_pem();
    BIO* bytes = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    X509* root = PEM_read_bio_X509(bytes, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), root);
    X509_free(root);
    BIO_free(bytes);
  }

  // Sends the request through a tunnel to port 443 of `name`; what came back, or what went wrong on the way.
  std::string ask(asio::io_context& loop, Proxy& proxy, const std::string& name, const std::string& request) {
    auto [client, inside] = make_pair(loop);
    proxy.serve(std::move(inside));
    std::string got;
    asio::co_spawn(loop, run(std::move(client), name, request, got),
                   [&loop](const std::exception_ptr&) { loop.stop(); });
    loop.restart();
    loop.run_for(std::chrono::seconds(60));
    // The proxy's side of it ends too, now that the client is gone.
    loop.restart();
    while (proxy.open_connections() > 0 && loop.run_one_for(std::chrono::seconds(10)) > 0) {
    }
    return got;
  }

 private:
  asio::awaitable<void> run(std::unique_ptr<ByteStream> stream, std::string name, std::string request,
                            std::string& out) {
    auto head =
        "CONNECT " + (name.find(':') == name.npos ? name : "[" + name + "]") + ":443 HTTP/1.1\r\n\r\n";
    co_await stream->write(std::move(head));
    auto established = co_await stream->read();
    if (!established || !established->starts_with("HTTP/1.1 200")) {
      out = established ? *established : established.error().message();
      co_return;
    }
    auto secure = co_await connect_tls(std::move(stream), *context_, name);
    if (!secure) {
      out = "client: " + secure.error().message();
      co_return;
    }
    co_await (*secure)->write(std::move(request));
    for (;;) {
      auto bytes = co_await (*secure)->read();
      if (!bytes || bytes->empty()) break;
      out += *bytes;
    }
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
};

// A minimal TLS 1.2 client hello that names `name`.
inline std::string hello(const std::string& name, const std::string& more_extensions = {}) {
  const auto u16 = [](std::size_t n) { return std::string{static_cast<char>(n >> 8), static_cast<char>(n)}; };
  const auto entry = "\0"s + u16(name.size()) + name;
  const auto list = u16(entry.size()) + entry;
  const auto extension = u16(0) + u16(list.size()) + list + more_extensions;
  const auto body = "\x03\x03"s + std::string(32, 'r') + "\0"s + u16(2) + "\x13\x01"s + "\x01\0"s +
                    u16(extension.size()) + extension;
  const auto handshake = "\x01\0"s + u16(body.size()) + body;
  return "\x16\x03\x01"s + u16(handshake.size()) + handshake;
}

}  // namespace atl::egress
