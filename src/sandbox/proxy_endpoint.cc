#include "sandbox/proxy_endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>

#include "sandbox/sandbox.h"

namespace atl::sandbox {
namespace {

namespace asio = boost::asio;
constexpr std::size_t kBundleMax = 4U << 20;
constexpr int kQueriesMax = 32;  // questions of one sandbox that are being answered
constexpr std::size_t kQueryMax = 4096;

// Both spellings: programs disagree about which one they read. No socks:// for everything, because HTTP
// libraries without that scheme refuse to start when they see it; the port speaks both.
Variables proxy_variables() {
  const std::string proxy = fmt::format("http://127.0.0.1:{}", kProxyPort);
  const std::string local = "localhost,127.0.0.1,::1";
  return {{"HTTP_PROXY", proxy},  {"http_proxy", proxy}, {"HTTPS_PROXY", proxy},
          {"https_proxy", proxy}, {"ALL_PROXY", proxy},  {"all_proxy", proxy},
          {"NO_PROXY", local},    {"no_proxy", local},   {"NODE_USE_ENV_PROXY", "1"}};
}

Variables trust_variables(const std::string& bundle, const std::string& certificate) {
  return {
      {"SSL_CERT_FILE", bundle},     {"REQUESTS_CA_BUNDLE", bundle}, {"CURL_CA_BUNDLE", bundle},
      {"GIT_SSL_CAINFO", bundle},    {"PIP_CERT", bundle},           {"AWS_CA_BUNDLE", bundle},
      {"CARGO_HTTP_CAINFO", bundle}, {"DENO_CERT", certificate},     {"NODE_EXTRA_CA_CERTS", certificate}};
}

asio::awaitable<void> serve_proxy(std::unique_ptr<PortListener> listener,
                                  std::shared_ptr<egress::Proxy> proxy) {
  for (;;) {
    auto client = co_await listener->accept();
    if (!client) co_return;
    proxy->serve(std::move(*client));
  }
}

struct Questions {
  std::shared_ptr<DatagramPort> port;
  std::shared_ptr<egress::Proxy> proxy;
  int under_way = 0;
};

asio::awaitable<void> answer_one(std::shared_ptr<Questions> all, DatagramPort::Datagram question) {
  auto answer = co_await all->proxy->answer(std::move(question.bytes));
  if (answer && !answer->empty()) all->port->answer(question.sender, *answer);
  --all->under_way;
}

asio::awaitable<void> serve_questions(std::shared_ptr<Questions> all) {
  const auto executor = co_await asio::this_coro::executor;
  for (;;) {
    auto question = co_await all->port->receive();
    if (!question) co_return;
    if (all->under_way >= kQueriesMax) continue;  // it will ask again
    ++all->under_way;
    asio::co_spawn(executor, answer_one(all, std::move(*question)), asio::detached);
  }
}

// Over TCP each message has its length before it (RFC 1035, 4.2.2). Questions one after the other.
asio::awaitable<void> answer_stream(std::unique_ptr<ByteStream> stream,
                                    std::shared_ptr<egress::Proxy> proxy) {
  std::string input;
  for (;;) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(input[at]); };
    const std::size_t size = input.size() < 2 ? 0 : static_cast<std::size_t>(byte(0) << 8 | byte(1));
    if (size > kQueryMax) co_return;
    if (input.size() < 2 || input.size() < 2 + size) {
      auto bytes = co_await stream->read();
      if (!bytes || bytes->empty()) co_return;
      input += *bytes;
      continue;
    }
    std::string question = input.substr(2, size);
    input.erase(0, 2 + size);
    auto answer = co_await proxy->answer(std::move(question));
    if (!answer || answer->empty()) co_return;
    std::string framed = {static_cast<char>(answer->size() >> 8), static_cast<char>(answer->size())};
    framed += *answer;
    auto written = co_await stream->write(std::move(framed));
    if (!written) co_return;
  }
}

asio::awaitable<void> serve_question_streams(std::unique_ptr<PortListener> listener,
                                             std::shared_ptr<egress::Proxy> proxy) {
  const auto executor = co_await asio::this_coro::executor;
  for (;;) {
    auto client = co_await listener->accept();
    if (!client) co_return;
    asio::co_spawn(executor, answer_stream(std::move(*client), proxy), asio::detached);
  }
}

// What the sandbox's programs trust already; empty if it has no such store.
Task<std::string> own_bundle(Files& files) {
  std::string path = "/etc/ssl/certs/ca-certificates.crt", user = "root";
  auto reader = co_await files.open_read(path, 0, std::nullopt, user);
  if (!reader) co_return std::string();
  std::string bundle;
  for (;;) {
    CO_TRY(const std::string piece, co_await (*reader)->next());
    if (piece.empty()) break;
    bundle += piece;
    if (bundle.size() > kBundleMax) co_return fail(Code::too_large, "the sandbox's trust store is too large");
  }
  if (!bundle.empty() && bundle.back() != '\n') bundle += '\n';
  co_return bundle;
}

Task<void> put(Files& files, std::string path, std::string text) {
  WriteOptions options;
  options.user = "root";
  CO_TRY(auto writer, co_await files.open_write(std::move(path), std::move(options)));
  CO_CHECK(co_await writer->write(std::move(text)));
  CO_CHECK(co_await writer->finish());
  co_return Result<void>();
}

}  // namespace

Result<void> check_port(Network network, std::uint16_t port) {
  if (network == Network::egress && is_proxy_port(port))
    return fail(Code::permission_denied, fmt::format("port {} is the sandbox's own way out", port));
  return {};
}

void hide_proxy_ports(Network network, std::vector<std::uint16_t>& ports) {
  if (network == Network::egress) std::erase_if(ports, is_proxy_port);
}

Task<void> open_proxy_endpoint(std::shared_ptr<GuestConnection> connection,
                               std::shared_ptr<egress::Proxy> proxy) {
  const auto executor = co_await asio::this_coro::executor;
  // Asked together, they cost one turn of the guest.
  using namespace asio::experimental::awaitable_operators;
  auto [proxy_port, resolver_port, datagram_port] =
      co_await (connection->listen(kProxyPort) && connection->listen(kResolverPort) &&
                connection->datagrams(kResolverPort));
  CO_TRY(auto clients, std::move(proxy_port));
  CO_TRY(auto streams, std::move(resolver_port));
  const auto questions = std::make_shared<Questions>();
  CO_TRY(questions->port, std::move(datagram_port));
  questions->proxy = proxy;
  asio::co_spawn(executor, serve_proxy(std::move(clients), proxy), asio::detached);
  asio::co_spawn(executor, serve_question_streams(std::move(streams), proxy), asio::detached);
  asio::co_spawn(executor, serve_questions(questions), asio::detached);
  connection->add_variables(proxy_variables());
  co_return Result<void>();
}

Task<void> trust_authority(std::shared_ptr<GuestConnection> connection, std::string certificate,
                           std::string directory) {
  const std::string bundle = fmt::format("{}/ca-certificates.crt", directory);
  const std::string alone = fmt::format("{}/egress-authority.crt", directory);
  CO_TRY(std::string trusted, co_await own_bundle(connection->files()));
  trusted += certificate;
  if (certificate.empty()) certificate = trusted;  // some complain of an empty one
  CO_CHECK(co_await put(connection->files(), bundle, std::move(trusted)));
  CO_CHECK(co_await put(connection->files(), alone, std::move(certificate)));
  connection->add_variables(trust_variables(bundle, alone));
  co_return Result<void>();
}

void say_network(Isolation& isolation, Network network) {
  std::erase_if(isolation.walls, [](const Wall& wall) { return wall.name == "network"; });
  isolation.walls.push_back({"network", network == Network::egress
                                            ? "egress: through the filtering proxy, no other route"
                                            : "none"});
}

Task<void> Sandbox::open_network(std::shared_ptr<egress::Proxy>) {
  co_return fail(Code::unsupported, "the provider lacks the trait 'network'");
}

Task<void> Sandbox::trust(std::string) {
  co_return fail(Code::unsupported, "the provider lacks the trait 'network'");
}

}  // namespace atl::sandbox
