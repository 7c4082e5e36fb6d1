#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

// For tests: a service on the loop of the test that answers whatever the test says.
namespace atl::sandbox::e2b {

class FakeService {
 public:
  struct Asked {
    std::string line;  // "GET /sandboxes/x"
    std::string head, body;
  };
  // The whole answer; empty: the connection is closed without one.
  using Answer = std::function<std::string(const Asked&)>;

  FakeService(boost::asio::io_context& loop, Answer answer)
      : acceptor_(loop, {boost::asio::ip::address_v4::loopback(), 0}), answer_(std::move(answer)) {
    boost::asio::co_spawn(loop, accept(), boost::asio::detached);
  }

  static std::string json(int status, const std::string& body, const std::string& headers = {}) {
    return "HTTP/1.1 " + std::to_string(status) +
           " X\r\nContent-Type: application/json\r\nConnection: close\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  const std::vector<Asked>& asked() const { return asked_; }
  // How often such a line was asked.
  std::size_t count(const std::string& line) const {
    std::size_t found = 0;
    for (const Asked& one : asked_) found += one.line.starts_with(line) ? 1 : 0;
    return found;
  }

 private:
  static constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);

  boost::asio::awaitable<void> accept() {
    for (;;) {
      auto [error, socket] = co_await acceptor_.async_accept(kAwait);
      if (error) co_return;
      boost::asio::co_spawn(acceptor_.get_executor(), serve(std::move(socket)), boost::asio::detached);
    }
  }
  boost::asio::awaitable<void> serve(boost::asio::ip::tcp::socket socket) {
    std::string bytes;
    auto [error, size] = co_await boost::asio::async_read_until(socket, boost::asio::dynamic_buffer(bytes),
                                                                "\r\n\r\n", kAwait);
    if (error) co_return;
    Asked asked{bytes.substr(0, bytes.find(" HTTP/")), bytes.substr(0, size), bytes.substr(size)};
    std::size_t length = 0;
    if (const std::size_t at = asked.head.find("Content-Length: "); at != std::string::npos)
      length = std::stoul(asked.head.substr(at + 16));
    if (asked.body.size() < length) {
      std::string rest(length - asked.body.size(), '\0');
      auto [short_read, got] = co_await boost::asio::async_read(socket, boost::asio::buffer(rest), kAwait);
      asked.body += rest.substr(0, got);
    }
    asked_.push_back(asked);
    const std::string answer = answer_(asked);
    if (!answer.empty()) co_await boost::asio::async_write(socket, boost::asio::buffer(answer), kAwait);
  }

  boost::asio::ip::tcp::acceptor acceptor_;
  Answer answer_;
  std::vector<Asked> asked_;
};

}  // namespace atl::sandbox::e2b
