#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// For tests: an engine that answers whatever the test says, at a socket of this machine, in a thread of its
// own.
namespace atl::sandbox::docker {

class FakeEngine {
 public:
  struct Asked {
    std::string line;  // "GET /v1.41/info"
    std::string body;
  };
  // The whole answer; empty: the connection is closed without one.
  using Answer = std::function<std::string(const Asked&)>;

  FakeEngine(const std::string& path, Answer answer) : answer_(std::move(answer)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // JUSTIFICATION: the system call takes addresses of every kind by this type
    ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(listener_, 16);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeEngine() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
    for (const int fd : kept_) ::close(fd);
  }
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;

  static std::string json(int status, const std::string& body) {
    return "HTTP/1.1 " + std::to_string(status) +
           " X\r\nContent-Type: application/json\r\nConnection: close\r\n" +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  // How often a line with these words in it was asked.
  std::size_t count(const std::string& words) {
    const std::lock_guard hold(mutex_);
    std::size_t found = 0;
    for (const Asked& one : asked_) found += one.line.find(words) != std::string::npos ? 1 : 0;
    return found;
  }
  // The body of the last such request.
  std::string last(const std::string& words) {
    const std::lock_guard hold(mutex_);
    std::string body;
    for (const Asked& one : asked_)
      if (one.line.find(words) != std::string::npos) body = one.body;
    return body;
  }

 private:
  void serve() {
    for (;;) {
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      const Asked asked = request(client);
      std::string answer;
      {
        const std::lock_guard hold(mutex_);
        asked_.push_back(asked);
        answer = answer_(asked);
      }
      (void)!::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
      // One that was upgraded stays.
      if (answer.starts_with("HTTP/1.1 101"))
        kept_.push_back(client);
      else
        ::close(client);
    }
  }
  static Asked request(int client) {
    std::string bytes;
    std::size_t end = std::string::npos, length = 0;
    char buffer[65536];
    while (end == std::string::npos || bytes.size() < end + 4 + length) {
      const ssize_t got = ::recv(client, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      bytes.append(buffer, static_cast<std::size_t>(got));
      if (end != std::string::npos || (end = bytes.find("\r\n\r\n")) == std::string::npos) continue;
      if (const std::size_t at = bytes.find("Content-Length: "); at < end)
        length = std::stoul(bytes.substr(at + 16));
    }
    return {bytes.substr(0, bytes.find(" HTTP/")), end == std::string::npos ? "" : bytes.substr(end + 4)};
  }

  Answer answer_;
  int listener_ = -1;
  std::mutex mutex_;
  std::vector<Asked> asked_;
  std::vector<int> kept_;
  std::thread thread_;
};

}  // namespace atl::sandbox::docker
