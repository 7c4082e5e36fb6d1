#include "audit/signer.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>

#include "base/bytes.h"
#include "os/file.h"

namespace atl::audit {
namespace {

constexpr std::size_t kPublicBytes = 32, kSignatureBytes = 64, kFingerprintDigits = 16;

struct BioDeleter {
  void operator()(BIO* bio) const { ::BIO_free_all(bio); }
};
using Bio = std::unique_ptr<BIO, BioDeleter>;
struct DigestDeleter {
  void operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }
};
using DigestContext = std::unique_ptr<EVP_MD_CTX, DigestDeleter>;

const unsigned char* raw(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

std::unexpected<Error> broken(std::string_view what) {
  return fail(Code::internal, "audit: OpenSSL cannot " + std::string(what));
}

Result<std::string> private_pem(EVP_PKEY* key) {
  const Bio bio(::BIO_new(::BIO_s_mem()));
  if (!bio || ::PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return broken("write a key");
  return text_of(bio.get());
}

KeyPointer read_pem(const std::string& pem) {
  const Bio of_private(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  KeyPointer key(::PEM_read_bio_PrivateKey(of_private.get(), nullptr, nullptr, nullptr));
  if (key) return key;
  const Bio of_public(::BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return KeyPointer(::PEM_read_bio_PUBKEY(of_public.get(), nullptr, nullptr, nullptr));
}

}  // namespace

void KeyDeleter::operator()(evp_pkey_st* key) const {
  ::EVP_PKEY_free(key);
}

Result<Verifier> Verifier::of(KeyPointer key) {
  std::array<unsigned char, kPublicBytes> bytes{};
  std::size_t size = bytes.size();
  if (!key || ::EVP_PKEY_base_id(key.get()) != EVP_PKEY_ED25519 ||
      ::EVP_PKEY_get_raw_public_key(key.get(), bytes.data(), &size) != 1)
    return fail(Code::data_loss, "audit: the file holds no Ed25519 key in PEM");
  Verifier verifier(std::move(key));
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), size);
  verifier.fingerprint_ = sha256_hex(view).substr(0, kFingerprintDigits);
  const Bio bio(::BIO_new(::BIO_s_mem()));
  if (!bio || ::PEM_write_bio_PUBKEY(bio.get(), verifier.key_.get()) != 1)
    return broken("write a public key");
  verifier.public_pem_ = text_of(bio.get());
  return verifier;
}

Result<Verifier> Verifier::load(const std::string& path) {
  const std::string pem = TRY(os::read_file(path));
  return of(read_pem(pem));
}

bool Verifier::is_signed(std::string_view text, std::string_view signature_base64) const {
  const auto signature = from_base64(signature_base64);
  if (!signature || signature->size() != kSignatureBytes) return false;
  const DigestContext context(::EVP_MD_CTX_new());
  return context && ::EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
         ::EVP_DigestVerify(context.get(), raw(*signature), signature->size(), raw(text), text.size()) == 1;
}

Result<Signer> Signer::open(const std::string& path) {
  if (!os::exists(path)) {
    const KeyPointer made(::EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
    if (!made) return broken("make a key");
    const std::string pem = TRY(private_pem(made.get()));
    TRY(os::write_file_durably(path, pem, 0600));
  }
  Signer signer(TRY(load(path)));
  // A public key alone cannot sign: better known now than at the first head.
  TRY_CONTEXT("audit: the installation's key", signer.sign("probe"));
  return signer;
}

Result<std::string> Signer::sign(std::string_view text) const {
  const DigestContext context(::EVP_MD_CTX_new());
  std::string signature(kSignatureBytes, '\0');
  std::size_t size = signature.size();
  if (!context || ::EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      ::EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, raw(text),
                       text.size()) != 1)
    return broken("sign with this key");
  return to_base64(signature);
}

}  // namespace atl::audit
