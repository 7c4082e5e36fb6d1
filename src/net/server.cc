#include "net/server.h"

#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <tuple>

#include "base/ids.h"
#include "base/log.h"
#include "net/await.h"
#include "net/connection.h"
#include "net/tls_context.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Local = asio::local::stream_protocol;

std::string describe(const tcp::endpoint& endpoint) {
  std::string address = endpoint.address().to_string();
  return endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                    : fmt::format("{}:{}", address, endpoint.port());
}

std::string peer_of(tcp::socket& socket) {
  error_code error;
  tcp::endpoint endpoint = socket.remote_endpoint(error);
  return error ? "?" : describe(endpoint);
}
std::string peer_of(Local::socket&) {
  return "unix";
}

asio::awaitable<void> pause_for(const asio::any_io_executor& executor, std::chrono::milliseconds time) {
  asio::steady_timer timer(executor, time);
  co_await timer.async_wait(kAwait);
}

template <class Acceptor>
asio::awaitable<void> accept_loop(std::shared_ptr<Server::Shared> shared, std::shared_ptr<Acceptor> acceptor,
                                  std::shared_ptr<TlsContext> tls) {
  while (!shared->stopping) {
    if (shared->connections.size() >= shared->options.connections_max) {
      // What is shed is gone after a turn of the loop.
      co_await pause_for(shared->executor, std::chrono::milliseconds(shared->shed_idle() ? 0 : 20));
      continue;
    }
    auto [error, socket] = co_await acceptor->async_accept(kAwait);
    if (error) {
      if (shared->stopping || !acceptor->is_open()) co_return;
      // Out of descriptors, most likely, although we keep to our part of them.
      log::warn("accept failed", {{"reason", error.message()}});
      shared->shed_idle();
      co_await pause_for(shared->executor, std::chrono::milliseconds(100));
      continue;
    }
    std::string peer = peer_of(socket);
    Socket generic(std::move(socket));
    set_no_delay(generic);
    auto transport =
        tls ? make_tls_transport(std::move(generic), asio_context(*tls)) : make_transport(std::move(generic));
    auto connection = std::make_shared<Connection>(shared, std::move(transport), std::move(peer));
    asio::co_spawn(
        shared->executor, [connection] { return connection->run(); }, asio::detached);
  }
}

// One timer for all connections: a timer each would be set and canceled with every read and write. Deadlines
// are late by a period at most.
asio::awaitable<void> sweep_loop(std::weak_ptr<Server::Shared> weak, std::chrono::milliseconds period) {
  while (auto shared = weak.lock()) {
    shared->sweep.expires_after(period);
    auto [error] = co_await shared->sweep.async_wait(kAwait);
    if (error || (shared->stopping && shared->connections.empty())) co_return;
    auto now = Steady::now();
    for (auto& connection : shared->held_connections()) connection->check_deadline(now);
    shared->bodies.trim();
  }
}

template <class Acceptor>
void begin(std::shared_ptr<Server::Shared> shared, std::shared_ptr<Acceptor> acceptor,
           std::shared_ptr<TlsContext> tls) {
  shared->close_listeners.push_back([acceptor] {
    error_code ignored;
    acceptor->close(ignored);
  });
  asio::co_spawn(shared->executor, accept_loop(shared, acceptor, std::move(tls)), asio::detached);
}

Error listen_error(std::string_view address, const error_code& error) {
  // An address that is taken is told apart from one that is wrong.
  Error base = errno_error(error.value(), fmt::format("listen on {}", address));
  if (error != asio::error::address_in_use) return base;
  return Error(Code::conflict, base.message() +
                                   ": another program listens there; end it, or choose another "
                                   "address with --listen HOST:PORT");
}

template <class Acceptor, class Endpoint>
Result<void> open_acceptor(Acceptor& acceptor, const Endpoint& endpoint, std::string_view address) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  // Connections of the daemon before this one linger for a minute in the kernel; without this nothing could
  // listen until then.
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(4096, error);
  if (error) return fail(listen_error(address, error));
  return {};
}

Result<tcp::endpoint> resolve(const asio::any_io_executor& executor, std::string_view address) {
  auto colon = address.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == address.size()) {
    return fail(Code::invalid_argument, fmt::format("expected HOST:PORT or unix:PATH, got '{}'", address));
  }
  std::uint16_t port = 0;
  auto [end, wrong] = std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  if (wrong != std::errc() || end != address.data() + address.size()) {
    return fail(Code::invalid_argument, fmt::format("no port number in '{}'", address));
  }
  std::string host(address.substr(0, colon));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "0.0.0.0";
  tcp::resolver resolver(executor);
  error_code error;
  auto found = resolver.resolve(host, std::string(address.substr(colon + 1)),
                                tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    return fail(Code::invalid_argument, fmt::format("cannot listen on '{}': {}", address, error.message()));
  }
  return found.begin()->endpoint();
}

// Often enough that a deadline is at most a quarter late.
std::chrono::milliseconds sweep_period(const ServerOptions& options) {
  auto least =
      std::min({options.header_time, options.idle_time, options.body_stall_time, options.write_stall_time});
  return std::clamp(least / 4, std::chrono::milliseconds(10), std::chrono::milliseconds(500));
}

}  // namespace

Server::Shared::Shared(asio::any_io_executor executor_, ServerOptions options_)
    : executor(std::move(executor_)),
      options(std::move(options_)),
      bodies(options.bodies),
      sweep(executor),
      id_prefix_("req_" + random_word(8)) {
  bodies.on_shortage([this] { cut_stalled_bodies(); });
}

std::vector<std::shared_ptr<Connection>> Server::Shared::held_connections() {
  std::vector<std::shared_ptr<Connection>> held;
  held.reserve(connections.size());
  for (Connection* connection : connections) {
    if (auto one = connection->weak_from_this().lock()) held.push_back(std::move(one));
  }
  return held;
}

bool Server::Shared::shed_idle() {
  auto held = held_connections();
  std::erase_if(held, [](const auto& one) {
    // Phase::head too: a client that sends a head byte by byte is no better than an idle one.
    const bool waits = one->phase() == Phase::idle || one->phase() == Phase::head;
    return !waits || one->gone || one->upgraded;
  });
  if (held.empty()) return false;
  // Several at once, so that looking through all of them is paid for by many.
  const std::size_t wanted = std::max<std::size_t>(1, std::min(held.size(), options.connections_max / 64));
  const auto last = held.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
  std::nth_element(held.begin(), last, held.end(), [](const auto& a, const auto& b) {
    // Connections that were told to close and have not noticed yet cost nothing to drop.
    return std::tuple(!a->closing, a->admitted, a->waits_since()) <
           std::tuple(!b->closing, b->admitted, b->waits_since());
  });
  for (auto one = held.begin(); one <= last; ++one) (*one)->abort();
  return true;
}

std::shared_ptr<void> Server::Shared::hold(const std::string& holder) {
  ++holders[holder];
  // Its deleter counts down; there is no object behind it. Every share is held by a Connection, which keeps
  // this alive.
  return {nullptr, [this, holder](void*) {
            const auto found = holders.find(holder);
            if (--found->second == 0) holders.erase(found);
          }};
}

bool Server::Shared::is_crowded_by(const std::string& holder) const {
  const std::size_t most = options.connections_max;
  const auto found = holders.find(holder);
  // Only when it matters: on an idle server one tenant may have them all.
  return connections.size() >= most - most / 8 && found != holders.end() && found->second > most / 2;
}

void Server::Shared::cut_stalled_bodies() {
  constexpr std::chrono::seconds kStall{2};
  // Every piece of every body may report the shortage; walking through all connections that often would be an
  // attack by itself.
  constexpr std::chrono::milliseconds kLookEvery{100};
  const auto now = Steady::now();
  if (now - stalled_looked_at_ < kLookEvery) return;
  stalled_looked_at_ = now;
  for (auto& one : held_connections()) {
    const bool stalls = one->phase() == Phase::body && now - one->waits_since() >= kStall;
    if (stalls && one->gathered_bytes > 0) one->time_out();
  }
}

Server::Shared::Site* Server::Shared::site_for(const Request& request) {
  for (auto& site : sites) {
    if (site->accepts(request)) return site.get();
  }
  return nullptr;
}

std::string Server::Shared::next_request_id() {
  return fmt::format("{}{:08x}", id_prefix_, ++id_count_);
}

const std::string& Server::Shared::date() {
  std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    date_second_ = now;
    std::tm parts{};
    ::gmtime_r(&now, &parts);
    std::array<char, 40> text;
    date_.assign(text.data(), std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts));
  }
  return date_;
}

Server::Server(asio::any_io_executor executor, ServerOptions options)
    : shared_(std::make_shared<Shared>(std::move(executor), std::move(options))) {
  asio::co_spawn(shared_->executor, sweep_loop(shared_, sweep_period(shared_->options)), asio::detached);
}

Server::~Server() {
  shared_->stopping = true;
  for (auto& close : shared_->close_listeners) close();
  shared_->sweep.cancel();
}

Router& Server::router() {
  return shared_->router;
}

Router& Server::add_site(std::function<bool(const Request&)> accepts, Answers answers) {
  shared_->sites.push_back(
      std::make_unique<Shared::Site>(Shared::Site{std::move(accepts), Router(), answers}));
  return shared_->sites.back()->router;
}

std::vector<const Router*> Server::routers() const {
  std::vector<const Router*> all{&shared_->router};
  for (const auto& site : shared_->sites) all.push_back(&site->router);
  return all;
}

void Server::set_subject_of(SubjectOf subject_of) {
  shared_->subject_of = std::move(subject_of);
}

void Server::set_degraded(std::string parts) {
  shared_->degraded = std::move(parts);
}

void Server::set_access_sink(AccessSink sink) {
  shared_->access = std::move(sink);
}

Result<std::string> Server::listen(std::string_view address, std::shared_ptr<TlsContext> tls) {
  if (address.starts_with("unix:")) {
    std::string path(address.substr(5));
    if (path.empty() || path.size() > 107)
      return fail(Code::invalid_argument, "a socket path has 1 to 107 bytes");
    struct stat info {};
    // A socket that a killed daemon left is in the way of bind(); anything else of that name is somebody's
    // file.
    if (::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) ::unlink(path.c_str());
    auto acceptor = std::make_shared<Local::acceptor>(shared_->executor);
    // The mode of the socket is the right to connect, and must hold from its first moment: chmod() would come
    // too late.
    mode_t old = ::umask(0177);
    Result<void> opened = open_acceptor(*acceptor, Local::endpoint(path), address);
    ::umask(old);
    if (!opened) return fail(std::move(opened).error());
    begin(shared_, acceptor, std::move(tls));
    shared_->close_listeners.push_back([path] { ::unlink(path.c_str()); });
    return std::string(address);
  }
  tcp::endpoint endpoint = TRY(resolve(shared_->executor, address));
  auto acceptor = std::make_shared<tcp::acceptor>(shared_->executor);
  TRY(open_acceptor(*acceptor, endpoint, address));
  std::string real = describe(acceptor->local_endpoint());
  begin(shared_, acceptor, std::move(tls));
  return real;
}

asio::awaitable<void> Server::stop(std::chrono::milliseconds grace) {
  auto shared = shared_;
  shared->stopping = true;
  for (auto& close : shared->close_listeners) close();
  shared->close_listeners.clear();
  auto each = [&](auto&& act) {
    for (auto& connection : shared->held_connections()) act(*connection);
  };
  each([](Connection& connection) { connection.close_when_done(); });
  auto deadline = Steady::now() + grace;
  while (!shared->connections.empty() && Steady::now() < deadline) {
    co_await pause_for(shared->executor, std::chrono::milliseconds(5));
  }
  each([](Connection& connection) { connection.abort(); });
  // Aborted coroutines need turns of the loop to end; two seconds is more than any takes.
  for (int i = 0; i < 400 && !shared->connections.empty(); ++i) {
    co_await pause_for(shared->executor, std::chrono::milliseconds(5));
  }
  shared->sweep.cancel();
}

const BodyBudget& Server::bodies() const {
  return shared_->bodies;
}

void Server::cut_if(const std::function<bool(const void* grant)>& unwanted) {
  for (const auto& connection : shared_->held_connections())
    if (connection->grant && unwanted(connection->grant.get())) connection->reset();
}

std::size_t Server::connections() const {
  return shared_->connections.size();
}

}  // namespace atl::net
