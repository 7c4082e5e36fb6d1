#include "vault/cipher.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <span>

#include "base/ids.h"

namespace atl::vault {
namespace {

constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&::EVP_CIPHER_CTX_free)>;

const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());  // JUSTIFICATION: OpenSSL's byte type
}
unsigned char* bytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());  // JUSTIFICATION: OpenSSL's byte type
}

}  // namespace

Cipher::~Cipher() {
  ::OPENSSL_cleanse(key_.data(), key_.size());
}

Result<std::string> Cipher::seal(std::string_view plain, std::string_view place) const {
  std::array<std::uint8_t, kNonceBytes> nonce{};
  random_bytes(nonce);
  std::string out(nonce.begin(), nonce.end());
  out.resize(kNonceBytes + plain.size() + kTagBytes);
  const Context context(::EVP_CIPHER_CTX_new(), ::EVP_CIPHER_CTX_free);
  int length = 0;
  const bool sealed =
      context &&
      ::EVP_EncryptInit_ex(context.get(), ::EVP_aes_256_gcm(), nullptr, bytes(key_), nonce.data()) == 1 &&
      ::EVP_EncryptUpdate(context.get(), nullptr, &length, bytes(place), static_cast<int>(place.size())) ==
          1 &&
      ::EVP_EncryptUpdate(context.get(), bytes(out) + kNonceBytes, &length, bytes(plain),
                          static_cast<int>(plain.size())) == 1 &&
      ::EVP_EncryptFinal_ex(context.get(), bytes(out) + kNonceBytes + length, &length) == 1 &&
      ::EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes,
                            bytes(out) + kNonceBytes + plain.size()) == 1;
  if (!sealed) return fail(Code::internal, "a secret could not be encrypted");
  return out;
}

Result<std::string> Cipher::open(std::string_view sealed, std::string_view place) const {
  if (sealed.size() < kNonceBytes + kTagBytes) return fail(Code::data_loss, "a stored secret is damaged");
  const std::string_view body = sealed.substr(kNonceBytes, sealed.size() - kNonceBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  std::string plain(body.size(), '\0');
  const Context context(::EVP_CIPHER_CTX_new(), ::EVP_CIPHER_CTX_free);
  int length = 0;
  const bool opened =
      context &&
      ::EVP_DecryptInit_ex(context.get(), ::EVP_aes_256_gcm(), nullptr, bytes(key_), bytes(sealed)) == 1 &&
      ::EVP_DecryptUpdate(context.get(), nullptr, &length, bytes(place), static_cast<int>(place.size())) ==
          1 &&
      ::EVP_DecryptUpdate(context.get(), bytes(plain), &length, bytes(body), static_cast<int>(body.size())) ==
          1 &&
      ::EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      ::EVP_DecryptFinal_ex(context.get(), bytes(plain) + length, &length) == 1;
  if (!opened) return fail(Code::data_loss, "a stored secret does not open with this key");
  return plain;
}

}  // namespace atl::vault
