#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "os/fd.h"

namespace atl::net {

// A server that answers every connection with the same bytes, whatever is asked: for tests of clients.
class LyingServer {
 public:
  enum class Then : std::uint8_t { close, stay_silent };
  struct Lie {
    std::string first;                   // sent once a head has come
    std::string again = {};              // then this, as long as anybody takes it, up to kSentMax
    Then then = Then::close;             // after all of that
    std::chrono::milliseconds pause{0};  // before each `again`
    bool speaks_first = false;           // before anything was asked
  };
  static constexpr std::uint64_t kSentMax = 1ULL << 30;

  explicit LyingServer(Lie lie)
      : lie_(std::move(lie)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_.get(), 16);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }
  ~LyingServer() {
    stopping_ = true;
    thread_.join();
  }
  LyingServer(const LyingServer&) = delete;
  LyingServer& operator=(const LyingServer&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::uint64_t sent() const { return sent_; }  // to all of them
  int taken() const { return taken_; }          // connections

 private:
  static constexpr int kLook = 50;  // milliseconds between looks whether it is over

  bool is_ready(int fd, short events) const {
    while (!stopping_) {
      pollfd one{fd, events, 0};
      if (::poll(&one, 1, kLook) > 0) return true;
    }
    return false;
  }
  void accept_all() {
    while (is_ready(listener_.get(), POLLIN)) {
      const os::Fd one(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (one.get() < 0) continue;
      ++taken_;
      answer(one.get());
    }
  }
  bool send(int fd, const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      if (!is_ready(fd, POLLOUT)) return false;
      const ssize_t put = ::send(fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (put <= 0) return false;
      at += static_cast<std::size_t>(put);
      sent_ += static_cast<std::uint64_t>(put);
    }
    return true;
  }
  void answer(int fd) {
    char bytes[4096];
    for (std::string head; !lie_.speaks_first && head.find("\r\n\r\n") == std::string::npos;) {
      if (!is_ready(fd, POLLIN)) return;
      const ssize_t got = ::recv(fd, bytes, sizeof bytes, 0);
      if (got <= 0) return;
      head.append(bytes, static_cast<std::size_t>(got));
    }
    if (!send(fd, lie_.first)) return;
    while (!lie_.again.empty() && sent_ < kSentMax && !stopping_ && send(fd, lie_.again))
      std::this_thread::sleep_for(lie_.pause);
    // The client leaves, or the test ends.
    while (lie_.then == Then::stay_silent && is_ready(fd, POLLIN) && ::recv(fd, bytes, sizeof bytes, 0) > 0) {
    }
  }

  Lie lie_;
  os::Fd listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::uint64_t> sent_ = 0;
  std::atomic<int> taken_ = 0;
  std::thread thread_;
};

}  // namespace atl::net
