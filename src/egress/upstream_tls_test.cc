// Servers that do not prove who they are, on loopback: refused, said to the client, and logged.
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "egress/machine.h"
#include "egress/proxy_harness.h"

namespace atl::egress {
namespace {

using Tcp = asio::ip::tcp;

// A key and a certificate for it.
struct Identity {
  std::shared_ptr<EVP_PKEY> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  std::shared_ptr<X509> certificate{X509_new(), X509_free};

  std::string pem() const {
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate.get());
    std::string text(BIO_ctrl_pending(bio), '\0');
    BIO_read(bio, text.data(), static_cast<int>(text.size()));
    BIO_free(bio);
    return text;
  }
};

struct Wanted {
  std::string alternative;  // "DNS:api.com"
  int from_days = -10, until_days = 10;
};

void add(X509* certificate, int nid, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  ASSERT_NE(extension, nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by `issuer`, or by itself.
Identity issue(const std::string& name, const Wanted& wanted, const Identity* issuer) {
  static long serial = 1;
  Identity made;
  X509* certificate = made.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_time_adj_ex(X509_getm_notBefore(certificate), wanted.from_days, 0, nullptr);
  X509_time_adj_ex(X509_getm_notAfter(certificate), wanted.until_days, 0, nullptr);
  X509_set_pubkey(certificate, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  const Identity& by = issuer == nullptr ? made : *issuer;
  X509_set_issuer_name(certificate, X509_get_subject_name(by.certificate.get()));
  if (wanted.alternative.empty()) {
    add(certificate, NID_basic_constraints, "critical,CA:TRUE");
  } else {
    add(certificate, NID_subject_alt_name, wanted.alternative);
  }
  X509_sign(certificate, by.key.get(), EVP_sha256());
  return made;
}

// Every address is the server of this test.
class Detour final : public Connector {
 public:
  Detour(Machine& machine, std::uint16_t port) : machine_(machine), port_(port) {}
  Task<std::unique_ptr<ByteStream>> connect(Address, std::uint16_t) override {
    co_return co_await machine_.connect(*Address::parse("127.0.0.1"), port_);
  }
  Task<std::unique_ptr<ByteStream>> secure(std::unique_ptr<ByteStream> stream, std::string name) override {
    return machine_.secure(std::move(stream), std::move(name));
  }

 private:
  Machine& machine_;
  std::uint16_t port_;
};

class UpstreamTls : public ProxyTest {
 protected:
  UpstreamTls() {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll-tls-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    std::ofstream(directory_ + "/trusted.pem") << root_.pem();
    ::setenv("SSL_CERT_FILE", (directory_ + "/trusted.pem").c_str(), 1);
    ::setenv("SSL_CERT_DIR", (directory_ + "/none").c_str(), 1);
    machine_ = std::make_unique<Machine>(loop.get_executor());
    ::unsetenv("SSL_CERT_FILE");
    ::unsetenv("SSL_CERT_DIR");
    detour_ = std::make_unique<Detour>(*machine_, acceptor_.local_endpoint().port());
    outside.names["api.com"] = {*Address::parse("1.1.1.1")};
    secrets->values["token"] = "s3cret";
    use({.allow = {"api.com", "1.1.1.1"},
         .inject = {{"api.com", {{"X-Key", "${secrets.token}"}}},
                    {"1.1.1.1", {{"X-Key", "${secrets.token}"}}}}},
        authority_.get(), detour_.get());
  }
  ~UpstreamTls() override { std::filesystem::remove_all(directory_); }

  // What a client inside gets from a server with this certificate.
  std::string ask(const Identity& server, const std::string& host = "api.com") {
    received_.clear();
    attempts.clear();
    context_.reset(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX_use_certificate(context_.get(), server.certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), server.key.get());
    asio::co_spawn(loop, serve_one(), asio::detached);
    TrustingClient client(*authority_);
    return client.ask(loop, *proxy, host, "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  }
  void expect_refused(const Identity& server, const std::string& why, const std::string& host = "api.com") {
    const std::string answer = ask(server, host);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 502 Bad Gateway\r\n")) << answer;
    EXPECT_NE(answer.find("the certificate of " + host + " is not good: " + why), std::string::npos)
        << answer;
    EXPECT_EQ(received_, "") << "nothing is sent to such a server";
    EXPECT_TRUE(secrets->asked.empty()) << "no secret is even asked for";
    ASSERT_FALSE(attempts.empty());
    EXPECT_FALSE(attempts.back().allowed);
    EXPECT_EQ(attempts.back().host, host);
    EXPECT_EQ(attempts.back().port, 443);
    EXPECT_NE(attempts.back().reason.find(why), std::string::npos) << attempts.back().reason;
  }

  const Identity root_ = issue("Test root", {}, nullptr);
  std::unique_ptr<Authority> authority_ = Authority::create().value();
  std::string received_;

 private:
  asio::awaitable<void> serve_one() {
    auto [error, socket] = co_await acceptor_.async_accept(kTuple);
    if (error) co_return;
    const auto context = context_;
    auto stream =
        co_await accept_tls(std::make_unique<SocketStream<Tcp::socket>>(std::move(socket)), *context);
    if (!stream) co_return;
    auto bytes = co_await (*stream)->read();
    if (!bytes || bytes->empty()) co_return;
    received_ = *bytes;
    std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    co_await (*stream)->write(std::move(answer));
    co_await (*stream)->close_write();
  }

  std::string directory_;
  Tcp::acceptor acceptor_{loop, {asio::ip::address_v4::loopback(), 0}};
  std::unique_ptr<Machine> machine_;
  std::unique_ptr<Detour> detour_;
  std::shared_ptr<SSL_CTX> context_;
};

TEST_F(UpstreamTls, SelfSigned) {
  expect_refused(issue("api.com", {"DNS:api.com"}, nullptr), "self-signed certificate");
}

TEST_F(UpstreamTls, OfAnUnknownAuthority) {
  const Identity stranger = issue("Stranger", {}, nullptr);
  expect_refused(issue("api.com", {"DNS:api.com"}, &stranger), "unable to get local issuer certificate");
}

TEST_F(UpstreamTls, OfTheSandboxesOwnAuthority) {
  // What a sandbox is made to trust the daemon does not: a neighbour cannot pose as a server with it.
  auto context = authority_->context_for("api.com").value();
  Identity forged;
  forged.certificate.reset(X509_dup(SSL_CTX_get0_certificate(context.get())), X509_free);
  forged.key.reset(EVP_PKEY_dup(SSL_CTX_get0_privatekey(context.get())), EVP_PKEY_free);
  expect_refused(forged, "unable to get local issuer certificate");
}

TEST_F(UpstreamTls, Expired) {
  expect_refused(issue("api.com", {"DNS:api.com", -20, -1}, &root_), "certificate has expired");
}

TEST_F(UpstreamTls, NotYetValid) {
  expect_refused(issue("api.com", {"DNS:api.com", 1, 20}, &root_), "certificate is not yet valid");
}

TEST_F(UpstreamTls, ForAnotherName) {
  expect_refused(issue("other.com", {"DNS:other.com"}, &root_), "hostname mismatch");
  expect_refused(issue("api.com", {"DNS:*.com"}, &root_), "hostname mismatch");
  expect_refused(issue("api.com", {"DNS:api.com.evil.com"}, &root_), "hostname mismatch");
  expect_refused(issue("api.com", {"DNS:a*.com"}, &root_), "hostname mismatch");
}

TEST_F(UpstreamTls, ForAnotherAddress) {
  expect_refused(issue("1.1.1.1", {"IP:1.1.1.2"}, &root_), "IP address mismatch", "1.1.1.1");
  expect_refused(issue("1.1.1.1", {"DNS:1.1.1.1"}, &root_), "IP address mismatch", "1.1.1.1");
}

TEST_F(UpstreamTls, GoodOnesGetTheHeader) {
  EXPECT_TRUE(ask(issue("api.com", {"DNS:api.com"}, &root_)).ends_with("hi"));
  EXPECT_NE(received_.find("X-Key: s3cret\r\n"), std::string::npos) << received_;
  EXPECT_TRUE(std::ranges::all_of(attempts, &Attempt::allowed));
  EXPECT_TRUE(ask(issue("1.1.1.1", {"IP:1.1.1.1"}, &root_), "1.1.1.1").ends_with("hi"));
}

TEST(Authority, MakesAnyNumberOfNames) {
  const auto authority = Authority::create().value();
  const auto first = authority->context_for("first.com").value();
  for (std::size_t i = 0; i < Authority::kReadyMax; ++i) {
    ASSERT_TRUE(authority->context_for("n" + std::to_string(i) + ".com"));
    if (i % 100 == 0) {
      EXPECT_EQ(authority->context_for("first.com").value(), first) << "in use, so kept";
    }
  }
  for (std::size_t i = 0; i < Authority::kReadyMax; ++i)
    ASSERT_TRUE(authority->context_for("m" + std::to_string(i) + ".com"));
  EXPECT_NE(authority->context_for("first.com").value(), first) << "made again";
}

}  // namespace
}  // namespace atl::egress
