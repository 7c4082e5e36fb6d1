#include "net/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <array>

#include "net/tls_context.h"

namespace atl::net {
namespace {

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* pointer) const { Free(pointer); }
};
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY, EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Freed<X509, X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freed<X509_EXTENSION, X509_EXTENSION_free>>;
using Bio = std::unique_ptr<BIO, Freed<BIO, BIO_free_all>>;

std::unexpected<Error> openssl_failed(std::string_view doing) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  return fail(Error(Code::internal, fmt::format("{} failed", doing)).with_detail(text.data()));
}

bool add_extension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool is_address(const std::string& name) {
  std::array<unsigned char, 16> bytes;
  return ::inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

template <class Write>
std::string pem(Write&& write) {
  Bio bio(BIO_new(BIO_s_mem()));
  if (!bio || write(bio.get()) != 1) return {};
  char* data = nullptr;
  long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

class AsioTlsContext final : public TlsContext {
 public:
  boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
};

}  // namespace

Result<Certificate> make_self_signed(const std::vector<std::string>& names) {
  if (names.empty()) return fail(Code::invalid_argument, "a certificate needs a name");
  Key key(EVP_EC_gen("P-256"));
  Cert certificate(X509_new());
  if (!key || !certificate) return openssl_failed("make a key");
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::array<unsigned char, 8> serial;
  RAND_bytes(serial.data(), serial.size());
  serial[0] &= 0x7f;
  std::unique_ptr<BIGNUM, Freed<BIGNUM, BN_free>> number(BN_bin2bn(serial.data(), serial.size(), nullptr));
  BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate.get()));
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 10L * 365 * 24 * 3600);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto* common =
      reinterpret_cast<const unsigned char*>(names[0].c_str());  // JUSTIFICATION: OpenSSL's char type
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, common, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  std::string alternatives;
  for (const std::string& name : names) {
    alternatives +=
        fmt::format("{}{}:{}", alternatives.empty() ? "" : ",", is_address(name) ? "IP" : "DNS", name);
  }
  // No certificate authority: some clients (rustls) accept none as a server's own certificate, and trusting
  // this certificate should not mean trusting others that it signs.
  bool good = add_extension(certificate.get(), NID_basic_constraints, "critical,CA:FALSE") &&
              add_extension(certificate.get(), NID_subject_alt_name, alternatives) &&
              add_extension(certificate.get(), NID_ext_key_usage, "serverAuth") &&
              X509_sign(certificate.get(), key.get(), EVP_sha256()) != 0;
  if (!good) return openssl_failed("sign the certificate");
  Certificate made;
  made.chain_pem = pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate.get()); });
  made.key_pem = pem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  if (made.chain_pem.empty() || made.key_pem.empty()) return openssl_failed("write the certificate");
  return made;
}

Result<std::shared_ptr<TlsContext>> TlsContext::make(const Certificate& certificate) {
  auto made = std::make_shared<AsioTlsContext>();
  boost::system::error_code error;
  auto check = [&](std::string_view what) -> Result<void> {
    if (!error) return {};
    return fail(
        Error(Code::invalid_argument, fmt::format("TLS: {} is not usable: {}", what, error.message())));
  };
  SSL_CTX_set_min_proto_version(made->context.native_handle(), TLS1_2_VERSION);
  made->context.use_certificate_chain(boost::asio::buffer(certificate.chain_pem), error);
  TRY(check("the certificate"));
  made->context.use_private_key(boost::asio::buffer(certificate.key_pem), boost::asio::ssl::context::pem,
                                error);
  TRY(check("the private key"));
  if (SSL_CTX_check_private_key(made->context.native_handle()) != 1) {
    return fail(Code::invalid_argument, "TLS: the private key does not belong to the certificate");
  }
  if (!certificate.client_ca_pem.empty()) {
    made->context.add_certificate_authority(boost::asio::buffer(certificate.client_ca_pem), error);
    TRY(check("the authority of client certificates"));
    made->context.set_verify_mode(boost::asio::ssl::verify_peer, error);
    TRY(check("the verification of clients"));
    // Sessions that are resumed carry their client's certificate; OpenSSL wants to know for whom.
    constexpr std::string_view kName = "atoll";
    SSL_CTX_set_session_id_context(
        made->context.native_handle(),
        reinterpret_cast<const unsigned char*>(kName.data()),  // JUSTIFICATION: OpenSSL's char type
        kName.size());
  }
  return std::shared_ptr<TlsContext>(std::move(made));
}

boost::asio::ssl::context& asio_context(TlsContext& context) {
  return static_cast<AsioTlsContext&>(context).context;
}

}  // namespace atl::net
