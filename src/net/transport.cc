#include "net/transport.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/result.h"
#include "net/await.h"

namespace atl::net {
namespace {

namespace asio = boost::asio;
using Buffers = std::span<const asio::const_buffer>;

// What is left of `buffers` after `sent` bytes.
std::vector<asio::const_buffer> remaining(Buffers buffers, std::size_t sent) {
  std::vector<asio::const_buffer> left;
  for (asio::const_buffer buffer : buffers) {
    std::size_t skip = std::min(sent, buffer.size());
    sent -= skip;
    if (buffer.size() > skip) left.push_back(buffer + skip);
  }
  return left;
}

bool hung_up(int fd) {
  pollfd asked{fd, 0, 0};
  return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLERR | POLLHUP)) != 0;
}

// The loop tells of a change only once: what happened before this call is asked for.
template <class Ended>
void await_departure(Socket& socket, Socket::wait_type change, Ended ended, std::function<void()> left) {
  if (ended(socket.native_handle())) return left();
  socket.async_wait(change, [left = std::move(left)](error_code error) {
    if (error != asio::error::operation_aborted) left();
  });
}

class PlainTransport final : public Transport {
 public:
  explicit PlainTransport(Socket socket) : socket_(std::move(socket)) {}

  asio::awaitable<Read> read_some(asio::mutable_buffer into) override {
    auto [error, size] = co_await socket_.async_read_some(into, kAwait);
    co_return Read{error, size};
  }
  void read_some(asio::mutable_buffer into, std::function<void(error_code, std::size_t)> done) override {
    socket_.async_read_some(into, std::move(done));
  }

  // Tries without waiting first: an answer that fits the kernel's buffer costs one system call and no turn of
  // the loop.
  asio::awaitable<error_code> write(Buffers buffers) override {
    std::size_t total = asio::buffer_size(buffers);
    std::size_t sent = send_now(buffers);
    if (sent == total) co_return error_code();
    auto left = remaining(buffers, sent);
    auto [error, size] = co_await asio::async_write(socket_, left, kAwait);
    co_return error;
  }

  asio::awaitable<void> shut_down_write() override {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }
  void try_send(std::string_view bytes) override {
    asio::const_buffer buffer(bytes.data(), bytes.size());
    send_now(Buffers(&buffer, 1));
  }
  void on_departure(std::function<void()> left) override {
    await_departure(
        socket_, Socket::wait_error, [](int fd) { return hung_up(fd); }, std::move(left));
  }
  Socket& socket() override { return socket_; }

 private:
  std::size_t send_now(Buffers buffers) {
    std::array<iovec, 8> parts;
    std::size_t count = std::min(parts.size(), buffers.size());
    for (std::size_t i = 0; i < count; ++i) {
      parts[i].iov_base = const_cast<void*>(buffers[i].data());  // JUSTIFICATION: iovec has no const form
      parts[i].iov_len = buffers[i].size();
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    ssize_t sent = ::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }

  Socket socket_;
};

class TlsTransport final : public Transport {
 public:
  TlsTransport(Socket socket, asio::ssl::context& context, const std::string& client_host)
      : stream_(std::make_unique<TlsStream>(std::move(socket), context)), client_(!client_host.empty()) {
    if (!client_) return;
    SSL_set_tlsext_host_name(stream_->native_handle(), client_host.c_str());
    SSL_set1_host(stream_->native_handle(), client_host.c_str());
  }

  asio::awaitable<Read> read_some(asio::mutable_buffer into) override {
    auto [error, size] = co_await stream_->async_read_some(into, kAwait);
    co_return Read{error, size};
  }
  void read_some(asio::mutable_buffer into, std::function<void(error_code, std::size_t)> done) override {
    stream_->async_read_some(into, std::move(done));
  }
  asio::awaitable<error_code> write(Buffers buffers) override {
    // One record per call of the engine: small pieces are joined so that head and body travel together.
    std::size_t total = asio::buffer_size(buffers);
    if (buffers.size() > 1 && total <= 16384) {
      std::string joined;
      joined.reserve(total);
      for (asio::const_buffer buffer : buffers)
        joined.append(static_cast<const char*>(buffer.data()), buffer.size());
      auto [error, size] = co_await asio::async_write(*stream_, asio::buffer(joined), kAwait);
      co_return error;
    }
    auto [error, size] = co_await asio::async_write(*stream_, remaining(buffers, 0), kAwait);
    co_return error;
  }
  asio::awaitable<error_code> handshake() override {
    auto side = client_ ? asio::ssl::stream_base::client : asio::ssl::stream_base::server;
    auto [error] = co_await stream_->async_handshake(side, kAwait);
    co_return error;
  }
  asio::awaitable<void> shut_down_write() override {
    // Only close_notify goes out; waiting for the other side's answer would hold a slow client's place.
    SSL_set_quiet_shutdown(stream_->native_handle(), 0);
    auto [error] = co_await stream_->async_shutdown(kAwait);
    (void)error;
  }
  // A client that only ended its half of TLS keeps the connection below it.
  void on_departure(std::function<void()> left) override {
    auto ended = [](int fd) {
      char byte = 0;
      const ssize_t got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
      return got >= 0 || (errno != EAGAIN && errno != EINTR);
    };
    await_departure(stream_->next_layer(), Socket::wait_read, ended, std::move(left));
  }
  Socket& socket() override { return stream_->next_layer(); }
  std::unique_ptr<TlsStream> release_tls() override { return std::move(stream_); }
  bool secure() const override { return true; }
  std::string subject() const override {
    SSL* const tls = stream_->native_handle();
    const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(tls), X509_free);
    if (!shown || SSL_get_verify_result(tls) != X509_V_OK) return {};
    const X509_NAME* name = X509_get_subject_name(shown.get());
    const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
    // A certificate with two common names does not say whose it is.
    if (at < 0 || X509_NAME_get_index_by_NID(name, NID_commonName, at) >= 0) return {};
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size < 0) return {};
    // JUSTIFICATION: OpenSSL's char type
    std::string common(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
    return common.find('\0') == std::string::npos ? common : std::string();
  }

 private:
  std::unique_ptr<TlsStream> stream_;
  bool client_;
};

}  // namespace

void Transport::close() {
  error_code ignored;
  socket().shutdown(Socket::shutdown_both, ignored);
  socket().close(ignored);
}

void Transport::reset() {
  error_code ignored;
  socket().set_option(asio::socket_base::linger(true, 0), ignored);
  socket().close(ignored);
}

std::unique_ptr<Transport> make_transport(Socket socket) {
  return std::make_unique<PlainTransport>(std::move(socket));
}

std::unique_ptr<Transport> make_tls_transport(Socket socket, asio::ssl::context& context,
                                              const std::string& client_host) {
  return std::make_unique<TlsTransport>(std::move(socket), context, client_host);
}

void set_no_delay(Socket& socket) {
  int on = 1;
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NODELAY, &on,
               sizeof on);  // refused for Unix sockets: fine
}

Error transport_error(const error_code& error, std::string_view doing) {
  if (error == asio::error::operation_aborted)
    return Error(Code::canceled, fmt::format("{}: canceled", doing));
  if (error.category() == boost::system::system_category()) return errno_error(error.value(), doing);
  return Error(Code::unavailable, fmt::format("{}: {}", doing, error.message()));
}

}  // namespace atl::net
