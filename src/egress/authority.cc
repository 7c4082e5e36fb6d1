#include "egress/authority.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>

#include "base/ids.h"
#include "egress/address.h"

namespace atl::egress {
namespace {

// The authority outlasts any daemon; clients refuse servers' certificates that are good for more than 398
// days.
constexpr int kAuthorityDays = 3650, kServerDays = 30;
constexpr long kBackdateSeconds = -3600;
constexpr std::chrono::hours kRenewAfter{24};

bool add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  auto* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

std::string to_pem(X509* certificate) {
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  std::string pem(BIO_ctrl_pending(bio), '\0');
  BIO_read(bio, pem.data(), static_cast<int>(pem.size()));
  BIO_free(bio);
  return pem;
}

}  // namespace

void Authority::FreeKey::operator()(evp_pkey_st* key) const {
  EVP_PKEY_free(key);
}
void Authority::FreeCertificate::operator()(x509_st* certificate) const {
  X509_free(certificate);
}
Authority::~Authority() = default;

Authority::Key Authority::new_key() {
  return Key(EVP_EC_gen("P-256"));
}

Authority::Certificate Authority::new_certificate(const std::string& name, int days, evp_pkey_st& key) {
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  std::array<std::uint8_t, 8> serial{};
  random_bytes(serial);
  serial[0] &= 0x7f;  // a serial number is positive
  auto* number = BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
  BN_free(number);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), kBackdateSeconds);
  X509_time_adj_ex(X509_getm_notAfter(certificate.get()), days, 0, nullptr);
  X509_set_pubkey(certificate.get(), &key);
  auto* subject = X509_get_subject_name(certificate.get());
  // A common name holds at most 64 characters; the alternative name is what clients look at.
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()),
                             static_cast<int>(std::min<std::size_t>(name.size(), 64)), -1, 0);
  return certificate;
}

Result<std::unique_ptr<Authority>> Authority::create() {
  std::unique_ptr<Authority> authority(new Authority);
  authority->key_ = new_key();
  if (!authority->key_) return fail(Code::internal, "cannot make a key for the proxy's authority");
  authority->certificate_ = new_certificate("Atoll egress authority", kAuthorityDays, *authority->key_);
  auto* certificate = authority->certificate_.get();
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  if (!add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign") ||
      !add_extension(certificate, certificate, NID_subject_key_identifier, "hash") ||
      X509_sign(certificate, authority->key_.get(), EVP_sha256()) == 0) {
    return fail(Code::internal, "cannot sign the proxy's authority");
  }
  authority->certificate_pem_ = to_pem(certificate);
  return authority;
}

Authority::Certificate Authority::sign(const std::string& name, evp_pkey_st& key) {
  auto certificate = new_certificate(name, kServerDays, key);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate_.get()));
  const auto alternative = (Address::parse(name) ? "IP:" : "DNS:") + name;
  if (!add_extension(certificate.get(), certificate_.get(), NID_subject_alt_name, alternative.c_str()) ||
      !add_extension(certificate.get(), certificate_.get(), NID_ext_key_usage, "serverAuth") ||
      X509_sign(certificate.get(), key_.get(), EVP_sha256()) == 0) {
    return nullptr;
  }
  return certificate;
}

Result<std::shared_ptr<ssl_ctx_st>> Authority::make_context(const std::string& name) {
  const auto key = new_key();
  const auto certificate = key ? sign(name, *key) : nullptr;
  std::shared_ptr<ssl_ctx_st> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!certificate || !context || SSL_CTX_use_certificate(context.get(), certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key.get()) != 1) {
    return fail(Code::internal, "cannot make a certificate for a name with a header rule");
  }
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  return context;
}

Result<std::shared_ptr<ssl_ctx_st>> Authority::context_for(const std::string& name) {
  const auto now = std::chrono::steady_clock::now();
  if (const auto at = by_name_.find(name); at != by_name_.end()) {
    ready_.splice(ready_.begin(), ready_, at->second);
    if (now - ready_.front().made < kRenewAfter) return ready_.front().context;
    ready_.pop_front();
    by_name_.erase(at);
  }
  auto context = TRY(make_context(name));
  // A wildcard rule lets a sandbox ask for any number of names.
  if (ready_.size() >= kReadyMax) {
    by_name_.erase(ready_.back().name);
    ready_.pop_back();
  }
  ready_.push_front({name, context, now});
  by_name_.emplace(name, ready_.begin());
  return context;
}

}  // namespace atl::egress
