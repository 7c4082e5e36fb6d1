#pragma once

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <functional>
#include <thread>

#include "net/server.h"
#include "net/tls.h"
#include "os/fd.h"

// A server on a loop of its own and a bare socket to talk to it: what the tests of the room share.
namespace atl::net {

// The rule of routes that are open to all.
class Anyone final : public Guard {
 public:
  Task<std::optional<Response>> admit(Request&) const override { co_return std::nullopt; }
};
inline AccessRule anyone() {
  return std::make_shared<Anyone>();
}

// Looks until it is true, for at most 20 s; whether it is. On a thread of the test.
inline bool comes_to(const std::function<bool()>& true_now) {
  using namespace std::chrono_literals;
  for (const auto until = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < until;) {
    if (true_now()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return true_now();
}

// The same for a handler, on the loop.
template <class Condition>
boost::asio::awaitable<bool> comes_to_on_loop(Condition true_now) {
  using namespace std::chrono_literals;
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  for (const auto until = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < until;) {
    if (true_now()) co_return true;
    timer.expires_after(5ms);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  co_return true_now();
}

class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}) : server(loop.get_executor(), std::move(options)) {}
  ~TestServer() { stop(std::chrono::milliseconds(0)); }

  std::string start(std::string_view address = "127.0.0.1:0", std::shared_ptr<TlsContext> tls = nullptr) {
    auto real = server.listen(address, std::move(tls));
    if (!real) return real.error().message();
    if (!thread.joinable()) thread = std::thread([this] { loop.run(); });
    where = *real;
    return where;
  }
  void stop(std::chrono::milliseconds grace) {
    if (!thread.joinable()) return;
    boost::asio::co_spawn(loop, server.stop(grace), boost::asio::use_future).get();
    boost::asio::post(loop, [this] { loop.stop(); });
    thread.join();
  }
  // Asked on the loop, which owns them.
  std::size_t connections() {
    return boost::asio::post(loop, boost::asio::use_future([this] { return server.connections(); })).get();
  }
  int port() const { return std::stoi(where.substr(where.rfind(':') + 1)); }

  boost::asio::io_context loop;
  Server server;
  std::string where;
  std::thread thread;
};

class RawClient {
 public:
  explicit RawClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    limit_waiting();
  }
  explicit RawClient(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    limit_waiting();
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // What is there, waiting for at least a byte. Empty: closed, reset or nothing for five seconds.
  std::string receive(std::size_t max = 65536) {
    std::string bytes(max, '\0');
    ssize_t got = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
    reset = got < 0;
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  std::string receive_until(std::string_view mark) {
    std::string all;
    while (all.find(mark) == std::string::npos) {
      std::string more = receive();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }
  std::string receive_all() {
    std::string all;
    while (true) {
      std::string more = receive();
      if (more.empty()) return all;
      all += more;
    }
  }
  void close() { fd_.reset(); }
  int fd() const { return fd_.get(); }

  bool connected = false;
  bool reset = false;

 private:
  void limit_waiting() {
    timeval time{5, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  }
  os::Fd fd_;
};

inline std::string get(std::string_view path, std::string_view more = "") {
  return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n{}\r\n", path, more);
}

}  // namespace atl::net
