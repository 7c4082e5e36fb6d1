#pragma once

#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/json.hpp>
#include <cstdlib>
#include <functional>
#include <list>
#include <string>
#include <thread>

#include "os/fd.h"

// Servers on loopback for the tests of this room: one whose answers a function gives, and one between us and
// a server that does it harm.
namespace atl::index {

inline os::Fd listen_on_loopback(std::uint16_t& port) {
  os::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd.get(), 64) != 0)
    std::abort();
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return fd;
}

// Takes connections one after the other and hands each to a thread.
class Listener {
 public:
  explicit Listener(std::function<void(int)> serve, std::uint16_t port = 0)
      : port_(port), serve_(std::move(serve)), fd_(listen_on_loopback(port_)) {
    thread_ = std::thread([this] { run(); });
  }
  ~Listener() {
    stopping_ = true;
    thread_.join();
    for (std::thread& one : served_) one.join();
  }
  std::uint16_t port() const { return port_; }
  bool is_stopping() const { return stopping_; }

 private:
  void run() {
    while (!stopping_) {
      pollfd watched{fd_.get(), POLLIN, 0};
      if (::poll(&watched, 1, 10) <= 0) continue;
      const int peer = ::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) continue;
      served_.emplace_back([this, peer] {
        const os::Fd mine(peer);
        serve_(peer);
      });
    }
  }
  std::uint16_t port_;
  std::function<void(int)> serve_;
  os::Fd fd_;
  std::atomic<bool> stopping_ = false;
  std::list<std::thread> served_;
  std::thread thread_;
};

// One request a connection; the answer is what the function gives.
class LocalServer {
 public:
  struct Request {
    std::string method, target, head;
    boost::json::value body;
  };
  struct Reply {
    int status = 200;
    std::string body;
  };
  using Answer = std::function<Reply(const Request&)>;
  explicit LocalServer(Answer answer, std::uint16_t port = 0)
      : answer_(std::move(answer)), listener_([this](int fd) { serve(fd); }, port) {}
  std::uint16_t port() const { return listener_.port(); }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port()); }

 private:
  void serve(int fd) {
    std::string text;
    std::size_t end = std::string::npos, length = 0;
    char bytes[65536];
    while (end == std::string::npos || text.size() < end + 4 + length) {
      const ssize_t got = ::read(fd, bytes, sizeof bytes);
      if (got <= 0) return;
      text.append(bytes, static_cast<std::size_t>(got));
      if (end == std::string::npos) {
        end = text.find("\r\n\r\n");
        const auto at = text.find("Content-Length: ");
        if (at != std::string::npos) length = std::strtoull(text.c_str() + at + 16, nullptr, 10);
      }
    }
    Request request;
    request.head = text.substr(0, end);
    const auto first = text.find(' '), second = text.find(' ', first + 1);
    request.method = text.substr(0, first);
    request.target = text.substr(first + 1, second - first - 1);
    if (length > 0) request.body = boost::json::parse(text.substr(end + 4));
    const Reply reply = answer_(request);
    const std::string out =
        fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                    reply.status, reply.body.size(), reply.body);
    for (std::size_t at = 0; at < out.size();) {
      const ssize_t put = ::send(fd, out.data() + at, out.size() - at, MSG_NOSIGNAL);
      if (put <= 0) return;
      at += static_cast<std::size_t>(put);
    }
  }
  Answer answer_;
  Listener listener_;
};

// Between us and a server.
class FaultProxy {
 public:
  enum class Fault : std::uint8_t {
    none,
    cut,      // the connection ends at once
    stall,    // nothing comes
    half,     // half of the answer, then the end
    deaf,     // the request arrives and the answer is lost
    garbage,  // something else answers
  };
  explicit FaultProxy(std::uint16_t target) : target_(target), listener_([this](int fd) { serve(fd); }) {}
  std::string url() const { return fmt::format("http://127.0.0.1:{}", listener_.port()); }
  std::atomic<Fault> fault = Fault::none;
  std::atomic<int> met = 0;  // connections that a fault met

 private:
  void serve(int peer) {
    const Fault now = fault;
    if (now != Fault::none) ++met;
    if (now == Fault::cut) return;
    if (now == Fault::garbage) {
      const std::string text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
      char bytes[65536];
      if (::read(peer, bytes, sizeof bytes) > 0) (void)::send(peer, text.data(), text.size(), MSG_NOSIGNAL);
      return;
    }
    const os::Fd server(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(target_);
    if (now != Fault::stall &&
        ::connect(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      return;
    while (!listener_.is_stopping()) {
      pollfd watched[] = {{peer, POLLIN, 0}, {server.get(), POLLIN, 0}};
      if (::poll(watched, now == Fault::stall ? 1 : 2, 10) <= 0) continue;
      char bytes[65536];
      if (watched[0].revents != 0) {
        const ssize_t got = ::read(peer, bytes, sizeof bytes);
        if (got <= 0) return;
        if (now != Fault::stall)
          (void)::send(server.get(), bytes, static_cast<std::size_t>(got), MSG_NOSIGNAL);
      }
      if (now == Fault::stall || watched[1].revents == 0) continue;
      ssize_t got = ::read(server.get(), bytes, sizeof bytes);
      if (got <= 0 || now == Fault::deaf) return;
      if (now == Fault::half) got /= 2;
      (void)::send(peer, bytes, static_cast<std::size_t>(got), MSG_NOSIGNAL);
      if (now == Fault::half) return;
    }
  }
  std::uint16_t target_;
  Listener listener_;
};

}  // namespace atl::index
