#include "egress/tls_stream.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "egress/address.h"

namespace atl::egress {
namespace {

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

std::string openssl_reason() {
  const auto code = ERR_get_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return reason == nullptr ? "connection closed" : reason;
}

class TlsStream final : public ByteStream {
 public:
  TlsStream(std::unique_ptr<ByteStream> stream, SSL_CTX& context)
      : stream_(std::move(stream)), ssl_(SSL_new(&context)) {
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    BIO_set_mem_eof_return(in_, -1);
    SSL_set_bio(ssl_.get(), in_, out_);  // owns both
  }

  SSL* ssl() { return ssl_.get(); }

  Task<void> handshake() {
    for (;;) {
      const int result = SSL_do_handshake(ssl_.get());
      const int why = SSL_get_error(ssl_.get(), result);
      CO_CHECK(co_await flush());
      if (result == 1) co_return Result<void>();
      if (why != SSL_ERROR_WANT_READ)
        co_return fail(Code::unavailable, fmt::format("TLS handshake: {}", openssl_reason()));
      CO_CHECK(co_await feed());
    }
  }

  Task<std::string> read() override {
    std::string bytes(kBlock, '\0');
    for (;;) {
      const int count = SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
      if (count > 0) {
        bytes.resize(static_cast<std::size_t>(count));
        co_return bytes;
      }
      const int why = SSL_get_error(ssl_.get(), count);
      CO_CHECK(co_await flush());
      if (why == SSL_ERROR_ZERO_RETURN) co_return std::string();
      if (why != SSL_ERROR_WANT_READ)
        co_return fail(Code::unavailable, fmt::format("TLS: {}", openssl_reason()));
      auto fed = co_await feed();
      // A peer that closes without saying goodbye ends the data; HTTP's own framing tells whether it was
      // complete.
      if (!fed) co_return std::string();
    }
  }

  Task<void> write(std::string bytes) override {
    if (!bytes.empty() && SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) <= 0) {
      co_return fail(Code::unavailable, fmt::format("TLS: {}", openssl_reason()));
    }
    co_return co_await flush();
  }

  Task<void> close_write() override {
    SSL_shutdown(ssl_.get());
    CO_CHECK(co_await flush());
    co_return co_await stream_->close_write();
  }

 private:
  static constexpr std::size_t kBlock = 16U << 10;

  // Sends what OpenSSL wants to say.
  Task<void> flush() {
    std::string bytes(BIO_ctrl_pending(out_), '\0');
    if (bytes.empty()) co_return Result<void>();
    BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()));
    co_return co_await stream_->write(std::move(bytes));
  }

  Task<void> feed() {
    CO_TRY(auto bytes, co_await stream_->read());
    if (bytes.empty()) co_return fail(Code::unavailable, "the peer closed the connection");
    BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
    co_return Result<void>();
  }

  std::unique_ptr<ByteStream> stream_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
};

}  // namespace

Task<std::unique_ptr<ByteStream>> accept_tls(std::unique_ptr<ByteStream> stream, ssl_ctx_st& context) {
  auto tls = std::make_unique<TlsStream>(std::move(stream), context);
  SSL_set_accept_state(tls->ssl());
  CO_CHECK(co_await tls->handshake());
  co_return tls;
}

Task<std::unique_ptr<ByteStream>> connect_tls_unverified(std::unique_ptr<ByteStream> stream,
                                                         ssl_ctx_st& context) {
  auto tls = std::make_unique<TlsStream>(std::move(stream), context);
  SSL_set_connect_state(tls->ssl());
  SSL_set_verify(tls->ssl(), SSL_VERIFY_NONE, nullptr);
  CO_CHECK(co_await tls->handshake());
  co_return tls;
}

Task<std::unique_ptr<ByteStream>> connect_tls(std::unique_ptr<ByteStream> stream, ssl_ctx_st& context,
                                              std::string name) {
  auto tls = std::make_unique<TlsStream>(std::move(stream), context);
  SSL_set_connect_state(tls->ssl());
  // An address is no server name (RFC 6066); it is verified all the same.
  if (!Address::parse(name)) SSL_set_tlsext_host_name(tls->ssl(), name.c_str());
  SSL_set_hostflags(tls->ssl(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  SSL_set1_host(tls->ssl(), name.c_str());
  SSL_set_verify(tls->ssl(), SSL_VERIFY_PEER, nullptr);
  auto done = co_await tls->handshake();
  const long verified = SSL_get_verify_result(tls->ssl());
  if (!done && verified != X509_V_OK)
    co_return fail(Code::unavailable, fmt::format("the certificate of {} is not good: {}", name,
                                                  X509_verify_cert_error_string(verified)));
  if (!done) co_return fail(std::move(done).error());
  co_return tls;
}

}  // namespace atl::egress
